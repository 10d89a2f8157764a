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

// home is a home with a persona and what was told of it last.
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

// told is what was told last of files of one sort.
func (h *home) told(of string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.faults[of], "\n")
}

// open reads the home, of which files are pairs of a name and a text.
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
		Faults: func(of string, all []string) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.faults[of] = all
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
	if _, err := h.With(""); err != nil || !strings.Contains(h.told("persona"), `no time zone "Asia/Nowhere"`) {
		t.Errorf("%v, told %q", err, h.told("persona"))
	}
	h.write(t, "USER.org", "- Name :: Ada\n")
	if _, err := h.With(""); err != nil || h.told("persona") != "" || h.Now().Location() != time.UTC {
		t.Errorf("%v, told %q, the time is %v", err, h.told("persona"), h.Now())
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
		t.Error("nobody is a profile")
	}
}

// A note of the prompt that is at fault leaves the prompt what it was, and is told until it is
// in order again.
func TestPromptIsFollowed(t *testing.T) {
	h := open(t)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- h.Follow(ctx) }()
	h.write(t, "prompt/style.org", "#+TITLE: Style\n\nBROKEN {{nonsense}}\n")
	until(t, "the fault", func() bool { return strings.Contains(h.told("prompt"), "stays what it was") })
	kept := h.Library()
	h.write(t, "prompt/style.org", "#+TITLE: Style\n\nBROKEN {{balderdash}}\n")
	until(t, "the other fault", func() bool { return strings.Contains(h.told("prompt"), "balderdash") })
	if h.Library() != kept {
		t.Error("the prompt is another")
	}
	if err := os.Remove(filepath.Join(h.directory, "prompt", "style.org")); err != nil {
		t.Fatal(err)
	}
	until(t, "order", func() bool { return h.told("prompt") == "" })
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not come", what)
		}
	}
}

// Which notes are of today follows the zone of the same reading, whoever else reads at that time.
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
