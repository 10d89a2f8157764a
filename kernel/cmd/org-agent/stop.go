package main

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// stopCommand is "org-agent stop".
type stopCommand struct{}

// Run asks the kernel to end and waits until it has ended. A kernel to which nobody can connect gets a signal.
func (c *stopCommand) Run(ctx context.Context, proc *process) error {
	paths, err := proc.paths()
	if err != nil {
		return err
	}
	kernel, err := config.ReadKernelInfo(paths.KernelJSON)
	if err != nil || !kernel.Alive() {
		return errNotRunning
	}
	conn, err := proc.connect(ctx, connection{})
	switch {
	case errors.Is(err, errNotRunning):
		return err
	case err != nil: // nobody can connect to it
		if err := syscall.Kill(kernel.PID, syscall.SIGTERM); err != nil {
			return fmt.Errorf("end the process %d: %w", kernel.PID, err)
		}
	default:
		defer conn.Close()
		err = conn.Call(ctx, protocol.MethodShutdown, protocol.Empty{}, nil)
		if err != nil && !errors.Is(err, rpc.ErrConnectionLost) {
			return err
		}
	}
	for deadline := time.Now().Add(10 * time.Second); kernel.Alive(); time.Sleep(10 * time.Millisecond) {
		if ctx.Err() != nil {
			return exit{code: 130} // it ends all the same
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the kernel (pid %d) was asked to stop and still runs; see %s", kernel.PID, paths.Log)
		}
	}
	return nil
}
