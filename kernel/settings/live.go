package settings

import (
	"context"
	"log/slog"
	"reflect"
	"sync"
	"sync/atomic"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/watch"
)

// vanished is how long config.org must set nothing before that counts, if it set something before.
// Some editors remove a file, or empty it, for a moment when they save it.
const vanished = time.Second

// Live holds the settings of config.org while the kernel runs. It is safe for many goroutines.
type Live struct {
	paths config.Paths
	last  atomic.Pointer[config.Settings]

	mu      sync.Mutex
	emptied time.Time // since when the file sets nothing, which does not count yet; zero otherwise
}

// NewLive returns the settings of an instance. started are those that it read at its start.
func NewLive(paths config.Paths, started config.Settings) *Live {
	l := &Live{paths: paths}
	l.last.Store(&started)
	return l
}

// Now reads config.org and returns its settings. If the file cannot be read, or has set nothing for
// less than a second, it returns those of the last successful reading.
func (l *Live) Now() config.Settings {
	l.mu.Lock() // before the file is read, so that no older reading replaces a newer one
	defer l.mu.Unlock()
	settings, err := config.Load(l.paths)
	switch {
	case err != nil:
	case setsNothing(settings) && !setsNothing(l.Last()):
		if l.emptied.IsZero() {
			l.emptied = time.Now()
		}
		if time.Since(l.emptied) < vanished {
			break
		}
		fallthrough
	default:
		l.emptied = time.Time{}
		l.last.Store(&settings)
	}
	return l.Last()
}

func setsNothing(settings config.Settings) bool {
	return reflect.DeepEqual(settings, config.Settings{})
}

// Last returns the settings of the last successful reading. It reads nothing.
func (l *Live) Last() config.Settings { return *l.last.Load() }

// Faults returns the faults of the current config.org, for people.
func (l *Live) Faults() []string {
	now, err := config.Load(l.paths)
	if err != nil {
		return []string{err.Error() + "; the settings of the last successful reading stay in force"}
	}
	var faults []string
	for _, fault := range now.Diagnostics {
		faults = append(faults, fault.String())
	}
	return faults
}

// Follow calls changed after each change of config.org, until ctx ends. A watcher is shared
// with others; nil: it has its own.
func (l *Live) Follow(ctx context.Context, watcher *watch.Watcher, logger *slog.Logger, changed func()) error {
	w := watch.Watch{
		Of: "the settings", Above: l.paths.Home, Quiet: 100 * time.Millisecond, MaxDelay: 500 * time.Millisecond, Logger: logger, Watcher: watcher,
		Directories: func() []string { return nil },
		Concerns:    func(path string) bool { return path == l.paths.Config },
		CatchUp: func(context.Context) time.Duration {
			changed()
			return l.untilEmpty()
		},
	}
	return w.Follow(ctx)
}

// untilEmpty returns after what time a file that sets nothing counts, and 0 if there is no such file.
func (l *Live) untilEmpty() time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.emptied.IsZero() {
		return 0
	}
	return max(vanished-time.Since(l.emptied), time.Millisecond)
}
