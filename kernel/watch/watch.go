// Package watch calls back when files in some directories have changed and no more changes follow.
//
// It does not know what the files are. The caller says which names matter, and compares the files
// with what it knew. One call may stand for many changes or, after a change that was undone, for
// none.
package watch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// A Watch is a set of directories, and what to do when they change. [Watch.Follow] runs it.
type Watch struct {
	// Of names the files in errors and in the log, such as "the notes".
	Of string
	// Above is a directory that must exist. It is watched too.
	Above string
	// Directories returns further directories to watch. It is called before each CatchUp. A
	// directory that does not exist yet is watched after a later call. One that is not returned any
	// more is not watched any more.
	Directories func() []string
	// Again has a value when CatchUp is to be called without a change. nil: it never has.
	Again <-chan struct{}
	// Concerns reports whether a change of a file's content or mode matters.
	Concerns func(path string) bool
	// CatchUp is called once when Follow begins, and each time when changes that matter are over.
	// It is never called twice at the same time. If it does not return 0 it is called again after
	// that time.
	CatchUp func(context.Context) (again time.Duration)
	// A change is over when nothing more has happened for Quiet, or at the latest after MaxDelay.
	// Editors save in several steps, and directories are copied file by file.
	Quiet, MaxDelay time.Duration
	// Logger gets one warning for each directory that cannot be watched, and one when the system
	// lost changes. It is required.
	Logger *slog.Logger

	watcher  *fsnotify.Watcher
	reported map[string]bool // the directories that cannot be watched
}

// Follow blocks until the context ends and then returns nil. An error means that changes are no
// longer seen.
func (w *Watch) Follow(ctx context.Context) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch %s: %w", w.Of, err)
	}
	defer func() { _ = watcher.Close() }() // a watcher that does not close loses nothing
	if err := watcher.Add(w.Above); err != nil {
		return fmt.Errorf("watch %s in %s: %w", w.Of, w.Above, err)
	}
	w.watcher, w.reported = watcher, map[string]bool{}
	return w.wait(ctx)
}

// wait waits for changes and calls CatchUp.
func (w *Watch) wait(ctx context.Context) error {
	quiet := time.NewTimer(0) // at once, for changes before the watch began
	defer quiet.Stop()
	var first time.Time // of the pending changes; zero if there are none
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
		case <-w.Again:
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
		quiet.Reset(min(w.Quiet, max(w.MaxDelay-time.Since(first), 0)))
	}
}

// addAll watches the directories that exist, and no others. A directory that is watched already stays
// watched.
func (w *Watch) addAll() {
	directories := w.Directories()
	wanted := map[string]bool{filepath.Clean(w.Above): true}
	for _, directory := range directories {
		wanted[filepath.Clean(directory)] = true
	}
	for _, directory := range w.watcher.WatchList() {
		if !wanted[filepath.Clean(directory)] {
			_ = w.watcher.Remove(directory) // it may have been deleted meanwhile
		}
	}
	for _, directory := range directories {
		err := w.watcher.Add(directory)
		if err == nil {
			delete(w.reported, directory)
			continue
		}
		if !errors.Is(err, fs.ErrNotExist) && !w.reported[directory] {
			w.reported[directory] = true
			w.Logger.Warn("a directory is not watched: reload after a change in it", "of", w.Of, "directory", directory, "err", err)
		}
	}
}
