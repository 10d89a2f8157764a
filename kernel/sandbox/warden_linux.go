package sandbox

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// The numbers of the warden's own files. Lower numbers are the command's.
const (
	taskFile    = 3
	reportFile  = 4
	networkFile = 5 // a socket to the program that started it, if the command has the network
)

// Main makes this process a warden or a sweeper if it was started as one, and then does not return. A program
// that calls Start or StartSweeper must call Main first of all.
func Main() {
	if len(os.Args) == 2 && os.Args[0] == sweeperName && os.Args[1] == sweeperName {
		if beSweeper() != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	if len(os.Args) != 2 || os.Args[1] != wardenName {
		return
	}
	for _, file := range [...]int{taskFile, reportFile} {
		var info unix.Stat_t
		if err := unix.Fstat(file, &info); err != nil || info.Mode&unix.S_IFMT != unix.S_IFIFO {
			fmt.Fprintf(os.Stderr, "%s: \"%s\" is what the kernel starts for commands; it does nothing for people\n", os.Args[0], wardenName)
			os.Exit(2)
		}
	}
	// The parent of this program may have left files open.
	if err := unix.CloseRange(taskFile, math.MaxInt32, unix.CLOSE_RANGE_CLOEXEC); err != nil {
		closeOnExec()
	}
	w := &warden{reports: os.NewFile(reportFile, "reports")}
	// Capabilities belong to a thread, and the command must be started by the thread that gave them
	// up.
	runtime.LockOSThread()
	if err := w.run(os.NewFile(taskFile, "task")); err != nil {
		w.tell(report{Fault: err.Error()})
		os.Exit(1)
	}
	os.Exit(0)
}

// closeOnExec closes all open files for the command, on systems that cannot do it in one call.
func closeOnExec() {
	var most unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &most); err != nil {
		most.Cur = 1 << 16
	}
	for file := taskFile; file < int(min(most.Cur, 1<<20)); file++ {
		unix.CloseOnExec(file)
	}
}

// warden is the process that runs a command and ends with it.
type warden struct {
	task    task
	reports *os.File
	child   int
}

func (w *warden) tell(r report) {
	line, err := json.Marshal(r)
	if err == nil {
		_, _ = w.reports.Write(append(line, '\n')) // if this fails nobody reads the reports
	}
}

func (w *warden) run(task *os.File) error {
	reader := bufio.NewReader(task)
	line, err := reader.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("hear what to run: %w", err)
	}
	if err := json.Unmarshal(line, &w.task); err != nil {
		return fmt.Errorf("hear what to run: %w", err)
	}
	if err := w.task.fence(); err != nil {
		return err
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGUSR1, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	most, err := w.task.memoryLimit()
	if err != nil {
		return err
	}
	if err := w.begin(most); err != nil {
		return err
	}
	look := time.NewTicker(memoryInterval)
	if w.task.Arguments != nil {
		look.Stop() // a program may run for weeks, and summing takes time; each of its processes is bounded
	}
	w.tell(report{Started: true})
	gone := make(chan struct{})
	go func() { // ends with the process
		_, _ = io.Copy(io.Discard, reader)
		close(gone)
	}()
	ended := make(chan syscall.WaitStatus, 1)
	go func() { ended <- w.reap() }()
	for {
		select {
		case status := <-ended:
			w.endAll()
			w.tell(report{Ended: true, Outcome: outcome(status)})
			return nil
		case <-look.C:
			if !w.exceeds(most) {
				continue
			}
			w.tell(report{Ended: true, Outcome: Outcome{Signal: "SIGKILL"}, Fault: fmt.Sprintf("as what it started used more than %d MB of memory together", most>>20)})
			w.endAll()
			return nil
		case <-gone:
			w.endAll()
			return nil
		case s := <-signals:
			if s == syscall.SIGUSR1 {
				w.signal(syscall.SIGTERM)
				continue
			}
			w.endAll() // the parent of this program is gone, or this process was asked to end
			return nil
		}
	}
}

// begin starts the command.
func (w *warden) begin(most uint64) error {
	arguments := w.task.Arguments
	if arguments == nil {
		shell, err := findShell()
		if err != nil {
			return err
		}
		arguments = []string{shell, "-c", w.task.Text}
	}
	command := exec.Cmd{Path: arguments[0], Args: arguments, Env: w.task.Environment, Dir: w.task.Directory, Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr}
	if command.Dir == "" {
		command.Dir = w.task.Home
	}
	command.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: w.task.Terminal, Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		return fmt.Errorf("run %s: %w", arguments[0], err)
	}
	w.child = command.Process.Pid
	if err := limitMemory(w.child, most); err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("let go of what the command reads and writes: %w", err)
	}
	for file := range 3 { // so that these are closed once the command closes them
		if err := unix.Dup3(int(null.Fd()), file, 0); err != nil {
			return fmt.Errorf("let go of what the command reads and writes: %w", err)
		}
	}
	return null.Close()
}

// findShell finds bash. No other shell will do, because the text was judged as bash reads it.
func findShell() (string, error) {
	for _, path := range [...]string{"/bin/bash", "/usr/bin/bash", "/usr/local/bin/bash", "/run/current-system/sw/bin/bash"} {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, nil
		}
	}
	return "", errors.New("there is no bash, which commands are for: install it")
}

// reap waits for processes until the command has ended, and returns its status.
func (w *warden) reap() syscall.WaitStatus {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		if err == nil && pid == w.child || errors.Is(err, syscall.ECHILD) {
			return status
		}
	}
}

// signal sends a signal to the command and everything that it started.
func (w *warden) signal(s syscall.Signal) {
	if w.task.Kind.Fenced() {
		_ = syscall.Kill(-1, s) // all processes of the namespace except this one
		return
	}
	for _, pid := range descendants() {
		_ = syscall.Kill(pid, s) // it may have ended
	}
}

// endAll ends everything that the command started. In a process namespace the system does this when
// this process ends.
func (w *warden) endAll() {
	if w.task.Kind.Fenced() {
		return
	}
	for deadline := time.Now().Add(5 * time.Second); time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		if len(descendants()) == 0 {
			return
		}
		w.signal(syscall.SIGKILL)
		for pid := 1; pid > 0; {
			pid, _ = syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
		}
	}
}

// descendants returns the running processes below this one, each after its parent. If a shell got a
// signal after its child, it would report how the child ended instead of its own end. A process
// whose parent has ended is a child of this one.
func descendants() []int {
	children := map[int][]int{}
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if state, rest := status(pid); len(rest) > 0 && !ended(state, rest) {
			parent, _ := strconv.Atoi(rest[0])
			children[parent] = append(children[parent], pid)
		}
	}
	below := children[os.Getpid()]
	for i := 0; i < len(below); i++ {
		below = append(below, children[below[i]]...)
	}
	return below
}
