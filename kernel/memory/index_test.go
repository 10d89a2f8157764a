package memory_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/memory"
)

// newIndex returns an index of a home's memory and of a directory of notes.
func newIndex(t testing.TB) (x *memory.Index, home, notes string) {
	t.Helper()
	home, notes = t.TempDir(), t.TempDir()
	files, _, err := journal.OpenFiles(t.Context(), filepath.Join(t.TempDir(), "index.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := files.Close(); err != nil {
			t.Error(err)
		}
	})
	return &memory.Index{Files: files, Logger: slog.New(slog.DiscardHandler), Roots: []memory.Root{
		{Path: filepath.Join(home, "MEMORY.org"), Memory: true}, {Path: filepath.Join(home, "memory"), Memory: true}, {Path: notes},
	}}, home, notes
}

// refreshed fails the test unless a refresh finds so many changed files.
func refreshed(t testing.TB, x *memory.Index, want int) {
	t.Helper()
	if got, err := x.Refresh(context.Background()); err != nil || got != want {
		t.Errorf("%d files changed (%v), want %d", got, err, want)
	}
}

// places returns what is found for a person, as NAME:LINE title.
func places(t testing.TB, x *memory.Index, text string, scopes ...string) string {
	t.Helper()
	found, err := x.Search(t.Context(), journal.FileQuery{Text: text, Scopes: append(scopes, "")})
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, f := range found {
		all = append(all, fmt.Sprintf("%s:%d %s", filepath.Base(f.Path), f.Line, f.Title))
	}
	return strings.Join(all, "|")
}

func TestIndex(t *testing.T) {
	x, home, notes := newIndex(t)
	put(t, home, "MEMORY.org", "* Known\nThe samovar hums.\n* For the family\n:PROPERTIES:\n:SCOPE: family\n:END:\nThe samovar leaks.\n")
	put(t, home, "memory/2026-11-21.org", "* Heard\nof a samovar\n")
	put(t, home, "SOUL.org", "samovar")
	put(t, notes, "tea.org", "#+TITLE: Tea\nA samovar is no kettle.\n\n* Kettles\n** Old\nsamovar\n* Mine :@private:\n** Deep\nsamovar kept\n* Never :noagent:\n** Deep\nsamovar never\n* COMMENT Off\nsamovar off\n* Locked :crypt:\nsamovar locked\n* Claims\n:PROPERTIES:\n:SCOPE: family\n:END:\nsamovar claims\n")
	put(t, notes, "deep/er/zettel.org", "* Zettel\nsamovar\n")
	put(t, notes, "secret.org", "#+FILETAGS: :home:noagent:\n* S\nsamovar\n")
	put(t, notes, "private.org", "#+filetags: :@private:\n* P\nsamovar p\n")
	put(t, notes, ".git/x.org", "samovar")
	put(t, notes, ".#tea.org", "samovar")
	put(t, notes, "tea.org~", "samovar")
	put(t, notes, "latin.org", "* Caf\xe9\nsamovar latin\n")
	if err := os.Symlink(notes, filepath.Join(notes, "again")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("nowhere", filepath.Join(notes, "dead.org")); err != nil {
		t.Fatal(err)
	}
	refreshed(t, x, 7)
	refreshed(t, x, 0)
	for _, c := range []struct{ query, scope, want string }{
		{"samovar kettle", "", "tea.org:1 Tea"},
		{"samovar hums", "", "MEMORY.org:1 Known"},
		{"samovar leaks", "", ""},
		{"samovar leaks", "family", "MEMORY.org:3 For the family"},
		{"heard samovar", "", "2026-11-21.org:1 Heard"},
		{"samovar kept", "", ""},
		{"samovar kept", "@private", "tea.org:8 Deep"},
		{"samovar p", "@private", "private.org:2 P"},
		{"samovar never", "@private", ""},
		{"samovar off", "", ""},
		{"samovar locked", "", ""},
		{"samovar claims", "", "tea.org:17 Claims"}, // a note cannot have a scope
		{"zettel samovar", "", "zettel.org:1 Zettel"},
		{"samovar latin", "", "latin.org:1 Caf?"},
	} {
		if got := places(t, x, c.query, c.scope); got != c.want {
			t.Errorf("%q in %q: got %q, want %q", c.query, c.scope, got, c.want)
		}
	}
}

// A note is found by its title alone. A file of the memory that says nothing but its title is no memory.
func TestIndexOfTitles(t *testing.T) {
	x, home, notes := newIndex(t)
	put(t, home, "MEMORY.org", "#+TITLE: Samovar\n# Write below this line.\n")
	put(t, notes, "tea.org", "#+TITLE: Samovar\n")
	refreshed(t, x, 2)
	if got := places(t, x, "samovar"); got != "tea.org:1 Samovar" {
		t.Errorf("found %q", got)
	}
	put(t, home, "MEMORY.org", "#+TITLE: Kettle\nIt is the blue one.\n")
	refreshed(t, x, 1)
	if got := places(t, x, "kettle"); got != "MEMORY.org:1 Kettle" {
		t.Errorf("found %q", got)
	}
}

// TestIndexFollows checks that searches find the present content of the files, without a
// notification, as long as something that was indexed is found.
func TestIndexFollows(t *testing.T) {
	x, _, notes := newIndex(t)
	path := put(t, notes, "a.org", "* One\nsamovar\n")
	refreshed(t, x, 1)
	put(t, notes, "a.org", "\n\n* One, now lower\nsamovar and more\n")
	if got := places(t, x, "samovar"); got != "a.org:3 One, now lower" {
		t.Errorf("after an edit: %q", got)
	}
	put(t, notes, "b.org", "* Two\nsamovar\n")
	refreshed(t, x, 1)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if got := places(t, x, "samovar"); got != "b.org:1 Two" {
		t.Errorf("after a deletion: %q", got)
	}
	if err := os.Rename(filepath.Join(notes, "b.org"), filepath.Join(notes, "c.org")); err != nil {
		t.Fatal(err)
	}
	if got := places(t, x, "samovar"); got != "c.org:1 Two" {
		t.Errorf("after a renaming: %q", got)
	}
}

// TestIndexFollowsWhileAllIsRead checks that a search waits only for the files that it found.
func TestIndexFollowsWhileAllIsRead(t *testing.T) {
	x, _, notes := newIndex(t)
	edited, gone := put(t, notes, "a.org", "* One\nsamovar\n"), put(t, notes, "b.org", "* Two\nsamovar\n")
	private := put(t, notes, "c.org", "* Three\nsamovar\n")
	refreshed(t, x, 3)
	put(t, notes, "new.org", "* New\nsamovar\n")
	put(t, notes, filepath.Base(edited), "\n* One, now lower\nsamovar and more\n")
	put(t, notes, filepath.Base(private), "* Three :@private:\nsamovar\n")
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	end := x.BeginRefresh() // as if another Refresh ran, however long it takes
	if got := places(t, x, "samovar"); got != "a.org:2 One, now lower" {
		t.Errorf("meanwhile: %q", got)
	}
	end()
	refreshed(t, x, 1)
	if got := places(t, x, "samovar"); !strings.Contains(got, "new.org:1 New") || strings.Count(got, "|") != 1 {
		t.Errorf("afterwards: %q", got)
	}
}

func TestIndexEnds(t *testing.T) {
	x, _, notes := newIndex(t)
	for i := range 50 {
		put(t, notes, fmt.Sprintf("%d.org", i), "* samovar\n")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := x.Refresh(ctx); err == nil {
		t.Error("it did not end with its context")
	}
	refreshed(t, x, 50)
	if err := x.Files.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := x.Refresh(t.Context()); err == nil {
		t.Error("a closed index was refreshed")
	}
	files, _, err := journal.OpenFiles(t.Context(), filepath.Join(t.TempDir(), "index.db"))
	if err != nil {
		t.Fatal(err)
	}
	x.Files = files
}

// processorTime returns the processor time that this process has used.
func processorTime(tb testing.TB) time.Duration {
	tb.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		tb.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// BenchmarkIndex indexes 100 MB of notes from nothing, then five times an edited note, and searches
// them five times.
func BenchmarkIndex(b *testing.B) {
	notes := b.TempDir()
	language := newCorpus(1)
	size := language.notesOf100MB(b, notes)
	var x *memory.Index
	anew := func() {
		x, _, _ = newIndex(b)
		x.Roots = []memory.Root{{Path: notes}}
	}
	b.Run("all", func(run *testing.B) {
		run.SetBytes(size)
		for run.Loop() {
			run.StopTimer()
			anew()
			before := processorTime(run)
			run.StartTimer()
			if _, err := x.Refresh(run.Context()); err != nil {
				run.Fatal(err)
			}
			run.ReportMetric((processorTime(run) - before).Seconds(), "cpu-s")
		}
	})
	if x == nil { // only the other benchmarks were asked for
		anew()
		if _, err := x.Refresh(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	at := time.Now()
	for i := range 5 {
		b.Run("edited", func(run *testing.B) {
			for run.Loop() {
				at = at.Add(time.Second)
				if err := os.Chtimes(filepath.Join(notes, fmt.Sprintf("%d.org", i*7)), at, at); err != nil {
					run.Fatal(err)
				}
				if n, err := x.Refresh(run.Context()); err != nil || n != 1 {
					run.Fatal(n, err)
				}
			}
		})
	}
	for i := range 5 {
		b.Run("search", func(run *testing.B) {
			for run.Loop() {
				i++
				q := journal.FileQuery{Text: language.words[i%50] + " " + language.words[i*7919%20_000], Any: true, Scopes: []string{""}, Limit: 8}
				if _, err := x.Search(run.Context(), q); err != nil {
					run.Fatal(err)
				}
			}
		})
	}
}
