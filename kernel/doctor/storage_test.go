package doctor_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"org-agent/kernel/doctor"
)

// texts returns the findings of a check that are not good, as text.
func texts(t *testing.T, c doctor.Config, check string) string {
	t.Helper()
	var all []string
	for _, f := range doctor.Examine(t.Context(), c, check) {
		if f.State != doctor.OK {
			all = append(all, f.Text)
		}
	}
	return strings.Join(all, "\n")
}

// TestDiskThatTakesNothing: a disk that takes no more is found by a write, whatever it says of its space, and
// the write leaves nothing behind.
func TestDiskThatTakesNothing(t *testing.T) {
	c := patient(t, nil)
	var before syscall.Rlimit
	must(t, syscall.Getrlimit(syscall.RLIMIT_FSIZE, &before))
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 1, Max: before.Max}))
	found := texts(t, c, "disk")
	must(t, syscall.Setrlimit(syscall.RLIMIT_FSIZE, &before))
	for _, directory := range []string{c.Paths.State, c.Paths.Home, c.Paths.Sessions} {
		if !strings.Contains(found, "nothing can be written in "+directory+": ") {
			t.Errorf("of %s it says %q", directory, found)
		}
	}
	if found := texts(t, c, "disk"); strings.Contains(found, "nothing can be written") {
		t.Errorf("with room again it says %q", found)
	}
	for _, directory := range []string{c.Paths.State, c.Paths.Home, c.Paths.Sessions} {
		if left, _ := filepath.Glob(filepath.Join(directory, ".doctor.*")); left != nil {
			t.Errorf("left: %q", left)
		}
	}
}

// TestConversationFiles: a conversation that cannot be written is found, and mended if it is read-only.
func TestConversationFiles(t *testing.T) {
	c := patient(t, nil)
	must(t, os.WriteFile(filepath.Join(c.Paths.Sessions, "closed.org"), nil, 0o400))
	must(t, os.Mkdir(filepath.Join(c.Paths.Sessions, "directory.org"), 0o700))
	found := texts(t, c, "home")
	for _, want := range []string{"closed.org is read-only", "directory.org is not a regular file"} {
		if !strings.Contains(found, want) {
			t.Errorf("it says %q, not %q", found, want)
		}
	}
	doctor.Mend(t.Context(), c, "home")
	if found := texts(t, c, "home"); strings.Contains(found, "read-only") {
		t.Errorf("after --fix it says %q", found)
	}
}
