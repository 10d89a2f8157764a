package memory

import (
	"context"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"org-agent/kernel/watch"
)

const (
	// watchedDirectories is the maximum number of watched directories, because the system has few
	// watches for all programs of a person. The files of other directories are checked when a
	// search finds a changed one, and from time to time.
	watchedDirectories = 4000
	// lookAgain is how often all files are checked, whether or not a change was seen.
	lookAgain = 10 * time.Minute
	// mergeRest is how long the index must be unchanged before it is merged.
	mergeRest = time.Second
	// embedAgain is the pause after a failure of the server for vectors. Each further failure
	// doubles it, up to embedLongest.
	embedAgain, embedLongest = 30 * time.Second, 30 * time.Minute
	// indexedTimeout is how long a search waits for a kernel that has just started, or was just told
	// of other directories.
	indexedTimeout = time.Second
)

// Upkeep keeps an index up to date with the files. [NewUpkeep] makes it. Its methods are safe for
// use by several goroutines.
type Upkeep struct {
	// Watcher is shared with others. nil: the upkeep has its own.
	Watcher *watch.Watcher

	index  *Index
	home   string
	hide   func(string) string
	logger *slog.Logger

	merging   chan struct{} // has a value when the index has grown
	embedding chan struct{} // has a value when there may be parts without a vector
	again     chan struct{} // has a value when other directories are to be indexed
	other     chan struct{} // has a value when another server makes the vectors

	mu         sync.Mutex
	roots      []Root        // those of the last Reload
	generation int           // of the roots: the first ones are 1
	indexed    int           // the last generation of which all files were read
	advanced   chan struct{} // closed and replaced when indexed is set
}

// NewUpkeep returns the upkeep of the index of a home. hide removes secrets from what is logged.
func NewUpkeep(index *Index, home string, hide func(string) string, logger *slog.Logger) *Upkeep {
	return &Upkeep{
		index: index, home: home, hide: hide, logger: logger,
		merging: make(chan struct{}, 1), embedding: make(chan struct{}, 1),
		again: make(chan struct{}, 1), other: make(chan struct{}, 1), roots: index.AllRoots(),
		generation: 1, advanced: make(chan struct{}),
	}
}

// Reload has the directories indexed that the index is to have now, and the files of all others left
// out, if these directories have changed. It waits for nothing.
func (u *Upkeep) Reload() {
	roots := u.index.AllRoots()
	u.mu.Lock()
	defer u.mu.Unlock()
	if !slices.Equal(roots, u.roots) {
		u.roots = roots
		u.generation++
		notify(u.again)
	}
}

// SetMeaning is [Index.SetMeaning]. It has the vectors made that are missing then.
func (u *Upkeep) SetMeaning(m *Meaning) {
	u.index.SetMeaning(m)
	notify(u.other)
}

// notify puts a value into a channel of capacity one, unless it holds one.
func notify(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Run keeps the index up to date until ctx ends. It returns when all of its goroutines have ended.
// If files cannot be watched, it logs that, and Refresh finds changes.
func (u *Upkeep) Run(ctx context.Context) {
	var work sync.WaitGroup
	defer work.Wait()
	work.Go(func() { u.merge(ctx) })
	work.Go(func() { u.embed(ctx) })
	if err := u.follow(ctx); err != nil {
		u.logger.Warn("what is kept is not watched: changes are found when it is searched", "err", err)
	}
}

// Await waits at most a second until every file that is to be indexed has been read once: after the start,
// and after a change of the directories. It reports whether that is so.
func (u *Upkeep) Await(ctx context.Context) bool {
	u.Reload()
	moment := time.NewTimer(indexedTimeout)
	defer moment.Stop()
	for {
		u.mu.Lock()
		whole, advanced := u.indexed == u.generation, u.advanced
		u.mu.Unlock()
		if whole {
			return true
		}
		select {
		case <-advanced:
		case <-moment.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// currentGeneration returns the generation of the directories that are to be indexed now.
func (u *Upkeep) currentGeneration() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.generation
}

// setIndexed notes that a refresh which began in a generation has read all files.
func (u *Upkeep) setIndexed(generation int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.indexed = generation
	close(u.advanced)
	u.advanced = make(chan struct{})
}

// follow keeps the index up to date.
func (u *Upkeep) follow(ctx context.Context) error {
	w := watch.Watch{
		Of: "what is kept", Above: u.home, Quiet: 15 * time.Millisecond, MaxDelay: 200 * time.Millisecond, Logger: u.logger, Watcher: u.Watcher,
		Directories: u.directories, Again: u.again,
		Concerns: func(path string) bool {
			name := filepath.Base(path)
			return !strings.HasPrefix(name, ".") && slices.Contains([]string{".org", ".md", ""}, filepath.Ext(name))
		},
		CatchUp: func(ctx context.Context) time.Duration {
			begun, generation := time.Now(), u.currentGeneration()
			read, err := u.index.Refresh(ctx)
			switch {
			case ctx.Err() != nil:
			case err != nil:
				u.logger.Warn("the index is not what the files are", "err", err)
			default:
				u.setIndexed(generation)
				notify(u.merging)
				notify(u.embedding)
				if read > 0 {
					u.logger.Info("notes indexed", "files", read, "dur", time.Since(begun))
				}
			}
			return lookAgain
		},
	}
	return w.Follow(ctx)
}

// directories returns the directories with files that are indexed.
func (u *Upkeep) directories() []string {
	var all []string
	for _, root := range u.index.AllRoots() {
		if filepath.Ext(root.Path) != "" && filepath.Dir(root.Path) == u.home {
			continue // the home is watched
		}
		err := filepath.WalkDir(root.Path, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil || !entry.IsDir():
				return nil // a directory that does not exist cannot be watched
			case path != root.Path && strings.HasPrefix(entry.Name(), "."):
				return fs.SkipDir
			case len(all) == watchedDirectories:
				return fs.SkipAll
			}
			all = append(all, path)
			return nil
		})
		if err != nil {
			u.logger.Warn("notes are not watched", "directory", root.Path, "err", err)
		}
	}
	return all
}

// merge makes searches faster after the index has grown, until ctx ends. It rests as long as it
// works, because others need the machine and the index.
func (u *Upkeep) merge(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-u.merging:
		}
		for more, rest := true, mergeRest; more; {
			select {
			case <-ctx.Done():
				return
			case <-time.After(rest):
			}
			begun := time.Now()
			var err error
			if more, err = u.index.Files.Merge(ctx); err != nil && ctx.Err() == nil {
				u.logger.Warn("the index is not merged: searches take longer", "err", err)
			}
			more, rest = more && err == nil, time.Since(begun)
		}
	}
}

// embed makes the vectors of new parts of the index, until ctx ends. It asks for nothing while
// nothing is new.
func (u *Upkeep) embed(ctx context.Context) {
	again := embedAgain
	var wait <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case <-u.embedding:
			if again > embedAgain {
				continue // it failed before, and a person who writes does not shorten the pause
			}
		case <-u.other:
			again = embedAgain // what failed before was another server
		case <-wait:
		}
		begun := time.Now()
		made, err := u.index.Embed(ctx)
		wait = nil
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			u.logger.Warn("notes are found by their words only until it is known what they mean", "pause", again, "err", u.hide(err.Error()))
			wait, again = time.After(again), min(2*again, embedLongest)
		default:
			if again = embedAgain; made > 0 {
				u.logger.Info("it is known what notes mean", "texts", made, "dur", time.Since(begun))
			}
		}
	}
}
