package shell

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// nobody is the user as whom programs are tried where root runs the tests: an option that is wrong must not
// be able to harm the machine.
const nobody = 65534

// watchedTime is how long a program that is tried may take, with all that it starts.
const watchedTime = 3 * time.Second

// watched is one run of a program that is traced: each program is seen that it or one of its descendants
// starts or tries to start, by whatever path.
type watched struct {
	path       string
	words      []string
	directory  string
	env        []string
	input      *os.File
	output     *os.File
	namespaces uintptr

	mutex   sync.Mutex
	alive   map[int]bool
	late    bool
	started []string
}

// run runs the program to its end and that of its descendants, and returns the paths of the programs that
// they started. The error says that the program cannot be started or traced.
func (w *watched) run() (started []string, err error) {
	done := make(chan struct{})
	go func() { // a thread traces what it started itself, and nothing else runs on it
		defer close(done)
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err = w.trace()
	}()
	<-done
	return w.started, err
}

func (w *watched) trace() error {
	attributes := &syscall.SysProcAttr{Ptrace: true, Setpgid: true, Cloneflags: w.namespaces}
	if os.Getuid() == 0 {
		attributes.Credential = &syscall.Credential{Uid: nobody, Gid: nobody}
	}
	if w.namespaces&syscall.CLONE_NEWUSER != 0 {
		user, group := os.Getuid(), os.Getgid()
		if attributes.Credential != nil {
			user, group = nobody, nobody
		}
		attributes.UidMappings = []syscall.SysProcIDMap{{ContainerID: user, HostID: user, Size: 1}}
		attributes.GidMappings = []syscall.SysProcIDMap{{ContainerID: group, HostID: group, Size: 1}}
		attributes.GidMappingsEnableSetgroups = attributes.Credential != nil
	}
	process, err := os.StartProcess(w.path, append([]string{w.path}, w.words...),
		&os.ProcAttr{Dir: w.directory, Env: w.env, Files: []*os.File{w.input, w.output, w.output}, Sys: attributes})
	if err != nil {
		return err
	}
	pid := process.Pid
	_ = process.Release() // it is waited for below
	w.alive = map[int]bool{pid: true}
	var state syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &state, syscall.WALL, nil); err != nil || !state.Stopped() {
		return fmt.Errorf("wait for %s: %v, %w", w.path, state, err)
	}
	const options = unix.PTRACE_O_EXITKILL | unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACEFORK | unix.PTRACE_O_TRACEVFORK | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_TRACEEXEC
	if err := syscall.PtraceSetOptions(pid, options); err != nil {
		return errors.Join(fmt.Errorf("trace %s: %w", w.path, err), syscall.Kill(pid, syscall.SIGKILL))
	}
	timer := time.AfterFunc(watchedTime, w.end)
	defer timer.Stop()
	if err := syscall.PtraceSyscall(pid, 0); err != nil {
		return fmt.Errorf("trace %s: %w", w.path, err)
	}
	return w.follow()
}

// end kills what still runs.
func (w *watched) end() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.late = true
	for pid := range w.alive {
		_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
	}
}

// follow handles the stops of the program and its descendants until all have ended.
func (w *watched) follow() error {
	for {
		var state syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &state, syscall.WALL|unix.WNOTHREAD, nil)
		switch {
		case errors.Is(err, syscall.ECHILD):
			return nil
		case errors.Is(err, syscall.EINTR):
			continue
		case err != nil:
			return fmt.Errorf("wait for what %s started: %w", w.path, err)
		}
		w.mutex.Lock()
		fresh := !w.alive[pid]
		w.alive[pid] = !state.Exited() && !state.Signaled()
		late := w.late
		if !w.alive[pid] {
			delete(w.alive, pid)
		}
		w.mutex.Unlock()
		if !state.Stopped() {
			continue
		}
		if late {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may have ended
		}
		deliver := 0
		switch signal := state.StopSignal(); {
		case signal == syscall.SIGTRAP|0x80:
			w.see(pid)
		case signal == syscall.SIGTRAP: // a new process, or one that became another program
		case fresh && signal == syscall.SIGSTOP: // how a new process begins
		case signal == syscall.SIGSTOP || signal == syscall.SIGTSTP || signal == syscall.SIGTTIN || signal == syscall.SIGTTOU: // nobody would let it go on
		default:
			deliver = int(signal)
		}
		if err := syscall.PtraceSyscall(pid, deliver); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("trace what %s started: %w", w.path, err)
		}
	}
}

// see notes the program that a process is about to start.
func (w *watched) see(pid int) {
	const getSyscallInfo, entry = 0x420e, 1
	var info struct {
		op                 uint8
		_                  [3]uint8
		arch               uint32
		instruction, stack uint64
		number             uint64
		arguments          [6]uint64
		_, _               uint64
	}
	_, _, failed := unix.Syscall6(unix.SYS_PTRACE, getSyscallInfo, uintptr(pid), unsafe.Sizeof(info), uintptr(unsafe.Pointer(&info)), 0, 0)
	if failed != 0 || info.op != entry {
		return
	}
	var at uint64
	switch info.number {
	case unix.SYS_EXECVE:
		at = info.arguments[0]
	case unix.SYS_EXECVEAT:
		at = info.arguments[1]
	default:
		return
	}
	text := make([]byte, unix.PathMax)
	n, err := syscall.PtracePeekData(pid, uintptr(at), text)
	if err != nil && n == 0 {
		w.started = append(w.started, fmt.Sprintf("what cannot be read: %v", err))
		return
	}
	path, _, _ := strings.Cut(string(text[:n]), "\x00")
	if !slices.Contains(w.started, path) {
		w.started = append(w.started, path)
	}
}

// TestWatchedProgramsAreSeen makes sure that the test of the table sees each way to start a program, and that
// nothing that it runs is run by root.
func TestWatchedProgramsAreSeen(t *testing.T) {
	g := newGround(t)
	for _, c := range []struct{ script, want string }{
		{"/bin/true", "/bin/true"},
		{"/nowhere/pager", "/nowhere/pager"},
		{"less in", filepath.Join(g.tripwires, "less")},
		{"(setsid /bin/true &) ; :", "/bin/true"},
		{"exec /bin/true", "/bin/true"},
		{"exec env -i /bin/true", "/bin/true"},
		{"kill -STOP $$ ; /bin/true", "/bin/true"},
		{":", ""},
	} {
		started, err := g.start("/bin/sh", []string{"-c", c.script})
		if err != nil || c.want != "" && !slices.Contains(started, c.want) || c.want == "" && len(started) > 0 {
			t.Errorf("%s: started %q, %v", c.script, started, err)
		}
	}
	begun := time.Now()
	if _, err := g.start("/bin/sh", []string{"-c", "setsid sleep 60 & sleep 60"}); err != nil || time.Since(begun) > 5*watchedTime {
		t.Errorf("a program that goes on for long: %v, %v", err, time.Since(begun))
	}
	if _, err := g.start("/bin/sh", []string{"-c", "id -u > who; id -G >> who; rm -f /dev/null; ls -l /dev/null >> who"}); err != nil {
		t.Fatal(err)
	}
	told, err := os.ReadFile(filepath.Join(g.directory, "who"))
	if lines := strings.Split(string(told), "\n"); err != nil || len(lines) < 3 || slices.Contains(strings.Fields(lines[0]+" "+lines[1]), "0") || !strings.HasPrefix(lines[2], "c") {
		t.Errorf("programs are run as %s, %v", told, err)
	}
}
