package walk

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
)

// fakeGo stands for the Go of a person who builds for the first time. With FAULT it finds a fault.
const fakeGo = `#!/bin/sh
case $1 in
list) echo "go: downloading example.org/a v1.0.0" >&2; echo "go: downloading example.org/b v1.0.0" >&2
  printf 'unsafe\nfmt\nmain\n';;
build)
  case "$*" in *" -v "*) printf 'unsafe\nfmt\nmain\n' >&2;; esac
  if [ -n "$FAULT" ]; then echo "main.go:1:1: this is wrong" >&2; exit 1; fi
  mkdir -p bin && echo built > bin/org-agent;;
esac
`

// A first build takes minutes. Whoever looks at a terminal sees how far it is, in one line, and what is wrong
// with it; make ends as Go does.
func TestFirstBuildSaysHowFarItIs(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		fault  string
		wanted []string
		built  bool
	}{
		"sound": {wanted: []string{"two to five minutes", "\r  fetching module 2", "\r  compiling package 3 of 3, the largest come last\r\n"}, built: true},
		"wrong": {fault: "FAULT=1", wanted: []string{"compiling package 3 of 3, the largest come last\r\nmain.go:1:1: this is wrong\r\n", "Error 1"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			directory := t.TempDir()
			program := filepath.Join(directory, "go")
			if err := os.WriteFile(program, []byte(fakeGo), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(directory, "Makefile"), makefile, 0o600); err != nil {
				t.Fatal(err)
			}
			command := exec.CommandContext(t.Context(), "make", "bin/org-agent", "GO="+program, "GO_FILES=")
			command.Dir, command.Env = directory, append(os.Environ(), "MAKEFLAGS=", c.fault)
			said, err := onTerminal(command)
			if (err == nil) != c.built {
				t.Errorf("make ended with %v and said\n%s", err, said)
			}
			for _, words := range c.wanted {
				if !strings.Contains(said, words) {
					t.Errorf("nobody is told %q:\n%q", words, said)
				}
			}
			if strings.Contains(said, "example.org") {
				t.Errorf("each module has a line of its own:\n%s", said)
			}
		})
	}
}

// onTerminal returns what a command writes to a terminal of its own, and how it ended.
func onTerminal(command *exec.Cmd) (string, error) {
	terminal, err := pty.Start(command)
	if err != nil {
		return "", err
	}
	defer terminal.Close()
	var said strings.Builder
	// Linux says so when the last program has left the terminal.
	if _, err := terminal.WriteTo(&said); err != nil && !errors.Is(err, syscall.EIO) {
		return said.String(), err
	}
	return said.String(), command.Wait()
}
