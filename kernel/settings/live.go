package settings

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/watch"
)

// Live holds the settings of config.org while the kernel runs. It is safe for many goroutines.
type Live struct {
	paths   config.Paths
	started config.Settings
	last    atomic.Pointer[config.Settings]
}

// NewLive returns the settings of an instance. started are those that it read at its start.
func NewLive(paths config.Paths, started config.Settings) *Live {
	l := &Live{paths: paths, started: started}
	l.last.Store(&started)
	return l
}

// Now reads config.org and returns its settings. If the file cannot be read, it returns those of the
// last successful reading.
func (l *Live) Now() config.Settings {
	if settings, err := config.Load(l.paths); err == nil {
		l.last.Store(&settings)
	}
	return l.Last()
}

// Last returns the settings of the last successful reading. It reads nothing.
func (l *Live) Last() config.Settings { return *l.last.Load() }

// Faults returns the faults of the current config.org, for people. A change that takes effect only
// after a restart of the kernel counts as a fault. shown is the path of the file as people see it.
func (l *Live) Faults(shown string) []string {
	now, err := config.Load(l.paths)
	if err != nil {
		return []string{err.Error() + "; the settings of the last successful reading stay in force"}
	}
	var faults []string
	for _, fault := range now.Diagnostics {
		faults = append(faults, fault.String())
	}
	if late := l.started.StartChanges(now); len(late) > 0 {
		faults = append(faults, fmt.Sprintf("%s has changed, and of that %s counts from the next start of the kernel on: M-x org-agent-stop (or \"org-agent stop\") ends it, and your next message starts one", shown, strings.Join(late, ", ")))
	}
	return faults
}

// Follow calls changed after each change of config.org, until ctx ends. It fails at once if files
// cannot be watched.
func (l *Live) Follow(ctx context.Context, logger *slog.Logger, changed func()) error {
	w := watch.Watch{
		Of: "the settings", Above: l.paths.Home, Quiet: 20 * time.Millisecond, MaxDelay: 500 * time.Millisecond, Logger: logger,
		Directories: func() []string { return nil },
		Concerns:    func(path string) bool { return path == l.paths.Config },
		CatchUp: func(context.Context) time.Duration {
			changed()
			return 0
		},
	}
	return w.Follow(ctx)
}
