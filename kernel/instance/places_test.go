package instance_test

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"org-agent/kernel/config"
	"org-agent/kernel/instance"
)

// TestReplacedBeforeItIsKept: a journal that is exchanged before anybody looks after it is another one.
func TestReplacedBeforeItIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		home := t.TempDir()
		paths, err := config.FindPaths(home, func(name string) string {
			return map[string]string{"HOME": home, "XDG_STATE_HOME": filepath.Join(home, "state")}[name]
		})
		if err == nil {
			err = paths.Ensure()
		}
		if err == nil {
			err = os.WriteFile(paths.Journal, []byte("ours"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		salvaged := ""
		p := &instance.Places{Paths: paths, Reopen: func() {}, Logger: slog.New(slog.DiscardHandler), Salvage: func(_ context.Context, to string) error {
			salvaged = to
			return nil
		}}
		p.Remember()
		other := paths.Journal + ".other"
		if err := os.WriteFile(other, []byte("another's"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(other, paths.Journal); err != nil {
			t.Fatal(err)
		}
		if err := p.Keep(t.Context()); err == nil || !strings.Contains(err.Error(), "was replaced while the kernel ran") || !strings.HasPrefix(salvaged, paths.Journal+".replaced-") {
			t.Errorf("it ends with %v, and what it held is in %q", err, salvaged)
		}
	})
}
