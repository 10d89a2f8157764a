package config_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/config"
)

// TestWriteChannel checks that a channel gets a heading below Channels, wherever that stands, that everything else stays,
// and that nothing is written that could not be read or has the name of another.
func TestWriteChannel(t *testing.T) {
	starter := filepath.Join(t.TempDir(), "home")
	paths, err := config.FindPaths(starter, func(string) string { return t.TempDir() })
	if err != nil {
		t.Fatal(err)
	}
	if err := paths.EnsureHome(); err != nil {
		t.Fatal(err)
	}
	begins, err := os.ReadFile(paths.Config)
	if err != nil {
		t.Fatal(err)
	}
	properties := []config.Written{{Name: "token", Value: "env:BOT"}, {Name: "URL", Value: "http://localhost:8081"}, {Name: "unset", Value: ""}}
	for _, before := range []string{"", "no heading", "* Models\n** a\n:PROPERTIES:\n:BASE_URL: http://localhost/v1\n:END:\n", "* Channels\n* Settings\n", "* channels\ntext\n** other\n:PROPERTIES:\n:TOKEN: env:X\n:END:\n\n* Settings\n", "* Channels\r\n", "* COMMENT Channels\n", string(begins)} {
		path := filepath.Join(t.TempDir(), "config.org")
		if err := os.WriteFile(path, []byte(before), 0o600); err != nil {
			t.Fatal(err)
		}
		c, err := config.NewChannel("Work", "telegram", properties)
		if err != nil {
			t.Fatal(err)
		}
		written, err := config.WriteChannel(path, c)
		if err != nil {
			t.Fatalf("%q: %v", before, err)
		}
		after, _ := os.ReadFile(path)
		lines := strings.Split(strings.ReplaceAll(string(after), "\r\n", "\n"), "\n")
		if lines[written.Line-1] != "** work" || lines[written.Line+1] != ":DRIVER:   telegram" || lines[written.Line+2] != ":URL:      http://localhost:8081" || lines[written.Line+3] != ":TOKEN:    env:BOT" {
			t.Errorf("%q became\n%s", before, after)
		}
		for rest := string(after); before != ""; { // what was there is there in its order
			line, more, _ := strings.Cut(before, "\n")
			_, after, found := strings.Cut(rest, line)
			if !found {
				t.Errorf("%q is gone", line)
			}
			before, rest = more, after
		}
		if settings := config.Parse(path, string(after)); len(settings.Diagnostics) > 0 {
			t.Error(settings.Diagnostics)
		}
		if _, err := config.WriteChannel(path, c); err == nil || !strings.Contains(err.Error(), "there is a channel work in line") {
			t.Errorf("again: %v", err)
		}
		if again, _ := os.ReadFile(path); string(again) != string(after) {
			t.Error("an error changed the file")
		}
	}
	for _, c := range []struct{ name, driver, property, value, want string }{
		{"emacs", "telegram", "", "", "which means something else"},
		{"x", "a b", "", "", "letters a to z, digits and hyphens"},
		{"x", "telegram", "TOKEN", "12345:canary", "do not write a key into a file"},
		{"x", "telegram", "A:B", "canary", "cannot be a property"},
		{"x", "telegram", "URL", "canary\n:END:\n* Settings", "cannot be a property"},
		{"x", "telegram", "DRIVER", "canary", "cannot be a property"},
	} {
		if _, err := config.NewChannel(c.name, c.driver, []config.Written{{Name: c.property, Value: c.value}}); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
