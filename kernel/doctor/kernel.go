package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"syscall"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// answerTime is how long a kernel may take to answer.
const answerTime = 3 * time.Second

// token checks the secret with which clients connect.
func token(_ context.Context, c Config) []Finding {
	_, err := config.ReadToken(c.Paths.Token)
	switch {
	case err == nil:
		return []Finding{ok("%s", c.Paths.Token)}
	case errors.Is(err, fs.ErrNotExist) && !alive(c):
		return []Finding{ok("there is none yet: the kernel makes it")}
	case alive(c):
		return []Finding{fail("restart the kernel (org-agent stop), which makes a new one: no client can connect, or others may have read the token", "%v", err)}
	}
	return []Finding{fail("", "%v", err).by("make a new one", func(context.Context) error {
		_, err := config.LoadOrCreateToken(c.Paths.Token)
		return err
	})}
}

func alive(c Config) bool {
	info, err := config.ReadKernelInfo(c.Paths.KernelJSON)
	return err == nil && info.Alive()
}

// kernel checks whether a kernel runs and answers, and looks for files that a dead one left.
func kernel(ctx context.Context, c Config) []Finding {
	if c.Self {
		return append([]Finding{ok("it runs and asks this itself: process %d, version %s", os.Getpid(), c.Version)}, unsafe(c.WithoutSafety)...)
	}
	info, err := config.ReadKernelInfo(c.Paths.KernelJSON)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return stale(c, "none runs; \"org-agent chat\" and Emacs start one")
	case err != nil:
		return []Finding{c.leftovers(fail("no client finds the kernel by it", "%v", err))}
	case !info.Alive():
		return []Finding{c.leftovers(warn("the next kernel continues its turns", "a kernel has died here (process %d, version %s)", info.PID, info.Version))}
	}
	status, err := c.ask(ctx, info)
	if err != nil && !errors.Is(err, errSilent) {
		time.Sleep(200 * time.Millisecond) // the kernel may be ending now
	}
	switch {
	case err != nil && !info.Alive():
		return []Finding{c.leftovers(warn("the next kernel continues its turns", "a kernel has died here (process %d, version %s)", info.PID, info.Version))}
	case err != nil:
		return []Finding{fail("ending it loses no message", "the kernel (process %d) does not answer: %v", info.PID, err).
			by(fmt.Sprintf("end the process %d", info.PID), func(ctx context.Context) error { return end(ctx, c, info) })}
	case status.Version != c.Version:
		f := warn("end it with \"org-agent stop\": it starts again when it is needed", "the kernel that runs has the version %s, this program %s", status.Version, c.Version)
		if status.Running+status.Queued == 0 {
			f = f.by("end it; the next client starts one of this version", func(ctx context.Context) error { return end(ctx, c, info) })
		}
		return []Finding{f}
	}
	return append([]Finding{ok("process %d answers at %s, version %s", info.PID, info.Socket, status.Version)}, unsafe(status.WithoutSafety)...)
}

// unsafe returns a finding if the kernel was started without the safety rules.
func unsafe(without bool) []Finding {
	if !without {
		return nil
	}
	return []Finding{warn("to restore them: org-agent stop, and start it without --without-safety", "it was started with --without-safety: prompts do not contain the safety rules; policy decides about actions as before")}
}

var errSilent = fmt.Errorf("no answer within %s", answerTime)

// ask asks the kernel for its status, which needs no token.
func (c Config) ask(ctx context.Context, info config.KernelInfo) (protocol.StatusResult, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	var status protocol.StatusResult
	conn, err := rpc.Dial(ctx, rpc.DialConfig{Socket: info.Socket})
	if err != nil {
		return status, err
	}
	defer conn.Close()
	err = conn.Call(ctx, protocol.MethodStatus, protocol.Empty{}, &status)
	if errors.Is(err, context.DeadlineExceeded) {
		err = errSilent
	}
	return status, err
}

// stale looks for a socket on which no process listens.
func stale(c Config, text string) []Finding {
	if info, err := os.Lstat(c.Paths.Socket); err != nil || info.Mode()&fs.ModeSocket == 0 {
		return []Finding{ok("%s", text)}
	}
	conn, err := net.DialTimeout("unix", c.Paths.Socket, answerTime)
	if err == nil {
		_ = conn.Close() // no request is open on it
		return []Finding{warn("wait a moment and check again", "a process listens on %s although %s does not exist: a kernel is starting or ending, or it belongs to another home", c.Paths.Socket, c.Paths.KernelJSON)}
	}
	return []Finding{c.leftovers(warn("", "the socket %s belongs to a dead kernel", c.Paths.Socket))}
}

// leftovers adds a repair that removes the files of a dead kernel.
func (c Config) leftovers(f Finding) Finding {
	return f.by("remove its files", func(context.Context) error {
		lock, err := config.LockInstance(c.Paths)
		if err != nil {
			return err // a kernel runs or starts
		}
		err = os.Remove(c.Paths.KernelJSON)
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		if info, lost := os.Lstat(c.Paths.Socket); lost == nil && info.Mode()&fs.ModeSocket != 0 {
			if conn, dialed := net.DialTimeout("unix", c.Paths.Socket, answerTime); dialed == nil {
				_ = conn.Close() // the kernel of another home
			} else {
				err = errors.Join(err, os.Remove(c.Paths.Socket))
			}
		}
		return errors.Join(err, lock.Release())
	})
}

// end ends a kernel's process, first by asking and then by force, and removes its files.
func end(ctx context.Context, c Config, info config.KernelInfo) error {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if err := syscall.Kill(info.PID, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("end the process %d: %w", info.PID, err)
		}
		for range 60 {
			if !info.Alive() {
				if now, err := config.ReadKernelInfo(c.Paths.KernelJSON); err == nil && now.PID == info.PID {
					return c.leftovers(Finding{}).mend(ctx)
				}
				return nil
			}
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case <-time.After(50 * time.Millisecond):
			}
		}
	}
	return fmt.Errorf("the process %d does not end", info.PID)
}
