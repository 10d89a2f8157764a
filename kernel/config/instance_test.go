package config_test

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/config"
)

func TestToken(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	_, err := config.ReadToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	token, err := config.LoadOrCreateToken(path)
	must(t, err)
	if !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(string(token)) {
		t.Errorf("a token of %d characters", len(token))
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if again, err := config.LoadOrCreateToken(path); err != nil || again != token {
		t.Errorf("another token the second time, %v", err)
	}

	must(t, os.Chmod(path, 0o640))
	_, err = config.ReadToken(path)
	wantError(t, err, "others can read it", "restart the kernel")
	if again, err := config.LoadOrCreateToken(path); err != nil || again == token {
		t.Errorf("a token that others could read is used on, %v", err)
	}
	must(t, os.WriteFile(path, []byte("short\n"), 0o600))
	_, err = config.ReadToken(path)
	wantError(t, err, "holds no token")
	if strings.Contains(err.Error(), "short") {
		t.Errorf("the error shows the file: %v", err)
	}
	if again, err := config.LoadOrCreateToken(path); err != nil || len(again) != 64 {
		t.Errorf("after a damaged one: %v", err)
	}
	if entries, err := os.ReadDir(filepath.Dir(path)); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestOneKernelAtATime(t *testing.T) {
	t.Parallel()
	p := instance(t)
	must(t, p.Ensure())
	lock, err := config.LockInstance(p)
	must(t, err)
	_, err = config.LockInstance(p)
	wantError(t, err, "another kernel is starting or ending for "+p.Home)

	info := config.KernelInfo{PID: os.Getpid(), Socket: p.Socket, Version: "1.2", Home: p.Home, Started: time.Now()}
	must(t, config.WriteKernelInfo(p.KernelJSON, info))
	_, err = config.LockInstance(p)
	wantError(t, err, fmt.Sprintf("process %d, version 1.2, since ", os.Getpid()), p.Socket, `"org-agent stop"`)

	must(t, lock.Release())
	lock, err = config.LockInstance(p)
	must(t, err)
	must(t, lock.Release())
	_, err = config.LockInstance(config.Paths{Lock: filepath.Join(p.Home, "none", "lock")})
	wantError(t, err, "lock the instance")
}

// TestOneKernelOfAHome: a kernel whose state directory was removed keeps its home, also from a kernel with
// another state directory, and what it removes at its end is its own.
func TestOneKernelOfAHome(t *testing.T) {
	t.Parallel()
	p := instance(t)
	must(t, p.Ensure())
	lock, err := config.LockInstance(p)
	must(t, err)
	must(t, os.RemoveAll(p.State))
	must(t, p.Ensure())
	_, err = config.LockInstance(p)
	wantError(t, err, "a kernel with another state directory, or with one that was removed, runs for "+p.Home)
	must(t, lock.Release())
	lock, err = config.LockInstance(p)
	must(t, err)
	must(t, lock.Release())

	former := config.KernelInfo{PID: 1, Started: time.Now()}
	now := config.KernelInfo{PID: os.Getpid(), Started: time.Now(), Home: p.Home}
	must(t, config.WriteKernelInfo(p.KernelJSON, now))
	former.Remove(p.KernelJSON)
	if got, err := config.ReadKernelInfo(p.KernelJSON); err != nil || got.PID != now.PID {
		t.Errorf("the kernel that ended left %+v, %v", got, err)
	}
	now.Remove(p.KernelJSON)
	if _, err := config.ReadKernelInfo(p.KernelJSON); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file stays: %v", err)
	}
}

func TestKernelInfo(t *testing.T) {
	p := instance(t)
	must(t, p.Ensure())
	_, err := config.ReadKernelInfo(p.KernelJSON)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	info := config.KernelInfo{PID: os.Getpid(), Socket: p.Socket, Version: "1", Home: p.Home, Started: time.Now().UTC().Truncate(time.Second)}
	must(t, config.WriteKernelInfo(p.KernelJSON, info))
	got, err := config.ReadKernelInfo(p.KernelJSON)
	if err != nil || got != info {
		t.Errorf("%+v, %v", got, err)
	}
	must(t, os.WriteFile(p.KernelJSON, []byte("{"), 0o600))
	_, err = config.ReadKernelInfo(p.KernelJSON)
	wantError(t, err, p.KernelJSON)
}

func TestAlive(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "kernel.sock")
	me := config.KernelInfo{PID: os.Getpid(), Socket: socket, Started: time.Now()}
	if !me.Alive() {
		t.Error("this process runs")
	}
	if (config.KernelInfo{Started: time.Now()}).Alive() {
		t.Error("nobody is alive")
	}

	// A kernel died, and later this process got its number.
	old := config.KernelInfo{PID: os.Getpid(), Socket: socket, Started: time.Now().Add(-24 * time.Hour)}
	if old.Alive() {
		t.Error("alive, only because its process id is in use")
	}
	listener, err := net.Listen("unix", socket)
	must(t, err)
	if !old.Alive() {
		t.Error("somebody listens: the clock was wrong when it started")
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	must(t, listener.Close())
	if old.Alive() {
		t.Error("alive, only because the socket's file is there")
	}

	child := exec.Command("cat")
	input, err := child.StdinPipe()
	must(t, err)
	must(t, child.Start())
	dying := config.KernelInfo{PID: child.Process.Pid, Socket: socket, Started: time.Now()}
	if !dying.Alive() {
		t.Error("the child runs")
	}
	must(t, input.Close())
	for range 6000 {
		if !dying.Alive() { // it has ended, and nobody has waited for it yet
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if dying.Alive() {
		t.Error("alive, only because its parent has not looked")
	}
	must(t, child.Wait())
	if dying.Alive() {
		t.Error("alive after its end")
	}
}
