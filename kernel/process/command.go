package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/creack/pty"

	"org-agent/kernel/cover"
	"org-agent/kernel/protocol"
	"org-agent/kernel/sandbox"
)

// command is one command that runs or has run.
type command struct {
	id      string
	request Request
	covered []cover.File
	began   time.Time
	process *sandbox.Process
	input   *os.File // what the command reads; nil if nobody can write to it
	output  *os.File // what the command writes
	file    *os.File // where its output is stored
	ended   chan struct{}

	mu      sync.Mutex
	stopped string
	bytes   int64
	stored  int64
	took    time.Duration
	outcome sandbox.Outcome
	fault   error
}

// start starts the command and stores its output in outputFile.
func (c *command) start(ctx context.Context, kind sandbox.Kind, fenced sandbox.Command, outputFile string, takesInput bool) (err error) {
	if c.file, err = os.OpenFile(outputFile, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600); err != nil {
		return fmt.Errorf("keep what the command writes: %w", err)
	}
	var reads, writes *os.File // the command's ends
	switch {
	case c.request.Terminal:
		if c.input, reads, err = pty.Open(); err == nil {
			err = pty.Setsize(c.input, &pty.Winsize{Rows: 24, Cols: 80})
		}
		c.output, writes = c.input, reads
	case takesInput:
		reads, c.input, err = os.Pipe()
		fallthrough
	default:
		if err == nil {
			c.output, writes, err = os.Pipe()
		}
	}
	if err == nil {
		c.process, err = sandbox.Start(ctx, kind, fenced, reads, writes)
	} else {
		err = fmt.Errorf("connect the command: %w", err)
	}
	for _, file := range [...]*os.File{reads, writes} {
		if file != nil {
			file.Close()
		}
	}
	if err != nil {
		c.close()
		_ = os.Remove(outputFile) // the file is empty
	}
	return err
}

func (c *command) close() {
	for _, file := range [...]*os.File{c.input, c.output, c.file} {
		if file != nil {
			file.Close()
		}
	}
}

// follow stores the command's output until the command has ended.
func (c *command) follow() {
	copied := make(chan struct{})
	go func() { // ends when no process has the other end any more, or with the close below
		defer close(copied)
		c.store()
	}()
	outcome, err := c.process.Wait()
	// Everything that the command started has ended with it, so nothing more is written.
	select {
	case <-copied:
	case <-time.After(5 * time.Second):
		c.output.Close()
		<-copied
	}
	c.mu.Lock()
	c.outcome, c.fault, c.took = outcome, err, time.Since(c.began)
	c.mu.Unlock()
	c.close()
	close(c.ended)
}

// store copies the output into the file, up to the limit for one command.
func (c *command) store() {
	b := make([]byte, 64<<10)
	for {
		n, err := c.output.Read(b)
		c.mu.Lock()
		room := min(int64(n), byteLimit-c.stored)
		c.mu.Unlock()
		written := 0
		if room > 0 {
			written, _ = c.file.Write(b[:room]) // a full disk stores less; the report says how much is missing
		}
		c.mu.Lock()
		c.bytes += int64(n)
		c.stored += int64(written)
		c.mu.Unlock()
		if err != nil { // the end of a terminal is an error of its own
			return
		}
	}
}

// running reports whether the command runs.
func (c *command) running() bool {
	select {
	case <-c.ended:
		return false
	default:
		return true
	}
}

func (c *command) report() Report {
	running := c.running()
	c.mu.Lock()
	defer c.mu.Unlock()
	r := Report{
		ID: c.id, Command: c.request.Command, Directory: c.request.Directory, Running: running, Covered: c.covered,
		Took: c.took, Outcome: c.outcome, Stopped: c.stopped, Bytes: c.bytes, Stored: c.stored,
	}
	if running {
		r.Took = time.Since(c.began)
	}
	if !running {
		r.Left = c.process.Left()
	}
	if c.fault != nil && r.Stopped == "" {
		r.Stopped = c.fault.Error()
	}
	return r
}

// recordReason records why the command is stopped. Only the first reason counts.
func (c *command) recordReason(why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.stopped == "" && c.running() {
		c.stopped = why
	}
}

// stop asks the command to end, and ends it when its time for that or ctx is over.
func (c *command) stop(ctx context.Context, why string) {
	c.recordReason(why)
	c.process.Terminate()
	over := time.NewTimer(grace)
	defer over.Stop()
	select {
	case <-c.ended:
	case <-over.C:
	case <-ctx.Done():
	}
	c.process.Kill()
}

func (c *command) kill(why string) {
	c.recordReason(why)
	c.process.Kill()
}

// timeout is how long a command may take to read what is written to it.
const timeout = 5 * time.Second

// write writes to the command. If end is true, it then ends the command's input.
func (c *command) write(ctx context.Context, text string, end bool) error {
	if c.input == nil || !c.running() {
		return protocol.ToolErrorf(protocol.ToolUnfit, "the command has ended: there is nobody to write to")
	}
	deadline := time.Now().Add(timeout)
	if until, ok := ctx.Deadline(); ok && until.Before(deadline) {
		deadline = until
	}
	_ = c.input.SetWriteDeadline(deadline) // a file without deadlines takes at once what it can
	if n, err := io.WriteString(c.input, text); err != nil {
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return protocol.ToolErrorf(protocol.ToolTimeout, "the command does not read: it took %d of %d bytes in %s", n, len(text), timeout)
		}
		return fmt.Errorf("write to the command: %w", err)
	}
	if end && !c.request.Terminal {
		return c.input.Close()
	}
	return nil
}
