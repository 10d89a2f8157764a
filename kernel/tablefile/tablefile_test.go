package tablefile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"org-agent/kernel/tablefile"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestText checks that each change is seen at once, also one that keeps the size and the time, and that what cannot be
// read is an error each time.
func TestText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.org")
	file := &tablefile.File{Path: path}
	is := func(want string) {
		t.Helper()
		for range 2 {
			if text, err := file.Text(); err != nil || text != want {
				t.Errorf("%q, %v, wanted %q", text, err, want)
			}
		}
	}
	is("")
	old := time.Now().Add(-time.Hour)
	for _, text := range []string{"one", "two", "", "six"} {
		write(t, path, text)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
		is(text)
	}
	for _, bad := range []string{"\xff", strings.Repeat("x", 1<<20+1)} {
		write(t, path, bad)
		for range 2 {
			if text, err := file.Text(); err == nil || text != "" {
				t.Errorf("%d bytes, %v", len(text), err)
			}
		}
	}
	write(t, path, "again")
	is("again")
	if err := errors.Join(os.Remove(path), os.Symlink("nowhere", path)); err != nil {
		t.Fatal(err)
	}
	if _, err := file.Text(); err == nil || !strings.Contains(file.Unreadable(err).Error(), "x.org:1: this file cannot be read: it is a link that leads nowhere") {
		t.Error(err)
	}
}

// TestChange checks that changes at the same time are all made, and that a file is left alone that something else
// changed meanwhile, or that has unsaved changes in Emacs.
func TestChange(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.org")
	file := &tablefile.File{Path: path}
	add := func(text string) (string, error) { return text + "x", nil }
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if err := file.Change(add); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if text, err := file.Text(); err != nil || text != strings.Repeat("x", 20) {
		t.Errorf("%q, %v", text, err)
	}
	err := file.Change(func(text string) (string, error) {
		write(t, path, "theirs")
		return text + "mine", nil
	})
	if text, _ := file.Text(); err == nil || text != "theirs" {
		t.Errorf("%q, %v", text, err)
	}
	if err := os.Symlink("me@here.1:1", filepath.Join(filepath.Dir(path), ".#x.org")); err != nil {
		t.Fatal(err)
	}
	if err := file.Change(add); err == nil || !strings.Contains(err.Error(), "x.org has unsaved changes in an editor") {
		t.Error(err)
	}
}
