package instance_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/instance"
	"org-agent/kernel/process"
	"org-agent/kernel/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

// TestNoCommands checks that the zero value has no sandbox and can be prepared and closed.
func TestNoCommands(t *testing.T) {
	var c instance.Commands
	if kind, err := c.Fence(); kind != sandbox.None || err != nil || c.Kind() != sandbox.None || c.Table != nil {
		t.Errorf("%v, %v", kind, err)
	}
	c.Prepare()
	c.Close()
}

// TestCommands checks that commands run in the sandbox that this system provides.
func TestCommands(t *testing.T) {
	home := t.TempDir()
	i := instance.Instance{
		Paths: config.Paths{Home: home, State: filepath.Join(home, "state"), Run: filepath.Join(home, "run")},
		Env:   func(name string) string { return map[string]string{"HOME": home}[name] },
	}
	c := i.OpenCommands(t.Context(), func() []string { return nil }, slog.New(slog.DiscardHandler), func(string, string) {}, nil)
	defer c.Close()
	c.Prepare()
	want, missing := sandbox.Probe(t.Context())
	kind, why := c.Fence()
	if kind != want || (why == nil) != (missing == nil) || c.Table.Kind() != want {
		t.Errorf("the fence is %v, %v, and of the table %v; the system has %v, %v", kind, why, c.Table.Kind(), want, missing)
	}
}

// TestProgramsOfTheMoment checks that a command may read the directories of PROGRAMS when it starts.
func TestProgramsOfTheMoment(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	i := instance.Instance{
		Paths: config.Paths{
			Home: filepath.Join(home, "agent"), State: filepath.Join(home, "state"), Run: filepath.Join(home, "run"),
			Socket: filepath.Join(home, "run", "socket"), Config: filepath.Join(home, "agent", "config.org"),
		},
		Env: func(name string) string { return map[string]string{"HOME": home, "PATH": os.Getenv("PATH")}[name] },
	}
	tools := filepath.Join(home, "tools")
	if err := os.MkdirAll(tools, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tools, "a"), []byte("shown"), 0o644); err != nil {
		t.Fatal(err)
	}
	var programs []string
	c := i.OpenCommands(t.Context(), func() []string { return programs }, slog.New(slog.DiscardHandler), func(string, string) {}, nil)
	defer c.Close()
	for _, shown := range []bool{false, true, false} {
		if programs = nil; shown {
			programs = []string{"~/tools"}
		}
		r, err := c.Table.Run(t.Context(), process.Request{Session: "main", Command: "cat " + filepath.Join(tools, "a")}, time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		b := make([]byte, 100)
		n, _, err := c.Table.Output("main", r.ID, 0, b)
		if want := shown || c.Kind() == sandbox.None; err != nil || strings.Contains(string(b[:n]), "shown") != want {
			t.Errorf("with %q it reads %q, %v", programs, b[:n], err)
		}
	}
}
