package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/config"
)

// TestPersonaBegins checks that a new home gets every file of the persona, without content, and
// that a home that has any of them gets no other.
func TestPersonaBegins(t *testing.T) {
	const lastLine = "# Write below this line."
	home := t.TempDir()
	paths := config.Paths{Home: home, Sessions: filepath.Join(home, "sessions"), Skills: filepath.Join(home, "skills"), Config: filepath.Join(home, "config.org")}
	if err := paths.EnsureHome(); err != nil {
		t.Fatal(err)
	}
	texts, err := config.Starters()
	if err != nil || len(texts) != 8 {
		t.Fatalf("%d starters, %v", len(texts), err)
	}
	for name, text := range texts {
		got, err := os.ReadFile(filepath.Join(home, name))
		if err != nil || string(got) != text {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if strings.Count(text, lastLine) != 1 || !strings.HasSuffix(text, lastLine+"\n") {
			t.Errorf("%s does not end with the line to write below", name)
		}
		for line := range strings.Lines(text) {
			if !strings.HasPrefix(line, "#") && line != "\n" {
				t.Errorf("%s says %q", name, line)
			}
		}
	}
	if err := os.Remove(filepath.Join(home, "SOUL.org")); err != nil {
		t.Fatal(err)
	}
	if err := paths.EnsureHome(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(filepath.Join(home, "SOUL.org")); err == nil {
		t.Error("a file that was deleted came again")
	}
	for name := range texts {
		_ = os.Remove(filepath.Join(home, name))
	}
	own := filepath.Join(home, "USER.md")
	if err := os.WriteFile(own, []byte("# Me"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := paths.EnsureHome(); err != nil {
		t.Fatal(err)
	}
	if files, _ := filepath.Glob(filepath.Join(home, "[A-Z]*")); len(files) != 1 {
		t.Errorf("beside a file of the person's stand %v", files)
	}
}
