package files

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Unsaved reports whether an Emacs has changes of a file that it has not saved: then its lock
// stands beside the file, a link to USER@HOST.PROCESS:BOOT that leads nowhere. One that a dead
// process of this machine left does not count.
func Unsaved(path string) bool {
	owner, err := os.Readlink(filepath.Join(filepath.Dir(path), ".#"+filepath.Base(path)))
	if err != nil {
		return false
	}
	owner, _, _ = strings.Cut(owner, ":")
	at, point := strings.LastIndexByte(owner, '@'), strings.LastIndexByte(owner, '.')
	if at < 0 || point < at {
		return false
	}
	process, err := strconv.Atoi(owner[point+1:])
	if err != nil || process <= 0 {
		return false
	}
	if host, err := os.Hostname(); err != nil || host != owner[at+1:point] {
		return true // who holds it is on another machine, and may live
	}
	return syscall.Kill(process, 0) != syscall.ESRCH
}
