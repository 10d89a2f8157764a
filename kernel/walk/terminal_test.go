package walk

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// terminal is a terminal of tmux of 24 lines with 80 columns.
type terminal struct {
	home *home
}

func newTerminal(t *testing.T, h *home) display {
	t.Cleanup(func() { _ = h.tmux(context.Background(), "kill-server").Run() }) // it ends with Emacs, too
	return &terminal{h}
}

// tmux is a command of the tmux server of the home.
func (h *home) tmux(ctx context.Context, arguments ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, "tmux", append([]string{"-L", filepath.Base(h.directory), "-f", "/dev/null"}, arguments...)...)
	command.Dir, command.Env = h.checkout, append(h.variables, "TERM=screen-256color")
	return command
}

func (d *terminal) do(ctx context.Context, arguments ...string) error {
	if out, err := d.home.tmux(ctx, arguments...).CombinedOutput(); err != nil {
		return fmt.Errorf("tmux %s: %w: %s", arguments[0], err, out)
	}
	return nil
}

func (d *terminal) run(ctx context.Context, command string) error {
	return d.do(ctx, "new-session", "-d", "-x", "80", "-y", "24", command)
}

// tmuxKeys are the keys that tmux and Emacs call by different names.
var tmuxKeys = strings.NewReplacer("RET", "Enter", "TAB", "Tab", "ESC", "Escape", "DEL", "BSpace", "SPC", "Space",
	"<up>", "Up", "<down>", "Down", "<next>", "NPage", "<prior>", "PPage", ";", `\;`)

func (d *terminal) press(ctx context.Context, keys string) error {
	return d.do(ctx, append([]string{"send-keys", "--"}, strings.Fields(tmuxKeys.Replace(keys))...)...)
}

func (d *terminal) write(ctx context.Context, text string) error {
	return d.do(ctx, "send-keys", "-l", "--", text)
}

func (d *terminal) screen(ctx context.Context) (string, error) {
	out, err := d.home.tmux(ctx, "capture-pane", "-p").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("look at the terminal: %w: %s", err, out)
	}
	return string(out), nil
}

// continued is what Emacs shows where a line goes on in the next.
const continued = "\\\n"

func (d *terminal) text(screen string) string { return strings.ReplaceAll(screen, continued, "") }

func (d *terminal) picture(ctx context.Context, name string) error {
	screen, err := d.screen(ctx)
	if err != nil {
		return err
	}
	return os.WriteFile(name+".txt", []byte(screen), 0o644)
}
