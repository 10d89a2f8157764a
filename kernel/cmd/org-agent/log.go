package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"org-agent/kernel/logfile"
)

// logCommand is "org-agent log". It reads the file directly, so it works without a kernel and
// beside one that hangs.
type logCommand struct {
	Follow  bool   `short:"f" help:"Keep printing new lines as they come."`
	Lines   int    `short:"n" help:"Begin with the last N lines (default: the whole file)." placeholder:"N"`
	Level   string `help:"The lowest level to print: debug, info, warn or error." enum:"debug,info,warn,error" default:"info"`
	Session string `help:"Only this session." placeholder:"NAME"`
	Turn    string `help:"Only this turn, by its id or the beginning of its id." placeholder:"ID"`
	Text    string `help:"Only lines that contain this text, in any case." placeholder:"TEXT"`
	JSON    bool   `help:"Print the lines as the file stores them."`
}

// logPoll is the pause between two reads of a followed log.
const logPoll = 100 * time.Millisecond

func (c *logCommand) Run(ctx context.Context, proc *process) error {
	if c.Lines < 0 {
		return usagef("--lines takes a number from 0 up")
	}
	filter := logfile.Filter{Session: c.Session, Turn: c.Turn, Text: c.Text}
	if err := filter.Level.UnmarshalText([]byte(c.Level)); err != nil {
		return usagef("--level: %w", err)
	}
	paths, err := proc.paths()
	if err != nil {
		return err
	}
	if _, err := os.Stat(paths.Log); errors.Is(err, fs.ErrNotExist) && !c.Follow {
		return fmt.Errorf("there is no log yet: no kernel has run for %s", paths.Home)
	}
	r := &logfile.Reader{Path: paths.Log}
	defer r.Close()
	if c.Lines > 0 {
		found, err := r.Tail(ctx, filter, c.Lines)
		if err != nil {
			return err
		}
		for _, record := range found {
			if err := c.print(proc.stdout, record); err != nil {
				return err
			}
		}
	}
	return c.read(ctx, proc.stdout, r, filter)
}

// read prints the selected lines and, with Follow, new ones.
func (c *logCommand) read(ctx context.Context, out io.Writer, r *logfile.Reader, filter logfile.Filter) error {
	for {
		line, err := r.Next()
		switch {
		case err == nil:
			if record := logfile.Parse(line); line != "" && filter.Matches(record) {
				if err := c.print(out, record); err != nil {
					return err
				}
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

func (c *logCommand) print(out io.Writer, record logfile.Record) error {
	if c.JSON {
		_, err := fmt.Fprintln(out, record.Raw)
		return err
	}
	_, err := fmt.Fprintln(out, record)
	return err
}
