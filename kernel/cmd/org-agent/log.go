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

// logCommand is "org-agent log". It reads the file itself: it works beside a kernel that
// hangs, and without one.
type logCommand struct {
	Follow  bool   `short:"f" help:"Go on as lines come."`
	Lines   int    `short:"n" help:"Begin with the last N lines; without it, with the first of the file." placeholder:"N"`
	Level   string `help:"The least level: debug, info, warn or error." enum:"debug,info,warn,error" default:"info"`
	Session string `help:"Only this session." placeholder:"NAME"`
	Turn    string `help:"Only this turn; the beginning of its id is enough." placeholder:"ID"`
	Text    string `help:"Only lines with this text, in any case." placeholder:"TEXT"`
	JSON    bool   `help:"Print the lines as they are kept."`
}

// logPoll is how often a followed log is looked at.
const logPoll = 100 * time.Millisecond

func (c *logCommand) Run(ctx context.Context, w *world) error {
	if c.Lines < 0 {
		return usagef("--lines is the number of lines to begin with")
	}
	filter := logfile.Filter{Session: c.Session, Turn: c.Turn, Text: c.Text}
	if err := filter.Level.UnmarshalText([]byte(c.Level)); err != nil {
		return usagef("--level: %w", err)
	}
	paths, err := w.paths()
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
			if err := c.print(w.out, record); err != nil {
				return err
			}
		}
	}
	return c.read(ctx, w.out, r, filter)
}

// read prints the lines that are wanted, and with Follow those that come.
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
