package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"org-agent/kernel/journal"
)

// home checks the person's directory.
func home(ctx context.Context, c Config) []Finding {
	const advice = "give another directory with --home or ORG_AGENT_HOME, or move away what is there"
	make := func(context.Context) error { return c.Paths.EnsureHome() }
	info, err := os.Stat(c.Paths.Home)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []Finding{warn("the kernel makes it when it starts", "there is no home %s yet", c.Paths.Home).by("make it, with config.org", make)}
	case err != nil:
		return []Finding{fail(advice, "the home cannot be examined: %v", err)}
	case !info.IsDir():
		return []Finding{fail(advice, "the home %s is not a directory", c.Paths.Home)}
	}
	if f, bad := foreign(info, c.Paths.Home); bad {
		return []Finding{f}
	}
	var found []Finding
	for _, directory := range []string{c.Paths.Sessions, c.Paths.Skills} {
		info, err := os.Stat(directory)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			found = append(found, warn("", "%s is missing", directory).by("make it", make))
		case err != nil:
			found = append(found, fail(advice, "%s cannot be examined: %v", directory, err))
		case !info.IsDir():
			found = append(found, fail("move it away", "%s is not a directory", directory))
		}
	}
	if info.Mode().Perm()&0o022 != 0 {
		found = append(found, fail("anyone who can write there can write skills", "others can write in the home %s (mode %o)", c.Paths.Home, info.Mode().Perm()).
			by("remove that permission", closing(c.Paths.Home, info.Mode().Perm()&^0o022)))
	}
	if err := syscall.Access(c.Paths.Home, 7); err != nil {
		found = append(found, fail("make it readable and writable for you: chmod u+rwx", "the home %s cannot be written: %v", c.Paths.Home, err).
			by("make it yours to read and write", closing(c.Paths.Home, info.Mode().Perm()|0o700)))
	}
	found = append(found, conversations(ctx, c)...)
	if len(found) == 0 {
		found = append(found, ok("%s", c.Paths.Home))
	}
	return found
}

func closing(path string, mode fs.FileMode) func(context.Context) error {
	return func(context.Context) error { return os.Chmod(path, mode) }
}

// foreign returns a finding if a file belongs to another user.
func foreign(info fs.FileInfo, path string) (Finding, bool) {
	if owner := info.Sys().(*syscall.Stat_t).Uid; int(owner) != os.Geteuid() {
		return fail("the kernel must run as the owner of its files", "%s belongs to another user (id %d)", path, owner), true
	}
	return Finding{}, false
}

// state checks the kernel's own files, and that nobody else can read them.
func state(_ context.Context, c Config) []Finding {
	found := private(c.Paths.State, "set XDG_STATE_HOME to a directory of your own")
	if found != nil {
		return found
	}
	for _, path := range []string{c.Paths.Journal, c.Paths.Journal + "-wal", c.Paths.Log, c.Paths.KernelJSON} {
		info, err := os.Lstat(path)
		if err != nil {
			continue // it is created when it is needed
		}
		switch {
		case !info.Mode().IsRegular():
			found = append(found, fail("move it away", "%s is not a regular file", path))
		case info.Mode().Perm()&0o077 != 0:
			found = append(found, fail("", "others can read %s (mode %o)", path, info.Mode().Perm()).by("close it to others", closing(path, 0o600)))
		case info.Mode().Perm()&0o600 != 0o600:
			found = append(found, fail("", "%s cannot be written (mode %o)", path, info.Mode().Perm()).by("make it yours to read and write", closing(path, 0o600)))
		}
	}
	if len(found) == 0 {
		found = append(found, ok("%s", c.Paths.State))
	}
	return found
}

// private checks a directory that only its owner may use. It returns nil if nothing is wrong.
func private(path, advice string) []Finding {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []Finding{ok("%s is not there yet: the kernel makes it", path)}
	case err != nil:
		return []Finding{fail(advice, "%s cannot be examined: %v", path, err)}
	case info.Mode()&fs.ModeSymlink != 0:
		if info, err = os.Stat(path); err != nil {
			return []Finding{fail(advice, "the link %s leads nowhere: %v", path, err)}
		}
	}
	if !info.IsDir() {
		return []Finding{fail(advice+", or move it away", "%s is not a directory", path)}
	}
	if f, bad := foreign(info, path); bad {
		return []Finding{f}
	}
	if mode := info.Mode().Perm(); mode != 0o700 {
		return []Finding{fail("its files must be private", "%s has the mode %o, not 700", path, mode).by("give it the mode 700", closing(path, 0o700))}
	}
	return nil
}

// run checks the directory of the socket.
func run(_ context.Context, c Config) []Finding {
	const advice = "remove it, or set XDG_RUNTIME_DIR to a directory of your own"
	if info, err := os.Lstat(c.Paths.Run); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return []Finding{fail(advice, "the run directory %s is a link, which could lead anywhere", c.Paths.Run)}
	}
	if found := private(c.Paths.Run, advice); found != nil {
		return found
	}
	return []Finding{ok("%s", filepath.Clean(c.Paths.Run))}
}

// conversations looks for files of conversations that cannot be written, or that lack what was said.
func conversations(ctx context.Context, c Config) []Finding {
	var found []Finding
	entries, _ := os.ReadDir(c.Paths.Sessions) // one that cannot be read is found elsewhere
	for _, entry := range entries {
		path := filepath.Join(c.Paths.Sessions, entry.Name())
		info, err := os.Stat(path)
		switch {
		case filepath.Ext(path) != ".org" || err != nil:
		case !info.Mode().IsRegular():
			found = append(found, fail("move it away", "the conversation %s is not a regular file", path))
		case info.Mode().Perm()&0o200 == 0:
			found = append(found, fail("until then what is said there is only in the journal", "the conversation %s is read-only", path).
				by("make it writable for you", closing(path, info.Mode().Perm()|0o600)))
		}
	}
	j, err := journal.OpenToRead(ctx, c.Paths.Journal)
	if err != nil {
		return found // the check of the journal reports it
	}
	defer j.Close()
	const written = time.Minute // a keeper may be about to write
	names, _ := j.Turns.UnsavedSessions(ctx, time.Now().Add(-written))
	for _, name := range names {
		found = append(found, warn("nothing is lost: the journal has it, and the file gets it when somebody looks at the conversation and the file can be written",
			"the file of the conversation %s lacks what was said last", name))
	}
	return found[:min(findingLimit, len(found))]
}

// trial writes a small file in a directory, as far as the disk, and removes it.
func trial(directory string) error {
	file, err := os.CreateTemp(directory, ".doctor.*.new~")
	if err != nil {
		return err
	}
	_, err = file.Write(make([]byte, 64<<10))
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close(), os.Remove(file.Name()))
}

// disk checks the free space, and whether a file can be written: a disk may also have no room for another
// file, a limit for each user, or have become read-only.
func disk(_ context.Context, c Config) []Finding {
	const low, least = 500 << 20, 50 << 20
	var found []Finding
	seen := map[uint64]bool{}
	for _, directory := range []string{c.Paths.State, c.Paths.Home, c.Paths.Sessions} {
		if err := trial(directory); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			found = append(found, fail("make room there, or make it writable: until then what is said is not stored", "nothing can be written in %s: %v", directory, err))
		}
	}
	for _, path := range []string{c.Paths.State, c.Paths.Home} {
		for path != "/" {
			if _, err := os.Stat(path); err == nil {
				break
			}
			path = filepath.Dir(path)
		}
		var device syscall.Stat_t
		var space syscall.Statfs_t
		if err := errors.Join(syscall.Stat(path, &device), syscall.Statfs(path, &space)); err != nil {
			found = append(found, warn("", "the free space at %s is unknown: %v", path, err))
			continue
		}
		if seen[uint64(device.Dev)] {
			continue
		}
		seen[uint64(device.Dev)] = true
		switch free := space.Bavail * uint64(space.Bsize); {
		case free < least:
			found = append(found, fail("free some space: without it no message can be stored", "the disk of %s is full: %d MB are free", path, free>>20))
		case free < low:
			found = append(found, warn("free some space", "the disk of %s is nearly full: %d MB are free", path, free>>20))
		default:
			found = append(found, ok("%d MB are free at %s", free>>20, path))
		}
	}
	return found
}
