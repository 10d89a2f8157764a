package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// lingerAfterChat is how long a kernel started by the command line stays when
// nobody uses it.
const lingerAfterChat = 60 * time.Second

// connection says how a command meets the kernel.
type connection struct {
	start   bool // start one if none runs
	streams bool // what is said appears while it is written
	handler rpc.IncomingHandler
}

// errNotRunning: there is no kernel for this home.
var errNotRunning = errors.New("no kernel runs here; \"org-agent serve\" starts one, \"org-agent chat\" does so by itself")

// connect connects to the kernel of the home.
func (w *world) connect(ctx context.Context, c connection) (*rpc.Conn, error) {
	conn, err := w.dial(ctx, c)
	if err == nil || !c.start || !errors.Is(err, errNotRunning) {
		return conn, err
	}
	serve := serveCommand{Linger: lingerAfterChat}
	if _, startErr := serve.detach(ctx, w); startErr != nil {
		// Another program may have started one at the same moment.
		if conn, err := w.dial(ctx, c); err == nil {
			return conn, nil
		}
		return nil, startErr
	}
	return w.dial(ctx, c)
}

func (w *world) dial(ctx context.Context, c connection) (*rpc.Conn, error) {
	paths, err := w.paths()
	if err != nil {
		return nil, err
	}
	kernel, err := config.ReadKernelInfo(paths.KernelJSON)
	if err != nil || !kernel.Alive() {
		return nil, errNotRunning
	}
	token, err := config.ReadToken(paths.Token)
	if err != nil {
		return nil, err
	}
	conn, err := rpc.Dial(ctx, rpc.DialConfig{
		Socket: kernel.Socket, Patience: 2 * time.Second, Token: rpc.Token(token),
		Client:  protocol.ClientInfo{Name: "cli", Version: version, Capabilities: protocol.Capabilities{Streams: c.streams}},
		Handler: c.handler,
	})
	if errors.Is(err, rpc.ErrConnectionLost) && dies(ctx, kernel) {
		return nil, errNotRunning
	}
	return conn, err
}

// dies reports whether a kernel that hung up ends: one that was killed still accepts for a
// moment.
func dies(ctx context.Context, kernel config.KernelInfo) bool {
	for deadline := time.Now().Add(time.Second); kernel.Alive(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) || ctx.Err() != nil {
			return false
		}
	}
	return true
}

// stop asks the kernel to end and waits until it has.
func (w *world) stop(ctx context.Context) error {
	paths, err := w.paths()
	if err != nil {
		return err
	}
	kernel, err := config.ReadKernelInfo(paths.KernelJSON)
	if err != nil || !kernel.Alive() {
		return errNotRunning
	}
	conn, err := w.connect(ctx, connection{})
	if err != nil {
		return err
	}
	defer conn.Close()
	err = conn.Call(ctx, protocol.MethodShutdown, protocol.Empty{}, nil)
	if err != nil && !errors.Is(err, rpc.ErrConnectionLost) {
		return err
	}
	for deadline := time.Now().Add(10 * time.Second); kernel.Alive(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return fmt.Errorf("the kernel (pid %d) was asked to stop and still runs; see %s", kernel.PID, paths.Log)
		}
	}
	return nil
}
