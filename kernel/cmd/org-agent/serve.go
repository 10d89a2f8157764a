package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"org-agent/kernel/daemon"
)

// serveCommand is "org-agent serve".
type serveCommand struct {
	Detach bool          `help:"Run in the background, in a session of its own, and return when ready."`
	Linger time.Duration `help:"End when nobody was connected and nothing ran for this long." placeholder:"D"`
	Socket string        `help:"Where to listen instead of the run directory." placeholder:"PATH"`
	Listen string        `help:"Listen on HOST:PORT of the loopback interface as well." placeholder:"HOST:PORT"`

	WithoutSafety bool `help:"Tell no model the rules of safety. It is journalled, and told by status and doctor; what may be done is decided as ever."`
}

// readyPrefix begins the one line that serve prints on stdout.
const readyPrefix = "org-agent: ready "

func (c *serveCommand) Run(ctx context.Context, w *world) error {
	if c.Socket != "" {
		socket, err := filepath.Abs(c.Socket) // a detached kernel runs elsewhere
		if err != nil {
			return fmt.Errorf("find the socket: %w", err)
		}
		c.Socket = socket
	}
	if c.Detach {
		socket, err := c.detach(ctx, w)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(w.out, readyPrefix+socket)
		return err
	}
	untouched := make([]byte, ballast)
	defer runtime.KeepAlive(untouched)
	collect := postponeCollection()
	defer collect()
	return daemon.Run(ctx, daemon.Config{
		Home: w.home, Env: w.env, Version: version, Linger: c.Linger, Socket: c.Socket, Listen: c.Listen, WithoutSafety: c.WithoutSafety, Commands: true,
		Ready: func(socket string) {
			fmt.Fprintln(w.out, readyPrefix+socket)
			collect()
		},
	})
}

// startHeap is what the kernel may allocate while it starts before garbage is
// collected. With it a kernel of twenty notes is ready in half the time and stays
// under 80 MB.
const startHeap = 38 << 20

// ballast is memory that is never touched, and so takes none, but counts as live. Some 6 MB are
// live while conversations are held: garbage is collected each time as much again was allocated,
// and marking them so often took a tenth of each turn.
const ballast = 24 << 20

// postponeCollection has no garbage collected below startHeap until the returned
// function is called, which may be called again.
func postponeCollection() (resume func()) {
	limit := debug.SetMemoryLimit(startHeap + ballast)
	percent := debug.SetGCPercent(-1)
	return sync.OnceFunc(func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	})
}

// detach starts a kernel that outlives this process and waits until it is ready.
func (c *serveCommand) detach(ctx context.Context, w *world) (socket string, err error) {
	args := []string{"serve"}
	for flag, value := range map[string]string{"--home": w.home, "--socket": c.Socket, "--listen": c.Listen} {
		if value != "" {
			args = append(args, flag, value)
		}
	}
	if c.Linger > 0 {
		args = append(args, "--linger", c.Linger.String())
	}
	if c.WithoutSafety {
		args = append(args, "--without-safety")
	}
	program, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	kernel := exec.Command(program, args...) // not CommandContext: it is to outlive us
	kernel.Dir = "/"
	kernel.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	stdout, err := kernel.StdoutPipe()
	if err != nil {
		return "", fmt.Errorf("start the kernel: %w", err)
	}
	var complaint tail
	stderr, err := kernel.StderrPipe()
	if err != nil {
		return "", fmt.Errorf("start the kernel: %w", err)
	}
	if err := kernel.Start(); err != nil {
		return "", fmt.Errorf("start the kernel: %w", err)
	}
	var reading sync.WaitGroup
	reading.Go(func() { _, _ = complaint.buffer.ReadFrom(stderr) })
	line := make(chan string, 1)
	go func() {
		text, _ := bufio.NewReader(stdout).ReadString('\n')
		line <- text
	}()
	select {
	case text := <-line:
		if socket, ok := strings.CutPrefix(strings.TrimSpace(text), readyPrefix); ok {
			return socket, kernel.Process.Release()
		}
	case <-ctx.Done():
		return "", errors.Join(context.Cause(ctx), kernel.Process.Kill())
	}
	reading.Wait()
	_ = kernel.Wait()
	return "", fmt.Errorf("%s", strings.TrimPrefix(strings.TrimSpace(complaint.buffer.String()), "org-agent: "))
}

// tail holds what the kernel said before it gave up.
type tail struct{ buffer bytes.Buffer }
