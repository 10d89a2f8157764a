// Package watch calls back when files in some directories have changed and no more changes follow.
//
// It does not know what the files are. The caller says which names matter, and compares the files
// with what it knew. One call may stand for many changes or, after a change that was undone, for
// none.
package watch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"syscall"
	"time"
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
	// Concerns reports whether a change of a file's content or mode matters. It may be called from
	// another goroutine.
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

	// Watcher is shared with other watches. nil: it has one of its own.
	Watcher *Watcher
	// Poll is how often CatchUp is called while the system watches not all directories, as when the
	// person's programs watch as many as they may. 0: 5 seconds.
	Poll time.Duration

	subscription *subscription   // nil while the system watches nothing
	polled       bool            // not all directories are watched
	reported     map[string]bool // what cannot be watched
}

// pollInterval is the default of Poll.
const pollInterval = 5 * time.Second

// Follow blocks until the context ends and then returns nil. Where the system watches no files, it looks for
// changes from time to time. An error means that changes are no longer seen.
func (w *Watch) Follow(ctx context.Context) error {
	if _, err := os.Stat(w.Above); err != nil {
		return fmt.Errorf("watch %s in %s: %w", w.Of, w.Above, err)
	}
	if w.Watcher == nil {
		w.Watcher = &Watcher{}
	}
	w.reported = map[string]bool{}
	defer func() {
		if w.subscription != nil {
			_ = w.subscription.close() // a watcher that does not close loses nothing
		}
	}()
	w.wait(ctx)
	return nil
}

// begin watches the directory above, if the system can.
func (w *Watch) begin() {
	if w.subscription != nil {
		return
	}
	subscription, err := w.Watcher.subscribe(w.Concerns)
	if err == nil {
		if err = subscription.add(w.Above); err != nil {
			_ = subscription.close() // see Follow
		}
	}
	if err == nil {
		w.subscription = subscription
	}
	w.report("", err)
}

// report logs once that a directory is not watched, or nothing at all if it is "".
func (w *Watch) report(directory string, err error) {
	switch {
	case err == nil:
		delete(w.reported, directory)
		return
	case w.reported[directory]:
	case directory == "":
		w.Logger.Warn("changes are not seen at once, but looked for", "of", w.Of, "pause", cmp.Or(w.Poll, pollInterval), "err", err)
	default:
		w.Logger.Warn("changes in a directory are not seen at once, but looked for", "of", w.Of, "directory", directory, "pause", cmp.Or(w.Poll, pollInterval), "err", err)
	}
	w.reported[directory] = true
}

// wait waits for changes and calls CatchUp.
func (w *Watch) wait(ctx context.Context) {
	quiet := time.NewTimer(0) // at once, for changes before the watch began
	defer quiet.Stop()
	w.begin()
	var first time.Time // of the pending changes; zero if there are none
	for {
		var changed chan struct{}
		var faults chan error
		if w.subscription != nil {
			changed, faults = w.subscription.changed, w.subscription.faults
		}
		select {
		case <-ctx.Done():
			return
		case <-changed:
		case err := <-faults:
			w.Logger.Warn("changes may have been missed", "of", w.Of, "err", err)
		case <-w.Again:
		case <-quiet.C:
			first = time.Time{}
			w.begin()
			w.addAll()
			again := w.CatchUp(ctx)
			if w.subscription == nil || w.polled {
				poll := cmp.Or(w.Poll, pollInterval)
				again = min(cmp.Or(again, poll), poll)
			}
			if again > 0 {
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
	if w.subscription == nil {
		return
	}
	wanted := map[string]bool{w.Above: true}
	for _, directory := range directories {
		wanted[directory] = true
	}
	w.subscription.keep(wanted)
	w.polled = false
	for _, directory := range directories {
		err := w.subscription.add(directory)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		w.report(directory, err)
		w.polled = w.polled || errors.Is(err, syscall.ENOSPC)
	}
}
