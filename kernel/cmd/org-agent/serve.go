package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"org-agent/kernel/daemon"
	"org-agent/kernel/llm/drivers"
)

// serveCommand is "org-agent serve".
type serveCommand struct {
	Detach bool          `help:"Run in the background, in a session of its own, and return when ready."`
	Linger time.Duration `help:"End after this long without a client and without work." placeholder:"D"`
	Socket string        `help:"Listen at this socket instead of the one in the run directory." placeholder:"PATH"`
	Listen string        `help:"Also listen on HOST:PORT of the loopback interface." placeholder:"HOST:PORT"`

	WithoutSafety bool `help:"Leave the safety rules out of the prompts. The journal, status and doctor say so. What the policy allows does not change."`
}

// readyPrefix begins the one line that serve prints on stdout. startingPrefix begins the lines on stderr by which it
// says before that what takes long.
const (
	readyPrefix    = "org-agent: ready "
	startingPrefix = "org-agent: starting: "
)

func (c *serveCommand) Run(ctx context.Context, proc *process) error {
	if c.Socket != "" {
		socket, err := filepath.Abs(c.Socket) // a detached kernel runs in another directory
		if err != nil {
			return fmt.Errorf("find the socket: %w", err)
		}
		c.Socket = socket
	}
	if c.Detach {
		socket, err := c.detach(ctx, proc, func(text string) { fmt.Fprintln(proc.stderr, startingPrefix+text) })
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(proc.stdout, readyPrefix+socket)
		return err
	}
	unused := make([]byte, ballast)
	defer runtime.KeepAlive(unused)
	collect := postponeCollection()
	defer collect()
	gone := make(chan os.Signal, 1) // who started this kernel may be gone before it is ready
	signal.Notify(gone, syscall.SIGPIPE)
	defer signal.Stop(gone)
	return daemon.Run(ctx, daemon.Config{
		Home: proc.home, Env: proc.env, Version: version, Linger: c.Linger, Socket: c.Socket, Listen: c.Listen, WithoutSafety: c.WithoutSafety, Commands: true,
		Drivers: drivers.All(),
		Ready: func(socket string) {
			fmt.Fprintln(proc.stdout, readyPrefix+socket)
			collect()
		},
		Progress: func(text string) { fmt.Fprintln(proc.stderr, startingPrefix+text) },
	})
}

// startHeap is how much the kernel may allocate before its first garbage collection during the
// start. This halves the start of a kernel with twenty notes, which then uses less than 80 MB.
const startHeap = 38 << 20

// ballast is the size of memory that is never touched. It occupies no RAM, but the garbage collector
// counts it as live and runs less often. Without it, a kernel with conversations has about 6 MB of live
// memory, and collections after every 6 MB of allocation took a tenth of each turn.
const ballast = 24 << 20

// steadyHeap is how much memory of Go a kernel may have, with its garbage, while it does not need more.
// A server that sends as much as it can would otherwise have it grow to the double.
const steadyHeap = 88 << 20

// postponeCollection prevents garbage collections below startHeap until resume is called. From then on
// collections keep the memory below steadyHeap, or below the double of what the kernel has after its start;
// GOMEMLIMIT takes the place of that. resume may be called more than once.
func postponeCollection() (resume func()) {
	limit := debug.SetMemoryLimit(startHeap + ballast)
	percent := debug.SetGCPercent(-1)
	return sync.OnceFunc(func() {
		debug.SetGCPercent(percent)
		if limit == math.MaxInt64 {
			var memory runtime.MemStats
			runtime.ReadMemStats(&memory)
			limit = max(steadyHeap, 2*int64(memory.HeapAlloc))
		}
		debug.SetMemoryLimit(limit)
	})
}

// detach starts a kernel that outlives this process and waits until it is ready. tell is called with what the
// kernel says meanwhile.
func (c *serveCommand) detach(ctx context.Context, proc *process, tell func(text string)) (socket string, err error) {
	args := []string{"serve"}
	for flag, value := range map[string]string{"--home": proc.home, "--socket": c.Socket, "--listen": c.Listen} {
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
	kernel := exec.Command(program, args...) // no CommandContext: the kernel must outlive this process
	kernel.Dir = "/"
	kernel.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	stdout, err := kernel.StdoutPipe()
	if err != nil {
		return "", fmt.Errorf("start the kernel: %w", err)
	}
	var stderrText tail
	stderr, err := kernel.StderrPipe()
	if err != nil {
		return "", fmt.Errorf("start the kernel: %w", err)
	}
	if err := kernel.Start(); err != nil {
		return "", fmt.Errorf("start the kernel: %w", err)
	}
	var reading sync.WaitGroup
	reading.Go(func() { stderrText.read(stderr, tell) })
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
	return "", fmt.Errorf("%s", strings.TrimPrefix(strings.TrimSpace(stderrText.buffer.String()), "org-agent: "))
}

// tail holds the error output of a kernel that failed to start.
type tail struct{ buffer bytes.Buffer }

// read reads the output to its end. What the kernel says of its start goes to tell.
func (t *tail) read(from io.Reader, tell func(text string)) {
	for lines := bufio.NewReader(from); ; {
		line, err := lines.ReadString('\n')
		if text, ok := strings.CutPrefix(line, startingPrefix); ok {
			tell(strings.TrimSpace(text))
		} else {
			t.buffer.WriteString(line)
		}
		if err != nil {
			return
		}
	}
}
