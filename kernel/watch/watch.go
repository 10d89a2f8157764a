// Package watch tells when the files of some directories have changed and gone quiet.
//
// It knows nothing of what is in them: whoever watches says which names concern it, and
// catches up by comparing what is there with what it knew, since one call may stand for many
// changes or, after a change that was undone, for none.
package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"time"

	"github.com/fsnotify/fsnotify"
)

// A Watch is what is watched, and what is done about it. It is run by [Watch.Follow].
type Watch struct {
	// Of names what is watched, for errors and the log: "the notes".
	Of string
	// Above is the directory that must be there; it is watched too.
	Above string
	// Directories returns the directories to watch below Above or elsewhere. It is called
	// before each CatchUp; one that is absent is taken in when it is there at a later call.
	Directories func() []string
	// Concerns reports whether a change of the file path, or of its mode, matters.
	Concerns func(path string) bool
	// CatchUp is called once when Follow begins, and each time changes that matter have
	// gone quiet; never twice at a time. Unless it returns 0, it is called again after
	// that time.
	CatchUp func(context.Context) (again time.Duration)
	// A change is taken up when nothing more has happened for Quiet, at the latest after
	// Patience: editors save in several steps, and a directory is copied file by file.
	Quiet, Patience time.Duration
	// Logger is told what cannot be watched, once for each directory, and when the system
	// lost changes. It must not be nil.
	Logger *slog.Logger

	watcher *fsnotify.Watcher
	told    map[string]bool // the directories that cannot be watched
}

// Follow blocks until the context ends and then returns nil. An error means that changes
// are not seen.
func (w *Watch) Follow(ctx context.Context) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch %s: %w", w.Of, err)
	}
	defer func() { _ = watcher.Close() }() // nothing is lost by a watcher that does not close
	if err := watcher.Add(w.Above); err != nil {
		return fmt.Errorf("watch %s in %s: %w", w.Of, w.Above, err)
	}
	w.watcher, w.told = watcher, map[string]bool{}
	return w.wait(ctx)
}

// wait waits for changes and catches up with them.
func (w *Watch) wait(ctx context.Context) error {
	quiet := time.NewTimer(0) // what changed before the watch began
	defer quiet.Stop()
	var first time.Time // of the changes not caught up with; zero if none
	for {
		select {
		case <-ctx.Done():
			return nil
		case event, open := <-w.watcher.Events:
			if !open {
				return fmt.Errorf("watch %s: the watcher closed", w.Of)
			}
			if !w.Concerns(event.Name) {
				continue
			}
		case err, open := <-w.watcher.Errors:
			if !open {
				return fmt.Errorf("watch %s: the watcher closed", w.Of)
			}
			w.Logger.Warn("changes may have been missed", "of", w.Of, "err", err)
		case <-quiet.C:
			first = time.Time{}
			w.addAll()
			if again := w.CatchUp(ctx); again > 0 {
				quiet.Reset(again)
			}
			continue
		}
		if first.IsZero() {
			first = time.Now()
		}
		quiet.Reset(min(w.Quiet, max(w.Patience-time.Since(first), 0)))
	}
}

// addAll watches the directories that are there; one that is watched already stays so.
func (w *Watch) addAll() {
	for _, directory := range w.Directories() {
		err := w.watcher.Add(directory)
		if err == nil {
			delete(w.told, directory)
			continue
		}
		if !errors.Is(err, fs.ErrNotExist) && !w.told[directory] {
			w.told[directory] = true
			w.Logger.Warn("a directory is not watched: reload after a change in it", "of", w.Of, "directory", directory, "err", err)
		}
	}
}
