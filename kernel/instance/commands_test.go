package instance_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"org-agent/kernel/config"
	"org-agent/kernel/instance"
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
	c := i.OpenCommands(t.Context(), nil, slog.New(slog.DiscardHandler), func(string, string) {})
	defer c.Close()
	c.Prepare()
	want, missing := sandbox.Probe(t.Context())
	kind, why := c.Fence()
	if kind != want || (why == nil) != (missing == nil) || c.Table.Kind() != want {
		t.Errorf("the fence is %v, %v, and of the table %v; the system has %v, %v", kind, why, c.Table.Kind(), want, missing)
	}
}
