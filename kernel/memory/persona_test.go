package memory_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"org-agent/kernel/memory"
)

// put writes a file with an old time, so that its stamp is trusted.
func put(t testing.TB, home, name, text string) string {
	t.Helper()
	path := filepath.Join(home, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func zone(t *testing.T, name string) *time.Location {
	t.Helper()
	place, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return place
}

func TestPersona(t *testing.T) {
	home := t.TempDir()
	put(t, home, "IDENTITY.org", "#+TITLE: Identity\n# a comment\n- Name :: Sam\n- Voice :: dry\n- voice :: loud\n\nYou like *tea*.\n#+begin_src sh\n# kept\n#+end_src\n")
	put(t, home, "SOUL.md", "# Soul\n\n**Kind.**\n")
	put(t, home, "USER.org", "# Nothing yet.\n#+TITLE: User\n")
	put(t, home, "MEMORY.org", ":PROPERTIES:\n:ID: x\n:END:\n* The car is blue\n")
	h := memory.Home{Directory: home}
	p := h.Persona(time.Now())
	if len(p.Faults) > 0 {
		t.Errorf("faults: %v", p.Faults)
	}
	identity := p.File("IDENTITY")
	if identity.Field("Name") != "Sam" || identity.Field("voice") != "dry" {
		t.Errorf("the identity says %v", identity.Fields)
	}
	for role, want := range map[string]string{
		"IDENTITY": "- Name :: Sam\n- Voice :: dry\n- voice :: loud\n\nYou like *tea*.\n#+begin_src sh\n# kept\n#+end_src",
		"SOUL":     "* Soul\n\n*Kind.*", "USER": "", "MEMORY": "* The car is blue", "TOOLS": "",
	} {
		if got := p.File(role).Text; got != want {
			t.Errorf("%s says %q, want %q", role, got, want)
		}
	}
	if len(p.Files) != 4 || p.Files[0].Role != "IDENTITY" || p.Files[3].Role != "MEMORY" {
		t.Errorf("the files are %v", p.Files)
	}
}

// TestDays checks that the person's time zone decides which days are today and yesterday.
func TestDays(t *testing.T) {
	home := t.TempDir()
	for _, day := range []string{"2026-03-28", "2026-03-29", "2026-03-30", "2026-03-31"} {
		put(t, home, "memory/"+day+".org", day)
	}
	h := memory.Home{Directory: home}
	for _, c := range []struct{ now, zone, today, yesterday string }{
		{"2026-03-29T23:59:59Z", "UTC", "2026-03-29", "2026-03-28"},
		{"2026-03-30T00:00:00Z", "UTC", "2026-03-30", "2026-03-29"},
		{"2026-03-29T21:59:00Z", "Europe/Berlin", "2026-03-29", "2026-03-28"}, // the day has 23 hours
		{"2026-03-29T22:01:00Z", "Europe/Berlin", "2026-03-30", "2026-03-29"},
		{"2026-03-30T09:59:00Z", "Pacific/Kiritimati", "2026-03-30", "2026-03-29"},
		{"2026-03-30T10:01:00Z", "Pacific/Kiritimati", "2026-03-31", "2026-03-30"},
		{"2026-03-30T06:59:00Z", "America/Los_Angeles", "2026-03-29", "2026-03-28"},
		{"2026-03-30T07:01:00Z", "America/Los_Angeles", "2026-03-30", "2026-03-29"},
	} {
		now, err := time.Parse(time.RFC3339, c.now)
		if err != nil {
			t.Fatal(err)
		}
		days := h.Persona(now.In(zone(t, c.zone))).Days
		if len(days) != 2 || days[0].Text != c.today || days[1].Text != c.yesterday {
			t.Errorf("at %s in %s the days are %v", c.now, c.zone, days)
		}
	}
}

// TestEdits checks that a saved file counts from the next reading on, also if two versions of the
// same size are saved in one moment.
func TestEdits(t *testing.T) {
	home := t.TempDir()
	h := memory.Home{Directory: home}
	for _, text := range []string{"one", "two", "tri", "vier"} {
		put(t, home, "SOUL.org", text)
		if got := h.Persona(time.Now()).File("SOUL").Text; got != text {
			t.Errorf("it says %q, want %q", got, text)
		}
	}
	if err := os.Remove(filepath.Join(home, "SOUL.org")); err != nil {
		t.Fatal(err)
	}
	if p := h.Persona(time.Now()); len(p.Files) > 0 || len(p.Faults) > 0 {
		t.Errorf("what is gone is %+v", p)
	}
}

// TestSavedInPlace checks that a file that has just been emptied counts as being saved, so that its
// earlier text counts, also if its next text is broken. A file that stays empty has no text.
func TestSavedInPlace(t *testing.T) {
	home := t.TempDir()
	h := memory.Home{Directory: home}
	text := func() string { return h.File("IDENTITY").Text }
	path := put(t, home, "IDENTITY.org", "- Name :: Sam\n")
	if got := text(); got != "- Name :: Sam" {
		t.Fatalf("it says %q", got)
	}
	emptied := func(ago time.Duration) {
		t.Helper()
		put(t, home, "IDENTITY.org", "")
		if err := os.Chtimes(path, time.Time{}, time.Now().Add(-ago)); err != nil {
			t.Fatal(err)
		}
	}
	emptied(-time.Hour) // by a clock that is ahead
	if got := text(); got != "" {
		t.Errorf("emptied in the future it says %q", got)
	}
	put(t, home, "IDENTITY.org", "- Name :: Nora\n")
	text()
	emptied(0)
	if got := text(); got != "- Name :: Nora" {
		t.Errorf("while it is saved it says %q", got)
	}
	put(t, home, "IDENTITY.org", "- Name :: \xff\n")
	if got := text(); got != "- Name :: Nora" {
		t.Errorf("with a broken text it says %q", got)
	}
	emptied(200 * time.Millisecond)
	if got := text(); got != "" {
		t.Errorf("empty for a while it says %q", got)
	}
}

func TestBrokenFiles(t *testing.T) {
	for name, c := range map[string]struct {
		damage func(path string) error
		fault  string
	}{
		"not UTF-8": {func(path string) error { return os.WriteFile(path, []byte("a\nf\xfcr\n"), 0o644) }, "it is not UTF-8 in line 2"},
		"too large": {func(path string) error { return os.Truncate(path, 8<<20+1) }, "it is larger than 8 MB"},
		"a pipe":    {func(path string) error { return replace(path, func() error { return syscall.Mkfifo(path, 0o644) }) }, "it is no regular file"},
		"a folder":  {func(path string) error { return replace(path, func() error { return os.Mkdir(path, 0o755) }) }, "it is no regular file"},
		"itself":    {func(path string) error { return replace(path, func() error { return os.Symlink(path, path) }) }, "it cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			path := put(t, home, "SOUL.org", "good")
			h := memory.Home{Directory: home}
			h.Persona(time.Now())
			if err := c.damage(path); err != nil {
				t.Fatal(err)
			}
			for range 2 { // the fault is reported as long as it exists
				p := h.Persona(time.Now())
				if got := p.File("SOUL").Text; got != "good" {
					t.Errorf("it says %q", got)
				}
				if len(p.Faults) != 1 || p.Faults[0].Path != path || !strings.Contains(p.Faults[0].Message, c.fault) || !strings.Contains(p.Faults[0].Message, "what it said before is used") {
					t.Errorf("the faults are %v", p.Faults)
				}
			}
			fresh := memory.Home{Directory: home}
			if p := fresh.Persona(time.Now()); len(p.Files) > 0 || len(p.Faults) != 1 || !strings.Contains(p.Faults[0].Message, "nothing of it is used") {
				t.Errorf("without an earlier one it is %+v", p)
			}
		})
	}
}

func replace(path string, with func() error) error {
	if err := os.Remove(path); err != nil {
		return err
	}
	return with()
}

func TestTwoFilesOfOneRole(t *testing.T) {
	home := t.TempDir()
	put(t, home, "SOUL.org", "org")
	put(t, home, "SOUL.md", "md")
	h := memory.Home{Directory: home}
	p := h.Persona(time.Now())
	if p.File("SOUL").Text != "org" || len(p.Faults) != 1 || !strings.Contains(p.Faults[0].Error(), "SOUL.md: it is not read, because SOUL.org is there") {
		t.Errorf("it is %+v", p)
	}
}

func TestLargeMemory(t *testing.T) {
	home := t.TempDir()
	put(t, home, "MEMORY.org", strings.Repeat("- a :: {{name}} * b\n", 5<<20/20))
	h := memory.Home{Directory: home}
	began := time.Now()
	if p := h.Persona(time.Now()); len(p.File("MEMORY").Text) < 5<<20-100 || len(p.Faults) > 0 {
		t.Errorf("it is %d bytes, %v", len(p.File("MEMORY").Text), p.Faults)
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("reading it took %v", took)
	}
}
