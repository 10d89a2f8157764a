package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/instance"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// lingerAfterChat is how long a kernel that the command line started runs after its last client has
// disconnected.
const lingerAfterChat = 60 * time.Second

// dialTimeout is how long a kernel that runs may not listen: it looks every second whether its socket and
// its token are there, and makes them again.
const dialTimeout = 2 * instance.Interval

// connection configures the connection of a command to the kernel.
type connection struct {
	start   bool // start a kernel if none runs
	streams bool // receive the reply in parts, as the model writes it
	handler rpc.IncomingHandler
}

// errNotRunning means that no kernel runs for this home.
var errNotRunning = errors.New("no kernel runs here; start one with \"org-agent serve\", or use \"org-agent chat\", which starts one")

// connect connects to the kernel of the home.
func (proc *process) connect(ctx context.Context, c connection) (*rpc.Conn, error) {
	conn, err := proc.dial(ctx, c)
	if err == nil || !c.start || !errors.Is(err, errNotRunning) {
		return conn, err
	}
	serve := serveCommand{Linger: lingerAfterChat}
	waiting := newWaiting(proc.stderr)
	_, startErr := serve.detach(ctx, proc, waiting.say)
	waiting.end()
	if startErr != nil {
		// Another program may have started a kernel at the same moment.
		if conn, err := proc.dial(ctx, c); err == nil {
			return conn, nil
		}
		return nil, startErr
	}
	return proc.dial(ctx, c)
}

func (proc *process) dial(ctx context.Context, c connection) (*rpc.Conn, error) {
	paths, err := proc.paths()
	if err != nil {
		return nil, err
	}
	kernel, err := config.ReadKernelInfo(paths.KernelJSON)
	if err != nil || !kernel.Alive() {
		return nil, errNotRunning
	}
	token, err := config.ReadToken(paths.Token)
	for deadline := time.Now().Add(dialTimeout); errors.Is(err, fs.ErrNotExist) && time.Now().Before(deadline) && ctx.Err() == nil; time.Sleep(20 * time.Millisecond) {
		token, err = config.ReadToken(paths.Token) // a kernel writes it again
	}
	if err != nil {
		return nil, err
	}
	conn, err := rpc.Dial(ctx, rpc.DialConfig{
		Socket: kernel.Socket, Timeout: dialTimeout, Token: rpc.Token(token),
		Client:  protocol.ClientInfo{Name: "cli", Version: version, Capabilities: protocol.Capabilities{Streams: c.streams}},
		Handler: c.handler,
	})
	if errors.Is(err, rpc.ErrConnectionLost) && isEnding(ctx, kernel) {
		return nil, errNotRunning
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return nil, fmt.Errorf("a kernel runs (process %d), but nobody listens at %s: %w; end it with \"org-agent stop\", which loses nothing", kernel.PID, kernel.Socket, err)
	}
	return conn, err
}

// otherVariables returns which variables of models and keys are set here and are not the same in the
// environment of the kernel.
func (proc *process) otherVariables(kernel []protocol.Variable) []string {
	paths, err := proc.paths()
	if err != nil {
		return nil
	}
	token, err := config.ReadToken(paths.Token)
	if err != nil {
		return nil
	}
	var names []string
	for _, v := range kernel {
		if digest := protocol.VariableDigest(string(token), v.Name, proc.env(v.Name)); digest != "" && digest != v.Digest {
			names = append(names, v.Name)
		}
	}
	return names
}

// isEnding reports whether a kernel that closed the connection ends within a second. The socket of a
// killed kernel still accepts connections for a moment.
func isEnding(ctx context.Context, kernel config.KernelInfo) bool {
	for deadline := time.Now().Add(time.Second); kernel.Alive(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) || ctx.Err() != nil {
			return false
		}
	}
	return true
}
