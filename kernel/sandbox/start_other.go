//go:build !linux

package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"sync"
	"syscall"
	"time"
)

// Main does nothing where there are no wardens.
func Main() {}

// Probe reports that no fence can be made on this system.
func Probe(context.Context) (Kind, error) {
	return None, errors.New("commands are fenced in on Linux alone")
}

// Recover does nothing, because no command is fenced in.
func Recover(string) (directory string, left Left, err error) { return "", Left{}, nil }

// Sweeper does nothing, because no command is fenced in.
type Sweeper struct{}

// StartSweeper returns a sweeper that does nothing.
func StartSweeper(string) (*Sweeper, error) { return &Sweeper{}, nil }

// Close does nothing.
func (*Sweeper) Close() error { return nil }

// Left returns an empty Left: without a fence a command may have left something anywhere.
func (p *Process) Left() Left { return Left{} }

// Process is a command that runs.
type Process struct {
	command *exec.Cmd
	scratch string
	began   time.Time
	end     sync.Once

	done    chan struct{}
	outcome Outcome
	err     error
}

// Start starts the command and returns when it runs. When ctx ends, the command and its process
// group are ended. input and output are the command's; nil is nothing. The caller must wait for the
// process.
func Start(ctx context.Context, _ Kind, c Command, input, output *os.File) (*Process, error) {
	if err := errors.Join(ctx.Err(), c.Check()); err != nil {
		return nil, err
	}
	shell, err := exec.LookPath("bash")
	if err != nil {
		return nil, errors.New("there is no bash, which commands are for: install it")
	}
	p := &Process{began: time.Now(), done: make(chan struct{})}
	if p.scratch, err = os.MkdirTemp("", "org-agent-command-"); err != nil {
		return nil, fmt.Errorf("make a directory for the command: %w", err)
	}
	name := "user"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	p.command = &exec.Cmd{Path: shell, Args: []string{shell, "-c", c.Text}, Dir: c.Directory, Env: c.environment(p.scratch, p.scratch, name)}
	if c.Directory == "" {
		p.command.Dir = p.scratch
	}
	if input != nil {
		p.command.Stdin = input
	}
	if output != nil {
		p.command.Stdout, p.command.Stderr = output, output
	}
	p.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: c.Terminal}
	if err := p.begin(ctx); err != nil {
		return nil, errors.Join(err, os.RemoveAll(p.scratch))
	}
	return p, nil
}

// StartProgram starts a program and returns when it runs. When ctx ends, the program and its
// process group are ended. The files are the program's, as with [Start]; complaints is its standard
// error.
func StartProgram(ctx context.Context, program Program, input, output, complaints *os.File) (*Process, error) {
	file, environment, err := program.prepare()
	if err != nil {
		return nil, err
	}
	p := &Process{began: time.Now(), done: make(chan struct{})}
	p.command = &exec.Cmd{Path: file, Args: program.Arguments, Dir: program.Directory, Env: environment, Stdin: input, Stdout: output, Stderr: complaints}
	p.command.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return p, p.begin(ctx)
}

// begin starts the prepared process.
func (p *Process) begin(ctx context.Context) error {
	if err := p.command.Start(); err != nil {
		return fmt.Errorf("the command could not be started: %w", err)
	}
	released := context.AfterFunc(ctx, p.Kill)
	go func() { // ends with the command; Wait waits for it
		p.follow()
		released()
	}()
	return nil
}

// follow waits until the command has ended and ends the rest of its process group.
func (p *Process) follow() {
	err := p.command.Wait()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		p.err = fmt.Errorf("wait for the command: %w", err)
	}
	p.Kill()
	if status, ok := p.command.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		p.outcome.Signal = status.Signal().String()
	} else {
		p.outcome.Status = p.command.ProcessState.ExitCode()
	}
	p.outcome.Took = time.Since(p.began)
	if p.scratch != "" {
		_ = os.RemoveAll(p.scratch) // what it made there is its own and may be unreadable for us
	}
	close(p.done)
}

// Done is closed when the command has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits until the command has ended, and returns how it ended.
func (p *Process) Wait() (Outcome, error) {
	<-p.done
	return p.outcome, p.err
}

// Terminate asks the command and its group to end.
func (p *Process) Terminate() { p.signal(syscall.SIGTERM) }

// Kill ends the command and its group.
func (p *Process) Kill() {
	p.end.Do(func() { p.signal(syscall.SIGKILL) })
}

func (p *Process) signal(s syscall.Signal) {
	select {
	case <-p.done:
	default:
		_ = syscall.Kill(-p.command.Process.Pid, s) // it may have ended
	}
}
