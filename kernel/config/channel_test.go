package config_test

import (
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/config"
)

// TestChannels checks that a channel is a name, a driver, properties as they are written and places of keys, and that
// faults are reported with their line and without a key.
func TestChannels(t *testing.T) {
	s := config.Parse("config.org", "* Channels\n** Telegram\n:PROPERTIES:\n:TOKEN: env:BOT\n:ID: x\n:END:\n** work\n:PROPERTIES:\n:DRIVER: Matrix\n:HOMESERVER: https://Example.org\n:PASSWORD: command: pass show matrix\n:END:\n"+
		"** COMMENT off\n:PROPERTIES:\n:TOKEN: literal\n:END:\n** old :ARCHIVE:\n")
	want := []config.Channel{
		{Name: "telegram", Driver: "telegram", Properties: map[string]string{}, Keys: map[string]config.KeySource{"TOKEN": {Env: "BOT"}}, Line: 2},
		{Name: "work", Driver: "matrix", Properties: map[string]string{"HOMESERVER": "https://Example.org"}, Keys: map[string]config.KeySource{"PASSWORD": {Command: "pass show matrix"}}, Line: 7},
	}
	if !reflect.DeepEqual(s.Channels, want) || len(s.Diagnostics) > 0 || !slices.Contains(s.KeyVariables(), "BOT") {
		t.Errorf("%+v, %v", s.Channels, s.Diagnostics)
	}
	for rows, want := range map[string]string{
		"** telegram\n:PROPERTIES:\n:TOKEN: 12345:canary\n:END:\n": "config.org:4:1: error: TOKEN: do not write a key into a file",
		"** matrix\n:PROPERTIES:\n:PASSWORD: canary\n:END:\n":      "config.org:4:1: error: PASSWORD: do not write a key",
		"** emacs\n":  `config.org:2:1: error: a channel cannot be called "emacs"`,
		"** My bot\n": "it has letters a to z, digits and hyphens",
		"** 1st\n":    "it begins with a letter",
		"** x\n:PROPERTIES:\n:URL: a\n:URL: b\n:END:\n": "config.org:5:1: error: URL is set twice",
	} {
		s := config.Parse("config.org", "* Channels\n"+rows)
		if len(s.Channels) > 0 || len(s.Diagnostics) == 0 || !strings.Contains(s.Diagnostics[0].String(), want) || strings.Contains(s.Diagnostics[0].String(), "canary") {
			t.Errorf("%s: %v, %v", rows, s.Channels, s.Diagnostics)
		}
	}
	if s := config.Parse("config.org", "* Channels\n** a\n** A\n"); len(s.Channels) != 1 || len(s.Diagnostics) != 1 || !strings.Contains(s.Diagnostics[0].String(), `config.org:3:1: error: there is a channel "a" in line 2 already`) {
		t.Errorf("two of one name: %v, %v", s.Channels, s.Diagnostics)
	}
	paths, err := config.FindPaths(filepath.Join(t.TempDir(), "home"), func(string) string { return t.TempDir() })
	if err != nil {
		t.Fatal(err)
	}
	if err := paths.EnsureHome(); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(paths.Channels); err != nil || !config.IsStarter("channels.org", string(text)) {
		t.Errorf("the channels.org of a new home: %v", err)
	}
}
