package main

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/channel/channeltest"
)

// TestCommandLineIsAChannel holds the command line to what every channel keeps. Each message is a run of the program, with the
// text on its standard input, and its standard output is what the person sees.
func TestCommandLineIsAChannel(t *testing.T) {
	skipIfShort(t)
	t.Parallel()
	channeltest.ClientSuite(t, func(t *testing.T) channeltest.Client {
		s := newShell(t)
		s.write(t, "notes/skills/echo.org", "#+title: a test's note\n\n#+begin_src lisp\n"+channeltest.Echo+"\n#+end_src\n")
		return s
	})
}

// shell is a person in a shell of their own.
type shell struct {
	directory string
	variables []string
	shown     bytes.Buffer
}

func newShell(t *testing.T) *shell {
	t.Helper()
	run, err := os.MkdirTemp("", "oa") // the path of a socket must be short
	if err != nil {
		t.Fatal(err)
	}
	d := t.TempDir()
	s := &shell{directory: d, variables: append(os.Environ(),
		"HOME="+d, "ORG_AGENT_HOME="+filepath.Join(d, "notes"), "ORG_AGENT_LLM=builtin", "XDG_RUNTIME_DIR="+run, "XDG_STATE_HOME="+filepath.Join(d, "state"))}
	t.Cleanup(func() {
		if s.shown.Len() > 0 { // there is a kernel
			s.run(t, "", "stop")
		}
		if err := os.RemoveAll(run); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *shell) write(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(s.directory, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// run runs the program and returns its standard output. It fails the test if the program fails.
func (s *shell) run(t *testing.T, input string, arguments ...string) []byte {
	t.Helper()
	ctx, stop := context.WithTimeout(context.Background(), time.Minute)
	defer stop()
	command := exec.CommandContext(ctx, "org-agent", arguments...)
	command.Env, command.Dir, command.Stdin = s.variables, s.directory, strings.NewReader(input)
	var complaint bytes.Buffer
	command.Stderr = &complaint
	out, err := command.Output()
	if err != nil {
		t.Fatalf("org-agent %s: %v\n%s", strings.Join(arguments, " "), err, complaint.String())
	}
	return out
}

func (s *shell) Say(t *testing.T, _, text string) {
	t.Helper()
	s.shown.Write(append(s.run(t, text, "chat", "--session", "suite"), '\n'))
}

func (s *shell) Shown(*testing.T) string { return s.shown.String() }

// Restart ends the kernel. The next message starts another.
func (s *shell) Restart(t *testing.T) {
	t.Helper()
	s.run(t, "", "stop")
}
