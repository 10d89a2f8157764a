package walk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"org-agent/kernel/llm/llmtest"
)

// A home is where one walk takes place: a directory of its own, with a checkout in it, in which nothing of
// the person's is seen. Its name is short, because the names of sockets are.
type home struct {
	directory string
	checkout  string
	variables []string
	made      time.Time
}

// newHome makes the home of a walk. It fails the test if a process that was started in it is left when the
// test ends.
func newHome(t *testing.T, s script, init string) *home {
	t.Helper()
	directory, err := os.MkdirTemp("", "oa")
	if err != nil {
		t.Fatal(err)
	}
	h := &home{directory: directory, checkout: filepath.Join(directory, "org-agent"), made: time.Now()}
	t.Cleanup(func() {
		if err := h.end(); err != nil {
			t.Error(err)
		}
	})
	h.variables = append(slices.DeleteFunc(os.Environ(), ofThePerson),
		"HOME="+directory, "XDG_RUNTIME_DIR="+filepath.Join(directory, "run"),
		"PATH="+filepath.Join(directory, "bin")+":"+os.Getenv("PATH"), "ORG_AGENT_LLM=builtin")
	for _, name := range []string{"run", "bin"} {
		if err := os.Mkdir(filepath.Join(directory, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if init == cloned {
		h.clone(t)
	} else {
		h.copyCheckout(t)
	}
	h.wrapEmacs(t, "emacs")
	switch {
	case s.found:
		h.variables = append(h.variables, "ORG_AGENT_LLM=")
	case s.model != "":
		url := h.serveModel(t, s.model, "127.0.0.1:0")
		h.variables = append(h.variables, "ORG_AGENT_LLM=", "ORG_AGENT_LLM_BASE_URL="+url, "ORG_AGENT_LLM_API_KEY=none", "ORG_AGENT_LLM_MODEL=test-model")
	}
	if init == "typical" {
		h.writeInit(t, init)
	}
	return h
}

// ofThePerson reports whether a variable says something of the person who runs the tests, or of how make runs
// them.
func ofThePerson(variable string) bool {
	name, _, _ := strings.Cut(variable, "=")
	return slices.ContainsFunc([]string{"XDG_", "ORG_AGENT_", "OPENAI_", "MAKE", "MFLAGS", "EMACS", "DBUS_", "DISPLAY", "WAYLAND_", "TMUX", "XENVIRONMENT"},
		func(prefix string) bool { return strings.HasPrefix(name, prefix) })
}

// wrapEmacs has "emacs" in the home be a program with these first arguments. An Emacs that has been used
// has compiled its libraries already; in an empty home it would begin to compile all of Org. Emacs 28 loses
// keys that are pressed while it is about to say that a command has a shorter name.
func (h *home) wrapEmacs(t *testing.T, program string, arguments ...string) {
	t.Helper()
	path, err := exec.LookPath(program)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	text := fmt.Sprintf("#!/bin/sh\ncase \" $* \" in *' --batch '*) exec %[1]q \"$@\" ;; esac\nexec %[1]q --eval '(setq native-comp-deferred-compilation nil extended-command-suggest-shorter nil)' %[2]s \"$@\"\n",
		path, strings.Join(arguments, " "))
	if err == nil {
		err = os.WriteFile(filepath.Join(h.directory, "bin", "emacs"), []byte(text), 0o700)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// copyCheckout copies what "make chat" needs of a checkout in which it was called before, with its times.
func (h *home) copyCheckout(t *testing.T) {
	t.Helper()
	h.mustRun(t, "sh", "-c", `mkdir -p "$1"/kernel "$1"/skills && cp -p --parents Makefile go.mod go.sum bin/org-agent elisp/*.el elisp/*.elc elisp/*.org "$1"`, "sh", h.checkout)
	// The list of commands may be made anew at this moment, and is not taken for newer than what was compiled.
	list := filepath.Join(h.checkout, "elisp", "org-agent-autoloads.el")
	if err := os.Remove(list); err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	h.mustRun(t, "make", "-s", "-C", h.checkout, "elisp/org-agent-autoloads.el")
	compiled, err := os.Stat(filepath.Join(h.checkout, "elisp", "org-agent.elc"))
	if err == nil {
		err = os.Chtimes(list, time.Time{}, compiled.ModTime())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// clone makes the checkout of the home a clone. The modules of Go that it needs are taken from the person's.
func (h *home) clone(t *testing.T) {
	t.Helper()
	modules, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	h.mustRun(t, "git", "clone", "-q", ".", h.checkout)
	h.variables = append(h.variables, "GOMODCACHE="+strings.TrimSpace(string(modules)))
}

// mustRun runs a program in the person's checkout, with the variables of the home.
func (h *home) mustRun(t *testing.T, program string, arguments ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, arguments...)
	command.Dir, command.Env = root, h.variables
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s", program, err, out)
	}
}

// serveModel has the answers of a script of llmtest come from a model server at an address, until the test ends. It
// returns the server's URL.
func (h *home) serveModel(t *testing.T, text, address string) string {
	t.Helper()
	name := filepath.Join(h.directory, "model.json")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	answers, err := llmtest.LoadScript(name)
	if err != nil {
		t.Fatal(err)
	}
	server, err := llmtest.Listen(address, answers, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	return server.URL()
}

// writeInit gives the home the init file in testdata with this name, and the line of README.org.
func (h *home) writeInit(t *testing.T, name string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", name+".el"))
	if err == nil {
		err = os.Mkdir(filepath.Join(h.directory, ".emacs.d"), 0o700)
	}
	if err == nil {
		line := fmt.Sprintf("\n(load %q)\n", filepath.Join(h.checkout, "elisp", "org-agent-autoloads"))
		err = os.WriteFile(filepath.Join(h.directory, ".emacs.d", "init.el"), append(text, line...), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// end stops the kernel and removes the home. It returns an error if somebody still runs in it; these are
// killed.
func (h *home) end() error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	stop := exec.CommandContext(ctx, filepath.Join(h.checkout, "bin", "org-agent"), "stop")
	stop.Env = h.variables
	_ = stop.Run() // no kernel runs where a walk failed early
	var err error
	left := h.processes()
	for deadline := time.Now().Add(10 * time.Second); len(left) > 0 && time.Now().Before(deadline); left = h.processes() {
		time.Sleep(50 * time.Millisecond)
	}
	for id, name := range left {
		err = errors.Join(err, fmt.Errorf("the walk has ended, and %s still runs", name))
		_ = syscall.Kill(id, syscall.SIGKILL) // it may have ended meanwhile
	}
	return errors.Join(err, os.RemoveAll(h.directory))
}

// processes are those that were started in the home, with their command lines.
func (h *home) processes() map[int]string {
	found := map[int]string{}
	environments, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is well-formed
	for _, name := range environments {
		environment, err := os.ReadFile(name)
		if err != nil || !bytes.Contains(environment, []byte("\x00HOME="+h.directory+"\x00")) && !bytes.HasPrefix(environment, []byte("HOME="+h.directory+"\x00")) {
			continue // it has ended, or is another person's
		}
		id, err := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		line, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "cmdline"))
		if err == nil && len(line) > 0 {
			found[id] = strings.ReplaceAll(string(line), "\x00", " ")
		}
	}
	return found
}
