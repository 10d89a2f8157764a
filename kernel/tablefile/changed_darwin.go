package tablefile

import (
	"syscall"
	"time"
)

// statusChanged returns when the inode of a file was changed last.
func statusChanged(s *syscall.Stat_t) time.Time { return time.Unix(s.Ctimespec.Unix()) }
