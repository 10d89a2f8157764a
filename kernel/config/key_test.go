package config

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestParseKeySource(t *testing.T) {
	for text, want := range map[string]KeySource{
		"env:KEY":                    {Env: "KEY"},
		" command:  pass show a:b ":  {Command: "pass show a:b"},
		"auth-source:api.openai.com": {AuthSource: "api.openai.com"},
		"auth-source: host:8080":     {AuthSource: "host:8080"},
	} {
		if got, err := parseKeySource(text); err != nil || got != want {
			t.Errorf("%s: %+v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "verysecret", "sk:verysecret", "verysecret:", "ENV:verysecret", "env:", "command: "} {
		_, err := parseKeySource(text)
		wantError(t, err, `use "env:NAME"`)
		if strings.Contains(err.Error(), "verysecret") {
			t.Errorf("the key stands in %q", err)
		}
	}
}

func TestResolveKey(t *testing.T) {
	env := environment(map[string]string{"KEY": " verysecret\n", "EMPTY": " "})
	for _, test := range []struct {
		source    KeySource
		want, err string
	}{
		{KeySource{}, "", ""},
		{KeySource{Env: "KEY"}, "verysecret", ""},
		{KeySource{Env: "EMPTY"}, "", "EMPTY, which is not set"},
		{KeySource{Command: "echo; printf 'verysecret\nuser: me\n'"}, "verysecret", ""},
		{KeySource{Command: "echo verysecret; echo it is locked >&2; exit 3"}, "", "gave no key: exit status 3 (it is locked)"},
		{KeySource{Command: "true"}, "", "printed nothing"},
		{KeySource{Command: "no-such-program-anywhere"}, "", "exit status 127"},
	} {
		key, err := test.source.Resolve(t.Context(), env)
		if string(key) != test.want || (err == nil) != (test.err == "") {
			t.Errorf("%v: %d characters, %v", test.source, len(key), err)
		}
		if err != nil {
			wantError(t, err, test.err)
			if strings.Contains(err.Error(), "verysecret") {
				t.Errorf("the key stands in %q", err)
			}
		}
	}
	if shown := fmt.Sprintf("%v %+v %#v", KeySource{Command: "hidden"}, KeySource{Command: "hidden"}, KeySource{Command: "hidden"}); strings.Contains(shown, "hidden") {
		t.Errorf("the command is shown: %s", shown)
	}
}

// TestKeyCommandEnds checks that a command that hangs ends with its context, together with what it
// started.
func TestKeyCommandEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	began := filepath.Join(t.TempDir(), "began")
	go func() {
		for written, _ := os.ReadFile(began); !bytes.HasSuffix(written, []byte("\n")) && ctx.Err() == nil; written, _ = os.ReadFile(began) {
			time.Sleep(10 * time.Millisecond)
		}
		cancel()
	}()
	_, err := KeySource{Command: "sleep 1000 & echo $! > " + began + "; wait"}.Resolve(ctx, environment(nil))
	wantError(t, err, "took too long")
	pid, err := os.ReadFile(began)
	must(t, err)
	gone := func() bool {
		state, err := os.ReadFile("/proc/" + strings.TrimSpace(string(pid)) + "/stat")
		return err != nil || strings.Contains(string(state), ") Z ")
	}
	for range 6000 {
		if gone() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("what the command started still runs")
}

// TestAuthSource asks a real Emacs.
func TestAuthSource(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	must(t, os.WriteFile(filepath.Join(home, ".authinfo"),
		[]byte("machine other.example login apikey password wrong\nmachine api.example login apikey password verysecret\n"), 0o600))
	key, err := KeySource{AuthSource: "api.example"}.Resolve(t.Context(), environment(nil))
	if err != nil || string(key) != "verysecret" {
		t.Errorf("%d characters, %v", len(key), err)
	}
	_, err = KeySource{AuthSource: `no"where`}.Resolve(t.Context(), environment(nil))
	wantError(t, err, "no entry")
}
