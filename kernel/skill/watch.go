package skill

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Editors save in several steps, and some write twice. A change is taken up when nothing
// more has happened for quietTime, at the latest after patience.
// A note is gone when its file is missing for goneTime.
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
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch the notes in %s: %w", home, err)
	}
	defer func() { _ = watcher.Close() }() // nothing is lost by a watcher that does not close
	if err := watcher.Add(filepath.Dir(home)); err != nil {
		return fmt.Errorf("watch the directory of %s: %w", home, err)
	}
	if err := watchIfThere(watcher, home); err != nil {
		return err
	}
	return r.follow(ctx, watcher, home)
}

func watchIfThere(watcher *fsnotify.Watcher, home string) error {
	if err := watcher.Add(home); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("watch the notes in %s: %w", home, err)
	}
	return nil
}

// watchPolicy watches the directory that policy.org is really in, where it is a link.
func (r *Registry) watchPolicy(watcher *fsnotify.Watcher) {
	path, linked := r.config.Grants.behindLink()
	if !linked {
		return
	}
	if err := watcher.Add(filepath.Dir(path)); err != nil {
		r.config.Logger.Warn("changes of grants count when a note is saved", "file", path, "err", err)
	}
}

// follow waits for changes and catches up with them.
func (r *Registry) follow(ctx context.Context, watcher *fsnotify.Watcher, home string) error {
	quiet := time.NewTimer(0) // what changed before the watch began
	defer quiet.Stop()
	var first time.Time // of the changes not caught up with; zero if none
	noticed := func() {
		if first.IsZero() {
			first = time.Now()
		}
		quiet.Reset(min(quietTime, max(patience-time.Since(first), 0)))
	}
	for {
		select {
		case <-ctx.Done():
			return nil
		case event, open := <-watcher.Events:
			if !open {
				return errors.New("watch the notes: the watcher closed")
			}
			if event.Name == home {
				if event.Has(fsnotify.Create) {
					if err := watchIfThere(watcher, home); err != nil {
						r.config.Logger.Error("notes are not watched", "err", err)
					}
				}
				noticed()
			} else if filepath.Dir(event.Name) == home && isNote(filepath.Base(event.Name)) || r.config.Grants.isPolicy(event.Name) {
				noticed()
			}
		case err, open := <-watcher.Errors:
			if !open {
				return errors.New("watch the notes: the watcher closed")
			}
			r.config.Logger.Warn("changes of notes may have been missed", "err", err)
			noticed()
		case <-quiet.C:
			first = time.Time{}
			r.watchPolicy(watcher)
			if r.catchUp(ctx) {
				quiet.Reset(goneTime)
			}
		}
	}
}

// catchUp loads the notes whose text is not what was loaded last. It reports whether it
// has to be called again, because a note's file is missing.
func (r *Registry) catchUp(ctx context.Context) bool {
	r.loading.Lock()
	defer r.loading.Unlock()
	return r.refresh(ctx, false)
}
