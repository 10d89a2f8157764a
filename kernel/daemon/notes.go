package daemon

import (
	"context"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"org-agent/kernel/watch"
)

const (
	// noteDirectories is how many directories are watched at most: the system has few
	// watches for all programs of a person. The files of others are looked at when one is
	// found that has changed, and from time to time.
	noteDirectories = 4000
	// lookAgain is how often all is looked through, whatever was seen to change.
	lookAgain = 10 * time.Minute
)

// followNotes keeps the index what the files are until ctx ends.
func (d *daemon) followNotes(ctx context.Context) error {
	var first sync.Once
	w := watch.Watch{
		Of: "what is kept", Above: d.paths.Home, Quiet: 15 * time.Millisecond, Patience: 200 * time.Millisecond, Logger: d.log,
		Directories: d.noteDirectories,
		Concerns: func(path string) bool {
			name := filepath.Base(path)
			return !strings.HasPrefix(name, ".") && slices.Contains([]string{".org", ".md", ""}, filepath.Ext(name))
		},
		CatchUp: func(ctx context.Context) time.Duration {
			begun := time.Now()
			read, err := d.index.Refresh(ctx)
			switch {
			case ctx.Err() != nil:
			case err != nil:
				d.log.Warn("the index is not what the files are", "err", err)
			default:
				first.Do(func() { close(d.indexed) })
				for _, work := range []chan struct{}{d.merging, d.embedding} {
					select {
					case work <- struct{}{}:
					default: // it is to be done already
					}
				}
				if read > 0 {
					d.log.Info("notes indexed", "files", read, "dur", time.Since(begun))
				}
			}
			return lookAgain
		},
	}
	return w.Follow(ctx)
}

// mergeRest is how long nothing is put into the index before what was put in is merged.
const mergeRest = time.Second

// mergeIndex makes searches faster after something was put into the index, until ctx ends. It
// rests as long as it works: others want the machine, and the index.
func (d *daemon) mergeIndex(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-d.merging:
		}
		for more, rest := true, mergeRest; more; {
			select {
			case <-ctx.Done():
				return
			case <-time.After(rest):
			}
			begun := time.Now()
			var err error
			if more, err = d.index.Files.Merge(ctx); err != nil && ctx.Err() == nil {
				d.log.Warn("the index is not merged: searches take longer", "err", err)
			}
			more, rest = more && err == nil, time.Since(begun)
		}
	}
}

// noteDirectories are the directories with files that are indexed.
func (d *daemon) noteDirectories() []string {
	var all []string
	for _, root := range d.index.Roots {
		if filepath.Ext(root.Path) != "" && filepath.Dir(root.Path) == d.paths.Home {
			continue // the home is watched
		}
		err := filepath.WalkDir(root.Path, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil || !entry.IsDir():
				return nil // what is not there has nothing to watch
			case path != root.Path && strings.HasPrefix(entry.Name(), "."):
				return fs.SkipDir
			case len(all) == noteDirectories:
				return fs.SkipAll
			}
			all = append(all, path)
			return nil
		})
		if err != nil {
			d.log.Warn("notes are not watched", "directory", root.Path, "err", err)
		}
	}
	return all
}
