package daemon_test

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// stepVariable makes the test binary what runs a kernel and kills it at a step: right before the
// call of the system by that number that changes something outside of its memory, counted from
// the moment on when it is sent SIGUSR1. 0 is never; then the number of steps is told at the end.
const stepVariable = "ORG_AGENT_TEST_STEP"

// changing are the calls that are steps.
var changing = map[uint64]bool{
	unix.SYS_WRITE: true, unix.SYS_PWRITE64: true, unix.SYS_FSYNC: true, unix.SYS_FDATASYNC: true, unix.SYS_RENAMEAT: true, unix.SYS_RENAMEAT2: true,
	unix.SYS_UNLINKAT: true, unix.SYS_LINKAT: true, unix.SYS_FTRUNCATE: true, unix.SYS_MKDIRAT: true, unix.SYS_CLONE: true, unix.SYS_CONNECT: true, unix.SYS_SENDTO: true,
}

// tracer is the state of who counts a kernel's steps.
type tracer struct {
	kernel, step, steps int
	armed               atomic.Bool
	inside              map[int]bool // threads that are in a call
}

func beTracer(step string) int {
	runtime.LockOSThread() // a thread traces, not a process
	t := &tracer{inside: map[int]bool{}}
	t.step, _ = strconv.Atoi(step)
	command := exec.Command("/proc/self/exe")
	for _, variable := range os.Environ() {
		if len(variable) < len(stepVariable) || variable[:len(stepVariable)] != stepVariable {
			command.Env = append(command.Env, variable)
		}
	}
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	command.SysProcAttr = &syscall.SysProcAttr{Ptrace: true, Pdeathsig: syscall.SIGKILL}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGUSR1)
	if err := command.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	t.kernel = command.Process.Pid
	go func() { // ends with the process
		<-signals
		t.armed.Store(true)
		threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", t.kernel))
		for _, thread := range threads {
			id, _ := strconv.Atoi(filepath.Base(thread))
			_ = unix.Tgkill(t.kernel, id, unix.SIGSTOP) // it stops, and goes on by calls
		}
	}()
	if _, err := syscall.Wait4(t.kernel, nil, 0, nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if err := syscall.PtraceSetOptions(t.kernel, unix.PTRACE_O_TRACECLONE|unix.PTRACE_O_TRACESYSGOOD|unix.PTRACE_O_EXITKILL); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	_ = syscall.PtraceCont(t.kernel, 0)
	for {
		var status syscall.WaitStatus
		thread, err := syscall.Wait4(-1, &status, unix.WALL, nil)
		if err == syscall.EINTR {
			continue
		}
		if err != nil || thread == t.kernel && (status.Exited() || status.Signaled()) {
			fmt.Fprintf(os.Stderr, "steps %d\n", t.steps)
			return 0
		}
		if status.Stopped() {
			t.goOn(thread, status)
		}
	}
}

// goOn lets a thread that stopped go on, and counts where it is about to do something.
func (t *tracer) goOn(thread int, status syscall.WaitStatus) {
	pass := status.StopSignal()
	switch pass {
	case syscall.SIGTRAP | 0x80:
		pass = 0
		if t.inside[thread] = !t.inside[thread]; t.inside[thread] && t.about(thread) {
			if t.steps++; t.steps == t.step {
				_ = syscall.Kill(t.kernel, syscall.SIGKILL)
			}
		}
	case syscall.SIGTRAP, syscall.SIGSTOP: // a new thread, or the ones that are to go on by calls
		pass = 0
	}
	if t.armed.Load() {
		_ = syscall.PtraceSyscall(thread, int(pass)) // it may be gone
		return
	}
	_ = syscall.PtraceCont(thread, int(pass))
}

// about reports whether a thread is about to change something.
func (t *tracer) about(thread int) bool {
	var registers syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(thread, &registers); err != nil || !changing[registers.Orig_rax] {
		return false
	}
	// Eight bytes are how threads wake each other.
	return registers.Orig_rax != unix.SYS_WRITE || registers.Rdx != 8
}
