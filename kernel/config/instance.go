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

// Same reports whether two contents are of the same kernel at the same socket.
func (k KernelInfo) Same(other KernelInfo) bool {
	return k.PID == other.PID && k.Socket == other.Socket && k.Started.Equal(other.Started)
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
