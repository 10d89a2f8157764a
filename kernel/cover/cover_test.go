package cover_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/cover"
)

func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// names returns what is covered in a directory.
func names(t testing.TB, f *cover.Finder, directory string) string {
	t.Helper()
	found := f.Look(t.Context(), directory)
	var all []string
	for _, file := range found.Files {
		name, err := filepath.Rel(directory, file.Path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, fmt.Sprintf("%s %d %d", name, file.Reason, len(file.Text)))
	}
	return strings.Join(all, ", ")
}

// TestLookAgain checks that what changes is judged again, also by the tags of another file.
func TestLookAgain(t *testing.T) {
	directory := t.TempDir()
	f := &cover.Finder{User: "/home/someone"}
	at := func(name string) string { return filepath.Join(directory, name) }
	put(t, at("a.org"), "#+SETUPFILE: tags\n* A\nx\n")
	put(t, at("tags"), "#+FILETAGS: home\n")
	put(t, at("b"), "x\n")
	if got := names(t, f, directory); got != "" {
		t.Errorf("covered: %s", got)
	}
	put(t, at("tags"), "#+FILETAGS: home NoAgent\n")
	put(t, at("b"), "-----BEGIN PRIVATE KEY-----\n")
	if got := names(t, f, directory); got != fmt.Sprintf("a.org %d 0, b %d 0", cover.Withheld, cover.Keys) {
		t.Errorf("covered: %s", got)
	}
	put(t, at("tags"), "#+FILETAGS: home\n")
	put(t, at("b"), "x\n")
	put(t, at("a.org"), "* A\nx\n* B :crypt:\ny\n")
	if got := names(t, f, directory); got != fmt.Sprintf("a.org %d 6", cover.Withheld) {
		t.Errorf("covered: %s", got)
	}
}

// TestBeyondTheLimits checks that a directory which is not looked through whole says so.
func TestBeyondTheLimits(t *testing.T) {
	directory := t.TempDir()
	f := &cover.Finder{User: "/home/someone"}
	put(t, filepath.Join(directory, "a"), "x\n")
	if !f.Look(t.Context(), directory).Whole {
		t.Error("one file is too many")
	}
	if os.Geteuid() != 0 {
		closed := filepath.Join(directory, "closed")
		if err := os.Mkdir(closed, 0); err != nil {
			t.Fatal(err)
		}
		if f.Look(t.Context(), directory).Whole {
			t.Error("a directory that cannot be read was looked through")
		}
	}
	if got := cover.Names(make([]cover.File, 30), directory); !strings.HasSuffix(got, "and others") {
		t.Errorf("the names are %s", got)
	}
}

// BenchmarkLook looks through a project that was looked through before.
func BenchmarkLook(b *testing.B) {
	directory := os.Getenv("COVER_DIRECTORY")
	if directory == "" {
		directory = b.TempDir()
		for i := range 2000 {
			put(b, filepath.Join(directory, fmt.Sprint(i%50), fmt.Sprint(i)), "x\n")
		}
	}
	f := &cover.Finder{User: "/home/someone"}
	began := time.Now()
	found := f.Look(b.Context(), directory)
	b.Logf("the first time: %s, %d covered, whole: %v", time.Since(began), len(found.Files), found.Whole)
	for b.Loop() {
		f.Look(b.Context(), directory)
	}
}
