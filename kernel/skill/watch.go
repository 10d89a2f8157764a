package skill

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"org-agent/kernel/watch"
)

// A note is taken up when its file has been quiet for quietTime, at the latest after
// patience: editors save in several steps, and some write twice. It is gone when its file is
// missing for goneTime.
const (
	quietTime = 20 * time.Millisecond
	patience  = 200 * time.Millisecond
	goneTime  = 300 * time.Millisecond
)

// Watch keeps the home's notes live as they change: it reloads a note that was saved,
// takes in a new one and drops one that was deleted. It blocks until the context ends and
// then returns nil. The home's notes directory may be absent; the directory it is in must
// not be. An error means that changes are not seen: call Load after saving.
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
		Patience: patience,
	}
	return w.Follow(ctx)
}

// catchUp loads the notes whose text is not what was loaded last. It returns when it has to
// be called again, because a note's file is missing.
func (r *Registry) catchUp(ctx context.Context) (again time.Duration) {
	r.loading.Lock()
	defer r.loading.Unlock()
	if r.refresh(ctx, false) {
		return goneTime
	}
	return 0
}
