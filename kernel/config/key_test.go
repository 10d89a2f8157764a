package config_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/config"
)

func TestResolveKey(t *testing.T) {
	env := environment(map[string]string{"KEY": " verysecret\n", "EMPTY": " "})
	for _, test := range []struct {
		source    config.KeySource
		want, err string
	}{
		{config.KeySource{}, "", ""},
		{config.KeySource{Env: "KEY"}, "verysecret", ""},
		{config.KeySource{Env: "EMPTY"}, "", "EMPTY, which is not set"},
		{config.KeySource{Command: "echo; printf 'verysecret\nuser: me\n'"}, "verysecret", ""},
		{config.KeySource{Command: "echo verysecret; echo it is locked >&2; exit 3"}, "", "gave no key: exit status 3 (it is locked)"},
		{config.KeySource{Command: "true"}, "", "printed nothing"},
		{config.KeySource{Command: "no-such-program-anywhere"}, "", "exit status 127"},
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
	if shown := fmt.Sprintf("%v %+v %#v", config.KeySource{Command: "hidden"}, config.KeySource{Command: "hidden"}, config.KeySource{Command: "hidden"}); strings.Contains(shown, "hidden") {
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
	_, err := config.KeySource{Command: "sleep 1000 & echo $! > " + began + "; wait"}.Resolve(ctx, environment(nil))
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
	key, err := config.KeySource{AuthSource: "api.example"}.Resolve(t.Context(), environment(nil))
	if err != nil || string(key) != "verysecret" {
		t.Errorf("%d characters, %v", len(key), err)
	}
	_, err = config.KeySource{AuthSource: `no"where`}.Resolve(t.Context(), environment(nil))
	wantError(t, err, "no entry")
}
