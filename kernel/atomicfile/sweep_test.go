package atomicfile_test

import (
	"io"
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
	if os.Getenv("WRITE_FOR_EVER") != "" {
		for i := 0; ; i++ {
			_ = atomicfile.Write(os.Getenv("WRITE_FOR_EVER"), []byte(strings.Repeat("x", 1<<20)), 0o600) // until it is killed
			if i == 0 {
				_, _ = io.WriteString(os.Stdout, "writing\n")
			}
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
	for len(left()) < 3 { // most die between two writes
		child := exec.Command(os.Args[0], "-test.run=^TestSweep$")
		child.Env = append(os.Environ(), "WRITE_FOR_EVER="+filepath.Join(directory, "notes.org"))
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		_, _ = io.ReadFull(out, make([]byte, 8)) // an error means that it has ended
		_ = child.Process.Kill()
		_ = child.Wait()
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
