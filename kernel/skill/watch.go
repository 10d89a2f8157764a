package skill

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"org-agent/kernel/watch"
)

// A changed note is loaded when its file has been unchanged for quietTime, or at the latest after
// maxDelay, because editors save in several steps. It is dropped when its file has been missing for
// goneTime.
const (
	quietTime = 20 * time.Millisecond
	maxDelay  = 200 * time.Millisecond
	goneTime  = 300 * time.Millisecond
)

// Watch loads the home's notes as they change. It reloads a saved note, adds a new one and drops a
// deleted one. It blocks until the context ends and then returns nil. The home's notes directory
// may be missing, but its parent directory must exist. An error means that changes are not seen;
// the caller must then call Load after each change.
func (r *Registry) Watch(ctx context.Context) error {
	if r.config.Home == "" {
		<-ctx.Done()
		return nil
	}
	home, err := filepath.Abs(r.config.Home)
	if err != nil {
		return fmt.Errorf("watch the notes: %w", err)
	}
	w := watch.Watch{
		Of:     "the notes",
		Above:  filepath.Dir(home),
		Quiet:  quietTime,
		Logger: r.config.Logger,
		Directories: func() []string {
			directories := []string{home}
			if policy, linked := r.config.Grants.behindLink(); linked {
				directories = append(directories, filepath.Dir(policy))
			}
			return directories
		},
		Concerns: func(path string) bool {
			return path == home || filepath.Dir(path) == home && isNote(filepath.Base(path)) || r.config.Grants.isPolicy(path)
		},
		CatchUp:  r.catchUp,
		Watcher:  r.config.Watcher,
		MaxDelay: maxDelay,
	}
	return w.Follow(ctx)
}

// catchUp loads the notes whose text has changed since they were loaded. If again is not 0, a
// note's file is missing and catchUp must be called again after that time.
func (r *Registry) catchUp(ctx context.Context) (again time.Duration) {
	r.loading.Lock()
	defer r.loading.Unlock()
	if r.refresh(ctx, false) {
		return goneTime
	}
	return 0
}
