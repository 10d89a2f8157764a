package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"
)

// logCommand is "org-agent log".
type logCommand struct {
	Follow  bool   `short:"f" help:"Go on as lines come."`
	Level   string `help:"The least level: debug, info, warn or error." enum:"debug,info,warn,error" default:"info"`
	Session string `help:"Only this session." placeholder:"NAME"`
	Turn    string `help:"Only this turn." placeholder:"ID"`
	JSON    bool   `help:"Print the lines as they are kept."`
}

// logPoll is how often a followed log is looked at.
const logPoll = 100 * time.Millisecond

func (c *logCommand) Run(ctx context.Context, w *world) error {
	paths, err := w.paths()
	if err != nil {
		return err
	}
	f, err := os.Open(paths.Log)
	if errors.Is(err, fs.ErrNotExist) && !c.Follow {
		return fmt.Errorf("there is no log yet: no kernel has run for %s", paths.Home)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read the log: %w", err)
	}
	r := &logReader{path: paths.Log, file: f}
	defer r.close()
	for {
		line, err := r.next()
		switch {
		case err == nil:
			if err := c.print(w.out, line); err != nil {
				return err
			}
		case !errors.Is(err, io.EOF):
			return fmt.Errorf("read the log: %w", err)
		case !c.Follow:
			return nil
		default:
			select {
			case <-ctx.Done():
				return nil
			case <-time.After(logPoll):
			}
		}
	}
}

// print writes the line if it is wanted. A line that is no record is printed as
// it is.
func (c *logCommand) print(out io.Writer, line string) error {
	var record map[string]any
	if err := json.Unmarshal([]byte(line), &record); err != nil {
		_, err := fmt.Fprintln(out, line)
		return err
	}
	var level, least slog.Level
	text, _ := record["level"].(string)
	if level.UnmarshalText([]byte(text)) == nil && least.UnmarshalText([]byte(c.Level)) == nil && level < least {
		return nil
	}
	if c.Session != "" && record["session"] != c.Session || c.Turn != "" && record["turn"] != c.Turn {
		return nil
	}
	if c.JSON {
		_, err := fmt.Fprintln(out, line)
		return err
	}
	_, err := fmt.Fprintln(out, readable(record))
	return err
}

// readable is a record as people read it: time, level, message, then the rest.
func readable(record map[string]any) string {
	at, _ := record["time"].(string)
	if t, err := time.Parse(time.RFC3339Nano, at); err == nil {
		at = t.Local().Format("15:04:05.000")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %-5v %v", at, record["level"], record["msg"])
	var keys []string
	for key := range record {
		if key != "time" && key != "level" && key != "msg" {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		value := record[key]
		if ns, ok := value.(float64); ok && key == "dur" {
			value = time.Duration(ns).Round(time.Microsecond)
		}
		fmt.Fprintf(&b, "  %s=%v", key, value)
	}
	return b.String()
}

// logReader reads whole lines of a file that grows, and that is renamed away
// and begun anew when it has become long.
type logReader struct {
	path    string
	file    *os.File
	buffer  *bufio.Reader
	partial string
}

// next returns a line, or io.EOF when there is none yet.
func (r *logReader) next() (string, error) {
	if r.file == nil {
		f, err := os.Open(r.path)
		if errors.Is(err, fs.ErrNotExist) {
			return "", io.EOF
		}
		if err != nil {
			return "", err
		}
		r.file = f
	}
	if r.buffer == nil {
		r.buffer = bufio.NewReader(r.file)
	}
	text, err := r.buffer.ReadString('\n')
	r.partial += text
	if err == nil {
		line := strings.TrimSuffix(r.partial, "\n")
		r.partial = ""
		return line, nil
	}
	if errors.Is(err, io.EOF) && r.rotated() {
		r.close()
		r.file, r.buffer, r.partial = nil, nil, ""
	}
	return "", err
}

// rotated reports whether another file has the log's name now.
func (r *logReader) rotated() bool {
	ours, err := r.file.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(r.path)
	return err == nil && !os.SameFile(ours, named)
}

func (r *logReader) close() {
	if r.file != nil {
		r.file.Close()
	}
}
