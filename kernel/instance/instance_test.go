package instance_test

import (
	"os"
	"path/filepath"
	"testing"

	"org-agent/kernel/config"
	"org-agent/kernel/instance"
)

// TestDirectory checks that relative paths are below the agent's home, that ~ is the person's home,
// that links in a path are resolved, and that a missing directory is reported as such.
func TestDirectory(t *testing.T) {
	user, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(user, "agent")
	for _, directory := range []string{"agent/notes", "org", "~odd"} {
		if err := os.MkdirAll(filepath.Join(user, directory), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(user, "org"), filepath.Join(user, "linked")); err != nil {
		t.Fatal(err)
	}
	i := instance.Instance{Paths: config.Paths{Home: home}, Env: func(name string) string { return map[string]string{"HOME": user}[name] }}
	for path, want := range map[string]string{
		"notes": home + "/notes", "~": user, "~/org": user + "/org", user + "/linked": user + "/org", user + "/~odd": user + "/~odd",
	} {
		if got, found := i.Directory(path); got != want || !found {
			t.Errorf("%s is %s, found: %v; want %s", path, got, found, want)
		}
	}
	for path, want := range map[string]string{"~odd": home + "/~odd", "~/no//where/": user + "/no/where"} {
		if got, found := i.Directory(path); got != want || found {
			t.Errorf("%s is %s, found: %v; want %s, which is not there", path, got, found, want)
		}
	}
}
