package persona_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"org-agent/kernel/memory"
	"org-agent/kernel/persona"
	"org-agent/kernel/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// home is a home with a persona, and the faults that were reported last.
type home struct {
	directory string
	*persona.Persona

	mu     sync.Mutex
	faults map[string][]string
}

func (h *home) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(h.directory, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// fault returns the faults that were reported last for a group of files.
func (h *home) fault(group string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.faults[group], "\n")
}

// open reads a home with these files, which are pairs of a name and a text.
func open(t *testing.T, files ...string) *home {
	t.Helper()
	h := &home{directory: t.TempDir(), faults: map[string][]string{}}
	for i := 0; i < len(files); i += 2 {
		h.write(t, files[i], files[i+1])
	}
	var err error
	h.Persona, err = persona.New(persona.Config{
		Home:  &memory.Home{Directory: h.directory},
		Clock: func() time.Time { return time.Date(2026, 11, 22, 23, 30, 0, 0, time.UTC) },
		Faults: func(group string, faults []string) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.faults[group] = faults
		},
		Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestTimeIsThePersons(t *testing.T) {
	h := open(t, "USER.org", "- Timezone :: Asia/Tokyo\n")
	if now := h.Now(); now.Day() != 23 || now.Hour() != 8 {
		t.Errorf("the time is %v", now)
	}
	h.write(t, "USER.org", "- Timezone :: Asia/Nowhere\n")
	if _, err := h.With(""); err != nil || !strings.Contains(h.fault("persona"), `no time zone "Asia/Nowhere"`) {
		t.Errorf("%v, reported %q", err, h.fault("persona"))
	}
	h.write(t, "USER.org", "- Name :: Ada\n")
	if _, err := h.With(""); err != nil || h.fault("persona") != "" || h.Now().Location() != time.UTC {
		t.Errorf("%v, reported %q, the time is %v", err, h.fault("persona"), h.Now())
	}
}

func TestProfiles(t *testing.T) {
	h := open(t, "SOUL.org", "Plain.\n", "profiles/poet.org", "* SOUL\nRhyme.\n")
	if err := h.CheckProfile("poet"); err != nil {
		t.Error(err)
	}
	if err := h.CheckProfile("poett"); protocol.ErrorCode(err) != protocol.CodeNotFound || !strings.Contains(err.Error(), `did you mean "poet"?`) {
		t.Error(err)
	}
	for profile, want := range map[string]string{"": "Plain.", "poet": "Rhyme."} {
		p, err := h.With(profile)
		if err != nil || !strings.Contains(p.File("SOUL").Text, want) {
			t.Errorf("with %q: %q, %v", profile, p.File("SOUL").Text, err)
		}
	}
	if _, err := h.With("nobody"); err == nil {
		t.Error("the profile nobody is found")
	}
}

// A note of the prompt with a fault changes no prompt. The fault is reported until the note is correct.
func TestPromptIsFollowed(t *testing.T) {
	h := open(t)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- h.Follow(ctx) }()
	h.write(t, "prompt/style.org", "#+TITLE: Style\n\nBROKEN {{nonsense}}\n")
	waitFor(t, "the fault", func() bool { return strings.Contains(h.fault("prompt"), "stays what it was") })
	before := h.Library()
	h.write(t, "prompt/style.org", "#+TITLE: Style\n\nBROKEN {{balderdash}}\n")
	waitFor(t, "the other fault", func() bool { return strings.Contains(h.fault("prompt"), "balderdash") })
	if h.Library() != before {
		t.Error("the prompt has changed")
	}
	if err := os.Remove(filepath.Join(h.directory, "prompt", "style.org")); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "no fault", func() bool { return h.fault("prompt") == "" })
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s was not reported", what)
		}
	}
}

// The zone of a reading decides which notes it takes for those of today, also if others read at the same time.
func TestTimeIsThePersonsForEachReader(t *testing.T) {
	h := open(t, "memory/2026-11-22.org", "Sunday.\n", "memory/2026-11-23.org", "Monday.\n")
	done := make(chan struct{})
	var others sync.WaitGroup
	defer others.Wait()
	defer close(done)
	for range 2 {
		others.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
					_, _ = h.With("")
				}
			}
		})
	}
	for i := range 200 {
		zone, today := "America/Los_Angeles", "Sunday."
		if i%2 == 1 {
			zone, today = "Europe/Berlin", "Monday."
		}
		h.write(t, "next", "- Timezone :: "+zone+"\n")
		if err := os.Rename(filepath.Join(h.directory, "next"), filepath.Join(h.directory, "USER.org")); err != nil {
			t.Fatal(err)
		}
		got, err := h.With("")
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Days) == 0 || got.Days[0].Text != today {
			t.Fatalf("in %s today's notes are %v", zone, got.Days)
		}
	}
}
