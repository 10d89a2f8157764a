package files

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// Unsaved reports whether an Emacs has unsaved changes of a file. Emacs marks them by a link beside
// the file that names USER@HOST.PROCESS:BOOT. A link counts only as long as its process runs, if
// that is a process of this machine.
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
		return true // its owner is on another machine and may still run
	}
	return syscall.Kill(process, 0) != syscall.ESRCH
}
