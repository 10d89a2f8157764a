package atomicfile_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/atomicfile"
)

// TestSweep kills processes while they write, and removes what they left and nothing else.
func TestSweep(t *testing.T) {
	directory := t.TempDir()
	if path := os.Getenv("WRITE_FOR_EVER"); path != "" {
		for {
			_ = atomicfile.Write(path, []byte(strings.Repeat("x", 16<<20)), 0o600) // until it is killed
		}
	}
	left := func() (names []string) {
		entries, err := os.ReadDir(directory)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			names = append(names, entry.Name())
		}
		return names
	}
	for len(left()) < 3 { // now and then one has just ended a write when it is killed
		child := exec.Command(os.Args[0], "-test.run=^TestSweep$")
		child.Env = append(os.Environ(), "WRITE_FOR_EVER="+filepath.Join(directory, "notes.org"))
		before := len(left())
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for len(left()) == before && time.Since(began) < time.Minute {
			time.Sleep(time.Millisecond)
		}
		_ = child.Process.Kill()
		_ = child.Wait()
		if len(left()) == before && time.Since(began) >= time.Minute {
			t.Fatal("the child writes nothing")
		}
	}
	kept := []string{".NEW~", ".emacs.new~", ".notes.org.1.new", "a.1.new~", "notes.org"}
	for _, name := range kept {
		if err := os.WriteFile(filepath.Join(directory, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if n := atomicfile.Sweep(time.Hour, directory); n != 0 {
		t.Errorf("%d are removed that may be being written", n)
	}
	for _, name := range left() {
		if err := os.Chtimes(filepath.Join(directory, name), time.Now(), time.Now().Add(-2*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	if n := atomicfile.Sweep(time.Hour, directory, filepath.Join(directory, "none")); n < 2 {
		t.Errorf("%d are removed", n)
	}
	if now := left(); !slices.Equal(now, kept) {
		t.Errorf("%q are left", now)
	}
}
