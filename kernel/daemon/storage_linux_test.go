package daemon_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"org-agent/kernel/daemon"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// fileLimit bounds the size of the files that a process writes: a disk that is
// full as far as it can see.
func fileLimit(t *testing.T, pid int, bytes uint64) {
	t.Helper()
	const resourceFileSize = 1 // RLIMIT_FSIZE
	limit := syscall.Rlimit{Cur: bytes, Max: ^uint64(0)}
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), resourceFileSize, uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
	if errno != 0 {
		t.Fatal(errno)
	}
}

// On a full disk a message is refused with words that say what to do, a turn
// that runs waits, the kernel lives, and with space everything goes on.
func TestFullDisk(t *testing.T) {
	full, isFull := held(t)
	in := newInstance(t,
		llmtest.Exchange{Match: "^slow", Reply: insertion(`* Late\nbut there`), Chunk: 4, Fault: llmtest.Fault{HangAfter: -1, Until: full}},
		llmtest.Exchange{Reply: insertion("Hello"), Times: -1})
	p := in.spawn(t)
	e := in.editor(t, rpctest.Config{})
	if got := ask(t, e, "q1", "hi"); got.state != "answered" {
		t.Fatalf("the turn ended %+v", got)
	}
	sent, err := e.Send(within(t), "q2", "slow")
	if err != nil {
		t.Fatal(err)
	}
	fileLimit(t, p.Process.Pid, 1)
	_, err = e.Send(within(t), "q3", "into the full disk")
	if protocol.ErrorCode(err) != protocol.CodeStorage || !strings.Contains(err.Error(), "send again") {
		t.Errorf("the message was refused with %v", err)
	}
	isFull()
	see(t, e, "the notice", func() bool { return strings.Contains(strings.Join(e.Notices(), "\n"), "disk") })
	fileLimit(t, p.Process.Pid, ^uint64(0))
	if finished, err := e.WaitTurn(within(t), sent.Turn); err != nil || finished.State != protocol.TurnAnswered {
		t.Errorf("the turn that waited ended %+v, %v", finished, err)
	}
	if got := ask(t, e, "q3", "into the full disk"); got.state != "answered" {
		t.Errorf("sent again, the turn ended %+v", got)
	}
	wantBare(t, e, "* hi\n** Hello\n* slow\n** Late\nbut there\n* into the full disk\n** Hello\n* ")
	converged(t, in, e)
}

// A conversation's file that cannot be written is said to be so, to the clients and in the status. It is
// written as soon as that is possible, without another message.
func TestConversationFileThatCannotBeWritten(t *testing.T) {
	in := newInstance(t, llmtest.Exchange{Reply: insertion("Hello"), Times: -1})
	in.start(t)
	file := in.mainFile()
	if err := os.MkdirAll(filepath.Join(file, "in the way"), 0o755); err != nil {
		t.Fatal(err)
	}
	e := in.editor(t, rpctest.Config{Name: "no keeper"})
	for _, id := range []string{"one", "two"} {
		if got := ask(t, e, id, id); got.state != "answered" {
			t.Errorf("the turn ended %+v", got)
		}
	}
	if notices := strings.Join(e.Notices(), "\n"); strings.Count(notices, "nothing is lost") != 1 || !strings.Contains(notices, "main.org") {
		t.Errorf("people are told %q", notices)
	}
	faults := func() string {
		var status protocol.StatusResult
		if err := e.Call(within(t), protocol.MethodStatus, protocol.Empty{}, &status); err != nil {
			t.Fatal(err)
		}
		return strings.Join(status.Faults, "\n")
	}
	if !strings.Contains(faults(), "main.org") {
		t.Errorf("the status says %q", faults())
	}
	if err := os.RemoveAll(file); err != nil {
		t.Fatal(err)
	}
	until(t, "the file", func() bool {
		return bare(in.conversation(t, "main")) == "* one\n** Hello\n* two\n** Hello\n"
	})
	see(t, e, "the notice", func() bool { return strings.Contains(strings.Join(e.Notices(), "\n"), "is written again") })
	if faults() != "" {
		t.Errorf("the status says %q", faults())
	}
}

// A home that cannot be written is an error that names it. Somebody who is not
// root meets the mode of the directory; root, who does not, a file in its place.
func TestHomeThatCannotBeWritten(t *testing.T) {
	in := newInstance(t)
	if os.Getuid() == 0 {
		out, can := spawnAsNobody(t, in)
		if can && (!strings.Contains(out, in.paths.Home) || !strings.Contains(out, "permission denied")) {
			t.Errorf("nobody's kernel says %q", out)
		}
	} else if err := os.Mkdir(in.paths.Home, 0o500); err != nil {
		t.Fatal(err)
	}
	if os.Getuid() == 0 {
		if err := os.WriteFile(in.paths.Home, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	k, err := in.tryStart(daemon.Config{})
	if err == nil {
		_ = k.end()
		t.Fatal("the kernel runs")
	}
	if !strings.Contains(err.Error(), in.paths.Home) {
		t.Errorf("the kernel says %v", err)
	}
}

// spawnAsNobody runs the kernel as a user who may not write the home, and returns
// what it says. The root of some containers cannot become anybody else.
func spawnAsNobody(t *testing.T, in *instance) (said string, can bool) {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	binary, err := os.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	directory, err := os.MkdirTemp("", "oa")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(directory) })
	public := filepath.Join(directory, "kernel")
	if err := os.Chmod(directory, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(public, binary, 0o755); err != nil {
		t.Fatal(err)
	}
	kernel := exec.CommandContext(within(t), public)
	kernel.Env = []string{kernelVariable + "=1", "GOCOVERDIR=" + directory, "ORG_AGENT_LLM=builtin"}
	for _, name := range []string{"HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"} {
		kernel.Env = append(kernel.Env, name+"="+in.variables[name])
	}
	kernel.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := kernel.CombinedOutput()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EINVAL) {
		return "", false
	}
	if err == nil {
		t.Error("nobody's kernel runs")
	}
	return string(out), true
}
