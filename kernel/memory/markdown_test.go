package memory_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/memory"
)

// TestMarkdownIsIndexed checks that a Markdown file of the memory is found like an Org file, unless
// there is an Org file with its name.
func TestMarkdownIsIndexed(t *testing.T) {
	x, home, notes := newIndex(t)
	x.Roots = append(x.Roots, memory.Root{Path: filepath.Join(home, "MEMORY.md"), Memory: true})
	put(t, home, "MEMORY.md", "About the samovar\n\n# The samovar :home:\nIt hums.\n```sh\n# no samovar heading\n```\n## Old one\nA samovar of brass.\n# Not for it :noagent:\nsamovar\n## below\nsamovar\n# Mine :@private:\nsamovar\n")
	put(t, home, "memory/2026-11-21.md", "# Heard ##\nof a samovar\n")
	put(t, notes, "else.md", "# A samovar\n")
	refreshed(t, x, 2)
	if got, want := places(t, x, "samovar"), "MEMORY.md:1 MEMORY|MEMORY.md:3 The samovar|MEMORY.md:8 Old one|2026-11-21.md:1 Heard"; !sameSet(got, want) {
		t.Errorf("found %s, want %s in any order", got, want)
	}
	found, err := x.Search(t.Context(), journal.FileQuery{Text: "brass", Tags: []string{"home"}, Scopes: []string{""}})
	if err != nil || len(found) != 1 || found[0].Text != "A samovar of brass." {
		t.Errorf("found %+v (%v)", found, err)
	}
	put(t, home, "MEMORY.org", "* Other\nsamovar\n")
	refreshed(t, x, 2)
	if got, want := places(t, x, "samovar"), "MEMORY.org:1 Other|2026-11-21.md:1 Heard"; !sameSet(got, want) {
		t.Errorf("beside an Org file: found %s, want %s", got, want)
	}
}

func sameSet(a, b string) bool {
	parts := strings.Split(b, "|")
	for _, p := range parts {
		if !strings.Contains("|"+a+"|", "|"+p+"|") {
			return false
		}
	}
	return strings.Count(a, "|") == strings.Count(b, "|")
}

// TestSavedBesideMarkdown checks that saving a record never hides a person's Markdown file.
func TestSavedBesideMarkdown(t *testing.T) {
	s := newStore(t)
	put(t, s.Home, "MEMORY.md", "# Mine\n")
	_, change, err := s.Save(t.Context(), "t", memory.Record{Title: "Tea"}, true)
	if err != nil || filepath.Base(filepath.Dir(change.Path)) != "memory" {
		t.Errorf("kept in %s (%v)", change.Path, err)
	}
	if _, err := os.Stat(filepath.Join(s.Home, "MEMORY.org")); !os.IsNotExist(err) {
		t.Errorf("MEMORY.org was made: %v", err)
	}
	if err := os.Rename(change.Path, strings.TrimSuffix(change.Path, ".org")+".md"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := s.Save(t.Context(), "t", memory.Record{Title: "Milk"}, false); err == nil || !strings.Contains(err.Error(), "make it") {
		t.Errorf("the error is %v", err)
	}
}

// TestNoFiles checks that something other than a file of text among the notes blocks nothing,
// neither at first nor in place of an indexed file.
func TestNoFiles(t *testing.T) {
	x, home, notes := newIndex(t)
	put(t, home, "memory/2026-11-21.org", "* Tea\nsamovar\n")
	put(t, notes, "a.org", "* Tea\nsamovar\n")
	for name, to := range map[string]string{"loop.org": "loop.org", "around": ".", "zero.org": "/dev/zero", "gone.org": "nowhere"} {
		if err := os.Symlink(to, filepath.Join(notes, name)); err != nil {
			t.Fatal(err)
		}
	}
	pipe := func(name string) {
		if err := syscall.Mkfifo(name, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	pipe(filepath.Join(notes, "pipe.org"))
	pipe(filepath.Join(home, "MEMORY.org"))
	huge, err := os.Create(filepath.Join(notes, "huge.org"))
	if err == nil {
		err = huge.Truncate(1 << 40)
	}
	if err != nil || huge.Close() != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		refreshed(t, x, 2)
		if err := os.Remove(filepath.Join(notes, "a.org")); err != nil {
			t.Error(err)
		}
		pipe(filepath.Join(notes, "a.org"))
		if got := places(t, x, "samovar"); got != "2026-11-21.org:1 Tea" {
			t.Errorf("found %s", got)
		}
		if p := (&memory.Home{Directory: home}).Persona(time.Now()); len(p.Faults) != 1 {
			t.Errorf("told is %v", p.Faults)
		}
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("it waits for what never comes")
	}
}
