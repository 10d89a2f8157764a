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

// wardenName is the argument that makes this program a warden.
const wardenName = "sandbox"

// task is what the warden has to do, one line of JSON. The pipe through which it comes stays open
// as long as the program that wrote it lives.
type task struct {
	Text          string
	Directory     string
	Writes        bool
	Network       bool
	Terminal      bool
	Home          string
	Scratch       string // its own directory, where there is no namespace for one
	Hidden        []string
	Covered       []Cover
	Shown         []string
	Memory        uint64
	Environment   []string
	Arguments     []string // of a program instead of a text; it is not fenced in
	Kind          Kind
	LandlockLevel int
	Repositories  []string  // in the directory, if it writes
	Obeyed        []setting // files in the directory that git's settings name

	locks   []*os.File      // on the placed guards, while the warden lives
	mounted map[string]bool // paths in the directory that were mounted on themselves; true: read-only
}

// report is a line from the warden: the command runs, how it ended, or why it could not begin.
type report struct {
	Started bool
	Ended   bool
	Outcome Outcome
	Fault   string
}

// Process is a command that was started.
type Process struct {
	warden  *exec.Cmd
	kind    Kind
	life    *os.File // closed to end the command
	scratch string
	before  *view      // of the directory, if it has guards
	note    string     // the file of Command.Note, "" for none
	found   func(Left) // Command.Found
	wayOut  wayOut
	left    Left
	end     sync.Once

	done    chan struct{} // closed when nothing of it runs any more
	outcome Outcome
	err     error
}

// Start starts the command and returns when it runs. When ctx ends, the command and everything that
// it started are ended. input and output belong to the caller, who closes them and may do so as
// soon as Start returns; nil means nothing. The caller must wait for the process.
func Start(ctx context.Context, kind Kind, c Command, input, output *os.File) (*Process, error) {
	if err := errors.Join(ctx.Err(), c.Check()); err != nil {
		return nil, err
	}
	if strings.ContainsRune(c.Text, 0) {
		return nil, errors.New("the command has a NUL byte in it")
	}
	p := &Process{kind: kind, note: c.Note, found: c.Found, wayOut: wayOut{serve: c.WayOut}}
	if err := p.start(ctx, c.task(kind), input, output, output); err != nil {
		return nil, err
	}
	return p, nil
}

// StartProgram starts a program and returns when it runs. The program and everything that it
// started end with ctx and with this program. The files are the program's, as with [Start];
// complaints is its standard error.
func StartProgram(ctx context.Context, program Program, input, output, complaints *os.File) (*Process, error) {
	file, environment, err := program.prepare()
	if err != nil {
		return nil, err
	}
	t := task{Arguments: append([]string{file}, program.Arguments[1:]...), Directory: program.Directory, Environment: environment, Kind: None}
	p := &Process{kind: None}
	if err := p.start(ctx, t, input, output, complaints); err != nil {
		return nil, err
	}
	return p, nil
}

// task returns the task of a command's warden.
func (c Command) task(kind Kind) task {
	t := task{
		Text: c.Text, Directory: c.Directory, Writes: c.Writes, Network: c.Network, Terminal: c.Terminal,
		Home: c.Home, Hidden: c.Hidden, Covered: c.Covered, Memory: c.Memory, Kind: kind, LandlockLevel: landlockLevel(),
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
	if kind.Fenced() && c.Network {
		t.Environment = append(t.Environment, wayOutVariables()...)
	}
	return t
}

func (p *Process) start(ctx context.Context, t task, input, output, complaints *os.File) (err error) {
	began := time.Now()
	p.done = make(chan struct{})
	if !t.Kind.Fenced() && t.Arguments == nil {
		if p.scratch, err = os.MkdirTemp("", "org-agent-command-"); err != nil {
			return fmt.Errorf("make a directory for the command: %w", err)
		}
		t.unfenced(p.scratch)
	} else if t.Writes {
		p.before = viewOf(t.Directory)
		p.before.ask()
		t.Repositories, t.Obeyed = p.before.Repositories, p.before.Obeyed
	}
	reports, err := p.launch(t, input, output, complaints)
	if err == nil {
		err = p.begin(reports)
	}
	if err == nil && t.Kind.Fenced() && t.Network {
		if err = p.wayOut.open(); err != nil {
			p.Kill()
			_ = p.reap() // the error says what was wrong
		}
	}
	if err != nil {
		p.forget()
		return err
	}
	released := context.AfterFunc(ctx, p.Kill)
	go func() { // ends with the warden; Wait waits for it
		p.follow(reports, began)
		released()
	}()
	return nil
}

// unfenced gives the command a directory of its own where it cannot have an empty home.
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

// launch starts the warden and sends it its task.
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
	// This path also leads to the running program when the file was replaced by another.
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
	if t.Kind.Fenced() && t.Network {
		theirs, err := p.wayOut.prepare()
		if err != nil {
			read.Close()
			return nil, err
		}
		defer theirs.Close()
		p.warden.ExtraFiles = append(p.warden.ExtraFiles, theirs)
	}
	if err := p.warden.Start(); err != nil {
		read.Close()
		return nil, fmt.Errorf("start the command's warden: %w", err)
	}
	// The warden does nothing before it has its task, so the note is on the disk before the command
	// begins. A task can be longer than a pipe holds, so the warden reads it at the same time.
	err = p.writeNote()
	if err == nil {
		if _, err = life.Write(append(line, '\n')); err != nil {
			err = fmt.Errorf("tell the command's warden: %w", err)
		}
	}
	if err != nil {
		read.Close()
		return nil, errors.Join(err, p.warden.Process.Kill(), p.reap())
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

// attributes returns the attributes of a warden. A warden is a session of its own, so that it has
// no terminal of the person.
func attributes(t task) *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Setsid: true}
	if !t.Kind.Fenced() {
		attr.Pdeathsig = syscall.SIGTERM // it ends its children on this signal
		return attr
	}
	attr.Pdeathsig = syscall.SIGKILL
	attr.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWNET
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

// follow waits until the warden has ended and records how the command ended.
func (p *Process) follow(reports *bufio.Reader, began time.Time) {
	stopScanning := p.scanRepeatedly()
	r, err := next(reports)
	if err == nil {
		_, _ = io.Copy(io.Discard, reports)
	}
	waited := p.reap()
	stopScanning()
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
	p.outcome.Took = time.Since(began)
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

// forget closes and removes what belongs to the process here.
func (p *Process) forget() {
	p.end.Do(func() { p.closeLife() })
	p.wayOut.close()
	if p.before != nil {
		p.left = Left{Aside: p.left.Aside}.With(p.before.restore()) // what else was found may be gone by now
	}
	if p.note != "" {
		_ = os.Remove(p.note) // a note that stays is read again, and nothing is found then
	}
	if p.scratch != "" {
		_ = os.RemoveAll(p.scratch) // what it made there is its own and may be unreadable for us
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

// Done is closed when the command and everything that it started have ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Wait waits until the command and everything that it started have ended, and returns how the
// command ended.
func (p *Process) Wait() (Outcome, error) {
	<-p.done
	return p.outcome, p.err
}

// Left returns what the command left in its directory. It waits until the command has ended.
func (p *Process) Left() Left {
	<-p.done
	return p.left
}

// Terminate asks the command, and everything that it started, to end.
func (p *Process) Terminate() {
	select {
	case <-p.done:
	default:
		_ = p.warden.Process.Signal(syscall.SIGUSR1) // it may have ended meanwhile
	}
}

// Kill ends the command and everything that it started.
func (p *Process) Kill() {
	p.end.Do(func() {
		p.closeLife() // the warden ends then, and everything else with it
		if p.kind.Fenced() {
			_ = p.warden.Process.Kill() // its namespace ends with it
		}
	})
}
