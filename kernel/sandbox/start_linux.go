package sandbox

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// wardenName is the argument by which this program knows that it is to be a warden.
const wardenName = "sandbox"

// task is what a warden is told, as one line of JSON. The pipe that it comes by stays open as
// long as the program that wrote it lives.
type task struct {
	Text          string
	Directory     string
	Writes        bool
	Network       bool
	Terminal      bool
	Home          string
	Scratch       string // the directory of its own, where there is no namespace to have one in
	Hidden        []string
	Shown         []string
	Memory        uint64
	Environment   []string
	Arguments     []string // of a program that is run and no text; it is in no fence
	Kind          Kind
	LandlockLevel int
	Repositories  []string  // in the directory, where it writes
	Obeyed        []setting // what git obeys there beside

	locks   []*os.File      // on what guards the directory, while the warden lives
	mounted map[string]bool // of the directory by themselves, to be read alone
}

// report is a line that the warden tells: that the command runs, how it ended or why it could
// not begin.
type report struct {
	Started bool
	Ended   bool
	Outcome Outcome
	Fault   string
}

// Process is a command that runs.
type Process struct {
	warden  *exec.Cmd
	kind    Kind
	life    *os.File // closed to end it
	scratch string
	before  *view // of the directory that was put guards into, nil for none
	left    Left
	began   time.Time
	end     sync.Once

	done    chan struct{} // closed when nothing of it runs any more
	outcome Outcome
	err     error
}

// Start starts the command and returns when it runs. It is ended, with all that it has started,
// when ctx ends. input and output are the command's; nil is nothing. They are the caller's to
// close, and may be closed as soon as Start returns. The caller waits for the process.
func Start(ctx context.Context, kind Kind, c Command, input, output *os.File) (*Process, error) {
	if err := errors.Join(ctx.Err(), c.Check()); err != nil {
		return nil, err
	}
	if strings.ContainsRune(c.Text, 0) {
		return nil, errors.New("the command has a NUL byte in it")
	}
	return start(ctx, c.task(kind), input, output, output)
}

// StartProgram starts a program and returns when it runs. It is ended, with all that it has
// started, when ctx ends and with this program. The files are its own, as with [Start];
// complaints is where it writes what is no output.
func StartProgram(ctx context.Context, p Program, input, output, complaints *os.File) (*Process, error) {
	file, environment, err := p.prepare()
	if err != nil {
		return nil, err
	}
	t := task{Arguments: append([]string{file}, p.Arguments[1:]...), Directory: p.Directory, Environment: environment, Kind: None}
	return start(ctx, t, input, output, complaints)
}

// task is what the warden of a command is told.
func (c Command) task(kind Kind) task {
	t := task{
		Text: c.Text, Directory: c.Directory, Writes: c.Writes, Network: c.Network, Terminal: c.Terminal,
		Home: c.Home, Hidden: c.Hidden, Memory: c.Memory, Kind: kind, LandlockLevel: landlockLevel(),
	}
	t.Shown = slices.DeleteFunc(slices.Clone(c.Shown), func(d string) bool { return c.Grantable(d) != nil })
	if t.Home == "" || t.Home == "/" {
		t.Home = "/tmp"
	}
	name := "user"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	t.Environment = c.environment(t.Home, "/tmp", name)
	return t
}

func start(ctx context.Context, t task, input, output, complaints *os.File) (p *Process, err error) {
	p = &Process{kind: t.Kind, began: time.Now(), done: make(chan struct{})}
	if !t.Kind.Fenced() && t.Arguments == nil {
		if p.scratch, err = os.MkdirTemp("", "org-agent-command-"); err != nil {
			return nil, fmt.Errorf("make a directory for the command: %w", err)
		}
		t.unfenced(p.scratch)
	} else if t.Writes {
		p.before = viewOf(t.Directory)
		p.before.ask()
		t.Repositories, t.Obeyed = p.before.repositories, p.before.obeyed
	}
	reports, err := p.launch(t, input, output, complaints)
	if err == nil {
		err = p.begin(reports)
	}
	if err != nil {
		p.forget()
		return nil, err
	}
	released := context.AfterFunc(ctx, p.Kill)
	go func() { // ends with the warden; Wait waits for it
		p.follow(reports)
		released()
	}()
	return p, nil
}

// unfenced has the command use a directory of its own where it cannot have an empty home.
func (t *task) unfenced(scratch string) {
	t.Home, t.Scratch = scratch, scratch
	for i, variable := range t.Environment {
		for _, name := range [...]string{"HOME=", "TMPDIR="} {
			if strings.HasPrefix(variable, name) {
				t.Environment[i] = name + scratch
			}
		}
	}
}

// launch starts the warden and tells it its task.
func (p *Process) launch(t task, input, output, complaints *os.File) (reports *bufio.Reader, err error) {
	line, err := json.Marshal(t)
	if err != nil {
		return nil, fmt.Errorf("tell the command's warden: %w", err)
	}
	taskPipe, life, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start the command's warden: %w", err)
	}
	defer taskPipe.Close()
	p.life = life
	read, write, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start the command's warden: %w", err)
	}
	defer write.Close()
	// The path is that of the program that runs, also when another has taken its name.
	p.warden = &exec.Cmd{Path: "/proc/self/exe", Args: []string{os.Args[0], wardenName}, Env: []string{}, Dir: "/", ExtraFiles: []*os.File{taskPipe, write}}
	if input != nil {
		p.warden.Stdin = input
	}
	if output != nil {
		p.warden.Stdout = output
	}
	if complaints != nil {
		p.warden.Stderr = complaints
	}
	p.warden.SysProcAttr = attributes(t)
	if err := p.warden.Start(); err != nil {
		read.Close()
		return nil, fmt.Errorf("start the command's warden: %w", err)
	}
	// A task is longer than a pipe holds if the command is: the warden reads it meanwhile.
	if _, err := life.Write(append(line, '\n')); err != nil {
		read.Close()
		return nil, errors.Join(fmt.Errorf("tell the command's warden: %w", err), p.warden.Process.Kill(), p.reap())
	}
	return bufio.NewReader(&closing{read}), nil
}

// closing is a pipe that is closed when it has been read to its end.
type closing struct{ file *os.File }

func (c *closing) Read(b []byte) (int, error) {
	n, err := c.file.Read(b)
	if err != nil {
		c.file.Close()
	}
	return n, err
}

// attributes are those of a warden. It is a session of its own, so that no terminal of the
// person's is its.
func attributes(t task) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true}
	if !t.Kind.Fenced() {
		attr.Pdeathsig = syscall.SIGTERM // which it ends its children for
		return attr
	}
	attr.Pdeathsig = syscall.SIGKILL
	attr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	if !t.Network {
		attr.Cloneflags |= unix.CLONE_NEWNET
	}
	attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: os.Geteuid(), HostID: os.Geteuid(), Size: 1}}
	attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
	attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_SETPCAP, unix.CAP_NET_ADMIN, unix.CAP_SYS_RESOURCE}
	return attr
}

// begin waits until the command runs.
func (p *Process) begin(reports *bufio.Reader) error {
	r, err := next(reports)
	if err == nil && r.Fault == "" {
		return nil
	}
	if err != nil {
		r.Fault = "its warden ended before it began"
	}
	p.Kill()
	_ = p.reap() // it has said what was wrong
	return fmt.Errorf("the command could not be started: %s", r.Fault)
}

func next(reports *bufio.Reader) (r report, err error) {
	line, err := reports.ReadBytes('\n')
	if err != nil {
		return r, err
	}
	return r, json.Unmarshal(line, &r)
}

// follow waits until the warden has ended and notes how the command did.
func (p *Process) follow(reports *bufio.Reader) {
	r, err := next(reports)
	if err == nil {
		_, _ = io.Copy(io.Discard, reports)
	}
	waited := p.reap()
	p.outcome = r.Outcome
	switch {
	case r.Fault != "":
		p.err = errors.New(r.Fault)
	case !r.Ended:
		p.outcome = outcomeOf(p.warden.ProcessState)
		if waited != nil && p.warden.ProcessState == nil {
			p.err = fmt.Errorf("wait for the command: %w", waited)
		}
	}
	p.outcome.Took = time.Since(p.began)
	p.forget()
	close(p.done)
}

// reap waits for the warden.
func (p *Process) reap() error {
	err := p.warden.Wait()
	if _, exited := errors.AsType[*exec.ExitError](err); exited {
		return nil
	}
	return err
}

// forget closes and removes what the process had here.
func (p *Process) forget() {
	p.end.Do(func() { p.closeLife() })
	if p.before != nil {
		unguard(p.before.directory, p.before.repositories, p.before.obeyed)
		p.left = p.before.cleanUp()
	}
	if p.scratch != "" {
		_ = os.RemoveAll(p.scratch) // what it made there is its own and may be closed to us
	}
}

func (p *Process) closeLife() {
	if p.life != nil {
		p.life.Close()
	}
}

func outcomeOf(state *os.ProcessState) Outcome {
	if state == nil {
		return Outcome{}
	}
	status, _ := state.Sys().(syscall.WaitStatus)
	return outcome(status)
}

func outcome(status syscall.WaitStatus) Outcome {
	if status.Signaled() {
		name := unix.SignalName(status.Signal())
		if name == "" {
			name = "signal " + strconv.Itoa(int(status.Signal()))
		}
		return Outcome{Signal: name}
	}
	return Outcome{Status: status.ExitStatus()}
}

// Done is closed when the command and all that it started have ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits for that and returns how the command ended.
func (p *Process) Wait() (Outcome, error) {
	<-p.done
	return p.outcome, p.err
}

// Left is what came to be, while it ran, in the directory that it could write in and that others
// obey. It is known once it is done.
func (p *Process) Left() Left {
	<-p.done
	return p.left
}

// Terminate asks the command, and all that it started, to end.
func (p *Process) Terminate() {
	select {
	case <-p.done:
	default:
		_ = p.warden.Process.Signal(syscall.SIGUSR1) // it may have ended meanwhile
	}
}

// Kill ends the command and all that it started.
func (p *Process) Kill() {
	p.end.Do(func() {
		p.closeLife() // the warden, which ends for it, ends all the others
		if p.kind.Fenced() {
			_ = p.warden.Process.Kill() // so does the system
		}
	})
}
