package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"org-agent/kernel/autorun"
)

// guard is a name in a directory from which programs outside of the fence take commands. A command
// that may write in the directory may not write there.
type guard struct {
	path string
	// placeholder is true if the command must not be able to make the name. If nothing has it, the
	// sandbox puts something there while the command runs: an empty directory, which git ignores,
	// or a file with the text.
	placeholder bool
	text        string
	// open is true if the content may be written, except for what is a guard itself. The name is
	// mounted on itself, so the command cannot move it away.
	open bool
}

// guards returns the guards of every directory in which a command may write. The directory of a
// repository stands before the names in it.
func guards() []guard {
	// In a directory without a repository, HEAD would be the first file of a repository without a
	// .git.
	all := []guard{{path: ".git", placeholder: true, open: true}, {path: head, placeholder: true}}
	for _, n := range autorun.Names {
		if !n.Ordinary {
			all = append(all, guard{path: n.Name, placeholder: n.Placeholder})
		}
	}
	// Where there is a repository of hg or jj, its settings are closed. hg reads the second file after
	// the first.
	for _, name := range [...]string{".hg/hgrc", ".hg/hgrc-not-shared", ".jj/repo/config.toml"} {
		all = append(all, guard{path: name, placeholder: true, text: "#\n"})
	}
	// The rest of .yarn is what yarn writes at each install.
	all = append(all, guard{path: ".yarn/releases"}, guard{path: ".yarn/plugins"})
	return all
}

// head is the file by which git recognises a repository.
const head = "HEAD"

// gitGuards are the guards of every repository: the names from which git takes commands.
var gitGuards = [...]guard{
	{path: "hooks", placeholder: true},
	{path: "config", placeholder: true},
	{path: "config.worktree", placeholder: true},
	{path: "commondir", placeholder: true, text: ".\n"}, // it names the directory itself, which is what git assumes without the file
	{path: "worktrees", placeholder: true},
	{path: "modules", placeholder: true},
}

// guardsOf returns the guards of a directory, of the repositories in it, and of the files there
// that git obeys because its settings name them.
func guardsOf(directory string, repositories []string, obeyed []setting) []guard {
	all := guards()
	if base := filepath.Base(directory); base == ".emacs.d" || base == "emacs" {
		all = append(all, guard{path: "init.el", placeholder: true}, guard{path: "early-init.el", placeholder: true})
	}
	top := filepath.Join(directory, ".git")
	for _, repository := range append([]string{top}, slices.DeleteFunc(slices.Clone(repositories), func(r string) bool { return r == top })...) {
		path, err := filepath.Rel(directory, repository)
		if err != nil {
			continue
		}
		if repository != top && repository != directory {
			all = append(all, guard{path: path, open: true})
		}
		for _, g := range gitGuards {
			g.path = filepath.Join(path, g.path)
			all = append(all, g)
		}
	}
	for _, s := range obeyed {
		if path, err := filepath.Rel(directory, s.Path); err == nil {
			all = append(all, guard{path: path, placeholder: s.Hooks})
		}
	}
	return all
}

// mountGuards makes the guards in the granted directory read-only for the command.
func (t *task) mountGuards(attributes uint64) error {
	t.mounted = map[string]bool{}
	closed := map[string]bool{} // nothing in them can be written
	for _, g := range guardsOf(t.Directory, t.Repositories, t.Obeyed) {
		path := filepath.Join(t.Directory, g.path)
		if closed[filepath.Dir(path)] || g.path == head && !t.bare() {
			continue
		}
		info, err := t.guarded(path, g)
		if err != nil {
			return fmt.Errorf("guard %s: %w", path, err)
		}
		if info == nil {
			continue
		}
		if err := t.mountAbove(path, attributes); err != nil {
			return err
		}
		own := attributes
		if !g.open || !info.IsDir() || holdsPlace(info.Mode()) {
			own |= unix.MOUNT_ATTR_RDONLY
			closed[path] = true
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			err = t.guardLinked(path, attributes)
		} else {
			err = t.mountOnce(path, own)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bare reports whether the directory has neither a repository nor the beginning of one. In a
// repository HEAD is not guarded: git would take the file for the revision of that name.
func (t *task) bare() bool {
	git, err := os.Lstat(filepath.Join(t.Directory, ".git"))
	if err == nil && !holdsPlace(git.Mode()) {
		return false
	}
	info, err := os.Lstat(filepath.Join(t.Directory, head))
	return errors.Is(err, fs.ErrNotExist) || err == nil && holdsPlace(info.Mode())
}

// mountAbove mounts the directories between the granted directory and a guard on themselves.
// Otherwise the command could move one away and make another.
func (t *task) mountAbove(path string, attributes uint64) error {
	rest, err := filepath.Rel(t.Directory, filepath.Dir(path))
	if err != nil || rest == "." {
		return err
	}
	above := t.Directory
	for name := range strings.SplitSeq(rest, "/") {
		above = filepath.Join(above, name)
		if err := t.mountOnce(above, attributes); err != nil {
			return err
		}
	}
	return nil
}

// guardLinked closes a guard that is a link, and the target of the link.
func (t *task) guardLinked(path string, attributes uint64) error {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return cover(path, emptyFile, unix.MOUNT_ATTR_RDONLY) // the command could make the target
	}
	if err != nil {
		return fmt.Errorf("guard %s: %w", path, err)
	}
	if err := t.mountOnce(path, attributes|unix.MOUNT_ATTR_RDONLY); err != nil { // the link itself
		return err
	}
	if within(t.Directory, real) {
		return fmt.Errorf("guard %s: it is a link to all that the command may write: let the command run where there is none", path)
	}
	if !within(real, t.Directory) {
		return nil // the command cannot write there
	}
	if err := t.mountAbove(real, attributes); err != nil {
		return err
	}
	return t.mountOnce(real, attributes|unix.MOUNT_ATTR_RDONLY)
}

// mountOnce mounts a file or a directory on itself. What was closed in it before stays closed. A
// second mount is made only to close it as a whole.
func (t *task) mountOnce(path string, attributes uint64) error {
	closes := attributes&unix.MOUNT_ATTR_RDONLY != 0
	if closed, before := t.mounted[path]; before && (closed || !closes) {
		return nil
	}
	for above := filepath.Dir(path); within(above, t.Directory); above = filepath.Dir(above) {
		if t.mounted[above] {
			return nil
		}
	}
	t.mounted[path] = closes
	return show(path, attributes)
}

// guarded returns the file with a guard's name, or nil if there is none and the command cannot make
// one. A placeholder there is locked until this process ends.
func (t *task) guarded(path string, g guard) (fs.FileInfo, error) {
	const tries = 100 // another command that ends at this moment removes its guards
	for try := range tries {
		info, err := os.Lstat(path)
		switch {
		case err == nil && !g.isPlaceholder(path, info):
			return info, nil
		case err == nil:
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		case !g.placeholder:
			return nil, nil
		default:
			err := g.place(path)
			if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) {
				return nil, nil // the command cannot make it either
			}
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
				return nil, nil // its directory does not exist; what the command makes there is put aside later
			}
			if err != nil && !errors.Is(err, fs.ErrExist) {
				return nil, err
			}
		}
		file, err := lock(path, unix.LOCK_SH)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if info, err = file.Stat(); err != nil || info.Mode() != unfinishedMode {
			t.locks = append(t.locks, file)
			return info, err
		}
		if file.Close(); try > tries/2 { // its maker was killed
			_ = os.Remove(path)
		}
		time.Sleep(time.Millisecond)
	}
	return nil, errors.New("it comes and goes")
}

// unfinishedMode is the mode of a placeholder whose text is still to come. Nobody else uses it.
const unfinishedMode = fs.ModeSticky | 0o400

// place puts a placeholder where nothing is. One call makes it and gives it its mode: a warden can be killed
// between two, and what it leaves must be known as its own.
func (g guard) place(path string) error {
	defer unix.Umask(unix.Umask(0))
	if g.text == "" {
		return os.Mkdir(path, placeholderMode)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, unfinishedMode)
	if err != nil {
		return err
	}
	_, err = file.WriteString(g.text)
	return errors.Join(err, file.Chmod(0o400), file.Close())
}

// isPlaceholder reports whether a file is the placeholder of this guard.
func (g guard) isPlaceholder(path string, info fs.FileInfo) bool {
	if !g.placeholder || g.text == "" {
		return g.placeholder && holdsPlace(info.Mode())
	}
	if info.Mode() == unfinishedMode {
		return true
	}
	if info.Mode() != 0o400 || info.Size() != int64(len(g.text)) {
		return false
	}
	text, err := os.ReadFile(path)
	return err == nil && string(text) == g.text
}

// lock locks a file or a directory at a path. The error is also fs.ErrNotExist if the path leads
// elsewhere by then.
func lock(path string, how int) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	var now, locked fs.FileInfo
	if err = unix.Flock(int(file.Fd()), how); err == nil {
		if locked, err = file.Stat(); err == nil {
			now, err = os.Lstat(path)
		}
	}
	if err == nil && !os.SameFile(now, locked) {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// unguard removes the placeholders in a directory and in the repositories in it. It leaves those
// that a running command has locked, and reports whether there were any.
func unguard(directory string, repositories []string, obeyed []setting) (locked bool) {
	all := guardsOf(directory, repositories, obeyed)
	for i := range all {
		g := all[len(all)-1-i] // the content of a directory before the directory
		path := filepath.Join(directory, g.path)
		if info, err := os.Lstat(path); err != nil || !g.isPlaceholder(path, info) {
			continue
		}
		file, err := lock(path, unix.LOCK_EX|unix.LOCK_NB)
		if err != nil {
			locked = locked || errors.Is(err, unix.EWOULDBLOCK) // another command uses it
			continue
		}
		if info, err := file.Stat(); err == nil && g.isPlaceholder(path, info) {
			_ = os.Remove(path) // a directory only if it is empty; its content would be somebody's
		}
		file.Close() // it was only read
	}
	return locked
}
