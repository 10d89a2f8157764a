package walk

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// window is a frame of Emacs in an X server without a screen.
type window struct {
	home    *home
	command *exec.Cmd
}

// newWindow starts the X server. The program emacs of the home is then one that says what its frame shows.
func newWindow(t *testing.T, h *home) display {
	t.Helper()
	reader, err := filepath.Abs("testdata/reader.el")
	if err != nil {
		t.Fatal(err)
	}
	d := &window{home: h}
	h.wrapEmacs(t, *emacs, "-l", reader)
	resources := filepath.Join(h.directory, "resources")
	if err := os.WriteFile(resources, []byte("Emacs.font: DejaVu Sans Mono-11\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	number := startX(t)
	h.variables = append(h.variables, "DISPLAY=:"+number, "XENVIRONMENT="+resources, "WALK_SCREEN="+d.socket())
	t.Cleanup(func() {
		if d.command != nil {
			_ = d.command.Process.Kill() // it may have ended by itself
			_ = d.command.Wait()         // killed
		}
	})
	return d
}

// startX starts an X server for the time of the test, and returns the number of its display.
func startX(t *testing.T) string {
	t.Helper()
	number, told, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer number.Close()
	// Without -noreset it is restarted when its last client ends. With -r no key repeats itself on a slow machine.
	x := exec.Command("Xvfb", "-displayfd", "3", "-screen", "0", "1280x1024x24", "-nolisten", "tcp", "-ac", "-noreset", "-r")
	x.ExtraFiles = []*os.File{told}
	err = x.Start()
	_ = told.Close() // the server has its own
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = x.Process.Kill() // it may have ended by itself
		_ = x.Wait()         // killed
	})
	line, err := bufio.NewReader(number).ReadString('\n') // all that it writes: it would end at a closed pipe
	if err != nil {
		t.Fatalf("Xvfb does not say what its display is: %v", err)
	}
	return strings.TrimSpace(line)
}

func (d *window) socket() string { return filepath.Join(d.home.directory, "screen") }

func (d *window) run(_ context.Context, command string) error {
	d.command = exec.Command("sh", "-c", "exec "+command)
	d.command.Dir, d.command.Env = d.home.checkout, d.home.variables
	return d.command.Start()
}

// xdotool runs it in the display.
func (d *window) xdotool(ctx context.Context, arguments ...string) error {
	command := exec.CommandContext(ctx, "xdotool", arguments...)
	command.Env = d.home.variables
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("xdotool %s: %w: %s", arguments[0], err, out)
	}
	return nil
}

// xKeys are the names of keys in X that are not those of Emacs.
var xKeys = map[string]string{"RET": "Return", "TAB": "Tab", "ESC": "Escape", "DEL": "BackSpace", "SPC": "space",
	"<up>": "Up", "<down>": "Down", "<next>": "Next", "<prior>": "Prior", "?": "question", "/": "slash", "|": "bar", "@": "at",
	"+": "plus", "<": "less", ">": "greater", "*": "asterisk", ".": "period", "!": "exclam", "^": "asciicircum", ";": "semicolon", "-": "minus", "=": "equal",
	":": "colon"}

func (d *window) press(ctx context.Context, keys string) error {
	arguments := []string{"key", "--delay", "5", "--clearmodifiers"}
	for key := range strings.FieldsSeq(keys) {
		name := ""
		for _, modifier := range []struct{ emacs, x string }{{"C-", "ctrl+"}, {"M-", "alt+"}} {
			if rest, ok := strings.CutPrefix(key, modifier.emacs); ok && rest != "" {
				name, key = name+modifier.x, rest
			}
		}
		if x := xKeys[key]; x != "" {
			key = x
		}
		arguments = append(arguments, name+key)
	}
	return d.xdotool(ctx, arguments...)
}

func (d *window) write(ctx context.Context, text string) error {
	return d.xdotool(ctx, "type", "--delay", "5", "--clearmodifiers", "--", text)
}

func (d *window) screen(ctx context.Context) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	connection, err := (&net.Dialer{}).DialContext(ctx, "unix", d.socket())
	if err != nil {
		return "", fmt.Errorf("look at the frame: %w", err)
	}
	defer connection.Close()
	if deadline, ok := ctx.Deadline(); ok {
		err = connection.SetDeadline(deadline)
	}
	text, readErr := io.ReadAll(connection)
	if err == nil {
		err = readErr
	}
	return string(text), err
}

func (d *window) text(screen string) string { return screen }

func (d *window) picture(ctx context.Context, name string) error {
	command := exec.CommandContext(ctx, "import", "-window", "root", "-crop", "1000x800+0+0", name+".png")
	command.Env = d.home.variables
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("take a picture: %w: %s", err, out)
	}
	return nil
}
