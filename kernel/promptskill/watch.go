package promptskill

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// A change is taken up when nothing more has happened for quietTime, at the latest after
// patience: editors save in several steps, and a directory is copied file by file.
const (
	quietTime = 50 * time.Millisecond
	patience  = 500 * time.Millisecond
)

// Watch keeps what counts as the home's skills and its config.org are: it blocks until the
// context ends and then returns nil. The home's skills may be absent; the directory they
// are in must not be. An error means that changes are not seen: call Load after one.
func (r *Registry) Watch(ctx context.Context) error {
	if r.config.Home == "" {
		<-ctx.Done()
		return nil
	}
	home, err := filepath.Abs(r.config.Home)
	if err != nil {
		return fmt.Errorf("watch the skills: %w", err)
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch the skills in %s: %w", home, err)
	}
	defer func() { _ = watcher.Close() }() // nothing is lost by a watcher that does not close
	if err := watcher.Add(filepath.Dir(home)); err != nil {
		return fmt.Errorf("watch the directory of %s: %w", home, err)
	}
	w := &watch{registry: r, watcher: watcher, home: home}
	w.addAll()
	return w.follow(ctx)
}

// watch is one Watch.
type watch struct {
	registry *Registry
	watcher  *fsnotify.Watcher
	home     string
	told     bool // that directories cannot be watched
}

// addAll watches the home's skills and each directory there; one that is watched already
// stays so.
func (w *watch) addAll() {
	w.add(w.home)
	names, _ := origin{directory: w.home}.list() // Load has told why they cannot be listed
	for _, name := range names {
		w.add(filepath.Join(w.home, name))
	}
}

func (w *watch) add(directory string) {
	if info, err := os.Stat(directory); err != nil || !info.IsDir() {
		return
	}
	if err := w.watcher.Add(directory); err != nil && !errors.Is(err, os.ErrNotExist) && !w.told {
		w.told = true
		w.registry.config.Logger.Warn("not every skill is watched: reload them after a change", "directory", directory, "err", err)
	}
}

// follow waits for changes and catches up with them.
func (w *watch) follow(ctx context.Context) error {
	quiet := time.NewTimer(0) // what changed before the watch began
	defer quiet.Stop()
	var first time.Time // of the changes not caught up with; zero if none
	for {
		select {
		case <-ctx.Done():
			return nil
		case event, open := <-w.watcher.Events:
			if !open {
				return errors.New("watch the skills: the watcher closed")
			}
			if !w.concerns(event) {
				continue
			}
		case err, open := <-w.watcher.Errors:
			if !open {
				return errors.New("watch the skills: the watcher closed")
			}
			w.registry.config.Logger.Warn("changes of skills may have been missed", "err", err)
		case <-quiet.C:
			first = time.Time{}
			w.addAll()
			w.registry.Load(ctx)
			continue
		}
		if first.IsZero() {
			first = time.Now()
		}
		quiet.Reset(min(quietTime, max(patience-time.Since(first), 0)))
	}
}

// concerns reports whether an event may change what counts: of the directory above, only
// the skills and the settings do.
func (w *watch) concerns(event fsnotify.Event) bool {
	if event.Op == fsnotify.Chmod {
		return false
	}
	switch filepath.Dir(event.Name) {
	case filepath.Dir(w.home):
		return event.Name == w.home || filepath.Base(event.Name) == "config.org"
	case w.home:
		return mayBeSkill(filepath.Base(event.Name))
	}
	return filepath.Base(event.Name) == FileName
}
