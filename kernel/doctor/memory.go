package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"org-agent/kernel/journal"
	"org-agent/kernel/text"
	"org-agent/kernel/watch"
)

// index checks the index of notes, and whether changes of them are seen.
func index(ctx context.Context, c Config) []Finding {
	found := memoryIndex(ctx, c)
	if err := watch.Probe(); err != nil {
		found = append(found, warn("end programs that watch files, or raise fs.inotify.max_user_instances with sysctl",
			"no further program of yours can watch files (%v): a kernel that starts now looks every few seconds whether notes, skills and settings have changed", err))
	}
	return found
}

// memoryIndex checks the index of the memory and of the person's notes. The index is made from
// files, so nothing is lost when it is made again.
func memoryIndex(ctx context.Context, c Config) []Finding {
	files, err := journal.OpenFilesToRead(ctx, c.Paths.Index)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []Finding{ok("there is no index of notes yet: the kernel makes it")}
	case errors.Is(err, journal.ErrOlder):
		return []Finding{ok("the index of notes is of another version: the kernel makes it anew when it starts")}
	case err != nil:
		return []Finding{c.anew(fail("", "the index of notes cannot be read: %v", err))}
	}
	defer files.Close()
	faults, err := files.Check(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return []Finding{warn("with more patience: sqlite3 "+c.Paths.Index+" 'PRAGMA quick_check'", "the index of notes was not checked completely")}
	case err != nil:
		return []Finding{c.anew(fail("", "the index of notes cannot be read: %v", err))}
	case len(faults) > 0:
		return []Finding{c.anew(fail("", "the index of notes %s is damaged: %s", c.Paths.Index, faults[0]))}
	}
	documents, err := files.Documents(ctx)
	if err != nil {
		return []Finding{c.anew(fail("", "%v", err))}
	}
	stale := 0
	for path, d := range documents {
		if info, err := os.Stat(path); err != nil || info.Size() != d.Size || !info.ModTime().Equal(d.Changed) {
			stale++
		}
	}
	switch {
	case stale > 0 && alive(c):
		return []Finding{warn("the kernel should index them in a moment; if it does not: org-agent memory index", "%d of %d indexed files have changed since they were indexed", stale, len(documents))}
	case stale > 0:
		return []Finding{ok("%d of %d indexed files have changed since: the kernel reads them when it starts", stale, len(documents))}
	}
	return []Finding{ok("the index of notes is sound, with %s", text.Count(len(documents), "file"))}
}

// anew adds a repair that makes the index again.
func (c Config) anew(f Finding) Finding {
	f.Advice = "nothing is lost: it is made again from your files"
	return f.by("remove it, so that the kernel makes it anew", func(context.Context) error {
		return c.alone(func() (err error) {
			for _, suffix := range []string{"", "-wal", "-shm"} {
				if removed := os.Remove(c.Paths.Index + suffix); !errors.Is(removed, fs.ErrNotExist) {
					err = errors.Join(err, removed)
				}
			}
			return err
		})
	})
}
