package sandbox_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"org-agent/kernel/sandbox"
)

// The test binary is also the warden of the commands that the tests start, the program that tries
// to leave a fence, and a kernel that dies.
func TestMain(m *testing.M) {
	sandbox.Main()
	if len(os.Args) > 1 && os.Args[1] == "attempt" {
		for _, what := range os.Args[2:] {
			fmt.Printf("%s\t%s\n", what, attempt(what))
		}
		os.Exit(0)
	}
	if len(os.Args) > 1 && os.Args[1] == "main-thread-ends" {
		endMainThread()
	}
	if len(os.Args) > 5 && os.Args[1] == "doomed" {
		os.Exit(runUntilKilled(os.Args[2], os.Args[3], os.Args[4], os.Args[5]))
	}
	goleak.VerifyTestMain(m)
}

// endMainThread ends the main thread of this process. The other threads never end.
func endMainThread() {
	for {
		go func() {
			runtime.LockOSThread()
			if unix.Gettid() == unix.Getpid() {
				_, _, _ = syscall.Syscall(unix.SYS_EXIT, 0, 0, 0)
			}
			select {}
		}()
		time.Sleep(time.Millisecond)
	}
}

// attempt does one thing that a command must not do, and says "done" or why not.
func attempt(what string) string {
	kind, object, _ := strings.Cut(what, "=")
	var err error
	switch kind {
	case "unix", "tcp", "udp":
		err = dial(kind, object)
	case "mptcp":
		err = multipath(object)
	case "read":
		var text []byte
		if text, err = os.ReadFile(object); err == nil && len(text) == 0 {
			err = fmt.Errorf("it is empty")
		}
	case "list":
		var entries []os.DirEntry
		if entries, err = os.ReadDir(object); err == nil && len(entries) == 0 {
			err = fmt.Errorf("it is empty")
		}
	case "write":
		err = os.WriteFile(object, []byte("mine"), 0o600)
	case "append":
		var file *os.File
		if file, err = os.OpenFile(object, os.O_WRONLY|os.O_APPEND, 0); err == nil {
			err = file.Close()
		}
	case "rename":
		err = os.Rename(object, object+".moved")
	case "signal", "trace", "memory":
		err = disturb(kind, object)
	case "mount":
		err = unix.Mount("tmpfs", object, "tmpfs", 0, "")
	case "unmount":
		err = unix.Unmount(object, unix.MNT_DETACH)
	case "writable":
		err = unix.Mount("", object, "", unix.MS_REMOUNT|unix.MS_BIND, "")
	case "namespace":
		command := exec.Command("/bin/true")
		command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWUSER | unix.CLONE_NEWNS}
		err = command.Run()
	case "device":
		if err = unix.Mknod(object, unix.S_IFBLK|0o600, int(unix.Mkdev(254, 0))); err == nil {
			_, err = os.ReadFile(object)
		}
	case "root":
		err = unix.Chroot(object)
	case "keys":
		_, err = unix.KeyctlSearch(unix.KEY_SPEC_SESSION_KEYRING, "user", object, 0)
	case "variable":
		if _, there := os.LookupEnv(object); !there {
			err = fmt.Errorf("it is not set")
		}
	default:
		err = try(kind, object)
	}
	if err != nil {
		return err.Error()
	}
	return "done"
}

func dial(network, address string) error {
	conn, err := net.DialTimeout(network, address, 30*time.Second)
	if err != nil {
		return err
	}
	defer conn.Close()
	if network == "udp" { // the packet is answered if it arrives
		if _, err = conn.Write([]byte("x")); err == nil {
			_ = conn.SetReadDeadline(time.Now().Add(10 * time.Second))
			_, err = conn.Read(make([]byte, 1))
		}
	}
	return err
}

// multipath connects by MPTCP, which Landlock's rules for TCP do not cover.
func multipath(address string) error {
	dialer := net.Dialer{Timeout: 30 * time.Second}
	dialer.SetMultipathTCP(true)
	conn, err := dialer.Dial("tcp", address)
	if err != nil {
		return err
	}
	return conn.Close()
}

// disturb does something to the process with such an argument. It searches for the process, because
// its number cannot be known.
func disturb(how, argument string) error {
	pid := -1
	for _, p := range processesWith(argument) {
		if p != os.Getpid() && p != os.Getppid() {
			pid = p
		}
	}
	if pid < 0 {
		return fmt.Errorf("no process is seen")
	}
	switch how {
	case "signal":
		return syscall.Kill(pid, syscall.SIGCONT)
	case "trace":
		runtime.LockOSThread()
		if err := unix.PtraceAttach(pid); err != nil {
			return err
		}
		if _, err := unix.Wait4(pid, nil, 0, nil); err != nil {
			return err
		}
		return unix.PtraceDetach(pid)
	}
	file, err := os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return file.Close()
}

// processesWith returns the processes that have this argument.
func processesWith(argument string) []int {
	var found []int
	names, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, name := range names {
		line, err := os.ReadFile(name)
		if err != nil || !slices.Contains(strings.Split(string(line), "\x00"), argument) {
			continue
		}
		var pid int
		fmt.Sscanf(name, "/proc/%d/cmdline", &pid)
		if state, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil && !bytes.Contains(state, []byte(") Z ")) {
			found = append(found, pid)
		}
	}
	return found
}

// runUntilKilled starts a command, which can write in directory if there is one, and waits until
// this process is killed.
func runUntilKilled(kind, text, directory, note string) int {
	p, err := sandbox.Start(context.Background(), sandbox.Kind(kind), sandbox.Command{
		Text: text, Home: "/root", Directory: directory, Writes: directory != "", Note: note, Environment: os.Getenv,
	}, nil, os.Stdout)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	_, _ = p.Wait()
	return 0
}

// look returns the kind of fence of this system. If it has no namespaces, look checks the reason,
// and that a command runs all the same: the kernel asks about each command there. The tests of the
// fence then end.
func look(t testing.TB) sandbox.Kind {
	t.Helper()
	kind, why := sandbox.Probe(t.Context())
	if !kind.Fenced() {
		refused := func(how string) bool { return strings.Contains(why.Error(), how) }
		if !slices.ContainsFunc([]string{"not permitted", "permission denied", "no space left"}, refused) { // or there are no more of them
			t.Fatalf("no fence can be made: %v", why)
		}
		if output, outcome := run(t, kind, sandbox.Command{Text: "echo runs"}); output != "runs\n" {
			t.Errorf("without a fence: %q, %s", output, outcome)
		}
	}
	return kind
}

// run runs a command to its end and returns what it wrote.
func run(t testing.TB, kind sandbox.Kind, c sandbox.Command) (string, sandbox.Outcome) {
	t.Helper()
	output, err := os.CreateTemp(t.TempDir(), "output")
	if err != nil {
		t.Fatal(err)
	}
	defer output.Close()
	if c.Environment == nil {
		c.Environment = os.Getenv
	}
	p, err := sandbox.Start(t.Context(), kind, c, nil, output)
	if err != nil {
		t.Fatal(err)
	}
	outcome, err := p.Wait()
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(output.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text), outcome
}

// resolved returns a temporary directory by its real name.
func resolved(t testing.TB) string {
	t.Helper()
	directory, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return directory
}

// quoted returns a word for the shell.
func quoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// eventually waits until is returns true.
func eventually(t testing.TB, what string, is func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within a minute: %s", what)
		}
	}
}
