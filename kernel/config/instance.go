package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"org-agent/kernel/atomicfile"
)

// KernelInfo is the content of kernel.json, in which clients find the running kernel.
type KernelInfo struct {
	PID     int       `json:"pid"`
	Socket  string    `json:"socket"`
	Version string    `json:"version"`
	Home    string    `json:"home"`
	Started time.Time `json:"started"`
}

// WriteKernelInfo replaces kernel.json in one step.
func WriteKernelInfo(path string, info KernelInfo) error {
	content, err := json.MarshalIndent(info, "", "  ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return atomicfile.Write(path, append(content, '\n'), 0o600)
}

// ReadKernelInfo reads kernel.json. The kernel it names may have ended: see [KernelInfo.Alive].
func ReadKernelInfo(path string) (KernelInfo, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return KernelInfo{}, fmt.Errorf("find the running kernel: %w", err)
	}
	var info KernelInfo
	if err := json.Unmarshal(content, &info); err != nil {
		return KernelInfo{}, fmt.Errorf("find the running kernel in %s: %w", path, err)
	}
	return info, nil
}

// Remove removes kernel.json if it is about this kernel. Another kernel may have written it since.
func (k KernelInfo) Remove(path string) {
	if now, err := ReadKernelInfo(path); err == nil && now.PID == k.PID && now.Started.Equal(k.Started) {
		_ = os.Remove(path) // a file that stays names a kernel that is not alive
	}
}

// Alive reports whether the kernel's process runs. Another process may have got its number since.
// Where Linux's /proc tells that this process began later, the kernel counts as alive only if its
// socket accepts connections.
func (k KernelInfo) Alive() bool {
	if k.PID <= 0 {
		return false
	}
	if err := syscall.Kill(k.PID, 0); err != nil && !errors.Is(err, syscall.EPERM) {
		return false
	}
	began, known := processBegan(k.PID)
	if !known {
		return true
	}
	return !began.IsZero() && (!began.After(k.Started.Add(2*time.Second)) || listens(k.Socket))
}

// listens reports whether somebody accepts connections on a Unix socket.
func listens(socket string) bool {
	conn, err := net.DialTimeout("unix", socket, time.Second)
	if err != nil {
		return false
	}
	_ = conn.Close() // the connection was only a probe
	return true
}

// processBegan reads from /proc when a process began, to about a second. began is the zero time for
// a zombie. known is false where there is no Linux /proc.
func processBegan(pid int) (began time.Time, known bool) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return time.Time{}, false
	}
	_, after, _ := strings.Cut(string(status[max(0, bytes.LastIndexByte(status, ')')):]), " ")
	fields := strings.Fields(after) // from the third field on, which is the state
	if len(fields) < 20 {
		return time.Time{}, false
	}
	if fields[0] == "Z" || fields[0] == "X" {
		return time.Time{}, true
	}
	ticks, err := strconv.ParseInt(fields[19], 10, 64) // hundredths of a second since the system started
	if err != nil {
		return time.Time{}, false
	}
	system, err := os.ReadFile("/proc/stat")
	if err != nil {
		return time.Time{}, false
	}
	for line := range strings.Lines(string(system)) {
		if value, ok := strings.CutPrefix(line, "btime "); ok {
			seconds, err := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			return time.Unix(seconds, 0).Add(time.Duration(ticks) * 10 * time.Millisecond), err == nil
		}
	}
	return time.Time{}, false
}

// Lock is the right to be the kernel of an instance. The system releases it when the process ends.
//
// It is two locks: on a file of the state directory, and on the home. With the first alone a kernel whose
// state directory was removed would soon have another one beside it.
type Lock struct{ state, home *os.File }

// lockTimeout is how long LockInstance waits for a kernel that is ending.
const lockTimeout = 3 * time.Second

// LockInstance takes the lock of the instance, whose state directory must exist. If a running
// kernel holds it, the error names that kernel. LockInstance waits up to three seconds for a kernel
// that is starting or ending.
func LockInstance(paths Paths) (*Lock, error) {
	state, err := os.OpenFile(paths.Lock, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("lock the instance: %w", err)
	}
	taken, err := lock(state, paths)
	if err == nil && !taken {
		err = heldBy(paths)
	}
	if err != nil {
		return nil, errors.Join(err, state.Close())
	}
	home, err := os.Open(paths.Home)
	if err != nil {
		return &Lock{state: state}, nil // the doctor looks at homes that are gone
	}
	if taken, err := lock(home, paths); err == nil && !taken { // an error means that the file system cannot lock directories
		return nil, errors.Join(fmt.Errorf("a kernel with another state directory, or with one that was removed, runs for %s: "+
			"end it (it is an \"org-agent serve\" among the processes), and start again", paths.Home), state.Close(), home.Close())
	}
	return &Lock{state: state, home: home}, nil
}

// lock locks a file or a directory, and waits for a kernel that is starting or ending. taken is false if a
// running kernel holds the lock.
func lock(file *os.File, paths Paths) (taken bool, err error) {
	for deadline := time.Now().Add(lockTimeout); ; time.Sleep(10 * time.Millisecond) {
		err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return true, nil
		}
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			return false, fmt.Errorf("lock %s: %w", file.Name(), err)
		}
		info, err := ReadKernelInfo(paths.KernelJSON)
		if err == nil && info.Alive() || time.Now().After(deadline) {
			return false, nil
		}
	}
}

// heldBy returns an error that says which kernel holds the lock.
func heldBy(paths Paths) error {
	info, err := ReadKernelInfo(paths.KernelJSON)
	if err != nil || !info.Alive() {
		return fmt.Errorf("another kernel is starting or ending for %s: wait a moment and look with \"org-agent status\"", paths.Home)
	}
	return fmt.Errorf("a kernel runs for %s already: process %d, version %s, since %s, at %s; use it, or end it with \"org-agent stop\"",
		paths.Home, info.PID, info.Version, info.Started.Local().Format("2006-01-02 15:04"), info.Socket)
}

// Release gives the lock back. It does not remove the file: a new file in its place would be
// another lock.
func (l *Lock) Release() error {
	err := l.state.Close()
	if l.home != nil {
		err = errors.Join(err, l.home.Close())
	}
	if err != nil {
		return fmt.Errorf("release the lock: %w", err)
	}
	return nil
}
