package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"org-agent/kernel/autorun"
)

// guard is a name in a directory by which others, outside of any fence, are told what to run.
// Who may write in the directory may not write there.
type guard struct {
	path string
	// placed: where nothing has the name something is put there while a command runs, or the
	// command would make it. It is an empty directory, which git passes over, or has a text.
	placed bool
	text   string
	// open: what is in it may be written, but for what is a guard itself. Mounted on itself it
	// cannot be moved away.
	open bool
}

// guards are those of every directory that a command may write in. A repository's own directory
// stands before what is in it.
func guards() []guard {
	// Where nothing is a repository, HEAD would be the beginning of one without a .git.
	all := []guard{{path: ".git", placed: true, open: true}, {path: head, placed: true}}
	for _, n := range autorun.Names {
		all = append(all, guard{path: n.Name, placed: n.Placed})
	}
	return all
}

// head is the file by which git begins to know a repository.
const head = "HEAD"

// gitGuards are those of every repository, by which git is told what to run.
var gitGuards = [...]guard{
	{path: "hooks", placed: true},
	{path: "config", placed: true},
	{path: "config.worktree", placed: true},
	{path: "commondir", placed: true, text: ".\n"}, // where the settings are: there, as without it
	{path: "worktrees", placed: true},
	{path: "modules", placed: true},
}

// guardsOf are the guards of a directory, of the repositories that are in it, and of what git obeys
// there by its settings.
func guardsOf(directory string, repositories []string, obeyed []setting) []guard {
	all := guards()
	if base := filepath.Base(directory); base == ".emacs.d" || base == "emacs" {
		all = append(all, guard{path: "init.el", placed: true}, guard{path: "early-init.el", placed: true})
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
			all = append(all, guard{path: path, placed: s.Hooks})
		}
	}
	return all
}

// mountGuards closes the guards of the granted directory to the command.
func (t *task) mountGuards(attributes uint64) error {
	t.mounted = map[string]bool{}
	closed := map[string]bool{} // nothing stands in them that could be written
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
		if !g.open || !info.IsDir() || info.Mode() == placedMode {
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

// bare reports whether the directory has neither a repository nor the beginning of one. In one
// git would take a file HEAD for what a person means by that name.
func (t *task) bare() bool {
	git, err := os.Lstat(filepath.Join(t.Directory, ".git"))
	if err == nil && git.Mode() != placedMode {
		return false
	}
	info, err := os.Lstat(filepath.Join(t.Directory, head))
	return errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode() == placedMode
}

// mountAbove mounts what stands above a guard in the granted directory on itself: whoever moves it
// could make another.
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

// guardLinked closes a guard that is a link, and where it leads to.
func (t *task) guardLinked(path string, attributes uint64) error {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return cover(path, emptyFile, unix.MOUNT_ATTR_RDONLY) // it could be made
	}
	if err != nil {
		return fmt.Errorf("guard %s: %w", path, err)
	}
	if err := t.mountOnce(path, attributes|unix.MOUNT_ATTR_RDONLY); err != nil { // as a link
		return err
	}
	if within(t.Directory, real) {
		return fmt.Errorf("guard %s: it is a link to all that the command may write: let the command run where there is none", path)
	}
	if !within(real, t.Directory) {
		return nil // there it cannot write
	}
	if err := t.mountAbove(real, attributes); err != nil {
		return err
	}
	return t.mountOnce(real, attributes|unix.MOUNT_ATTR_RDONLY)
}

// mountOnce shows a file or a directory, so that what is closed in it stays closed: a second
// time it is shown only to be closed as a whole.
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

// guarded says what has a guard's name, nil for nothing, which the command cannot change. What
// was put there is kept by a lock that ends with this process.
func (t *task) guarded(path string, g guard) (fs.FileInfo, error) {
	const tries = 100 // whoever else ends at this moment takes theirs away
	for range tries {
		info, err := os.Lstat(path)
		switch {
		case err == nil && !g.isPlaced(path, info):
			return info, nil
		case err == nil:
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		case !g.placed:
			return nil, nil
		default:
			err := g.place(path)
			if errors.Is(err, fs.ErrPermission) || errors.Is(err, unix.EROFS) {
				return nil, nil // neither can the command
			}
			if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
				return nil, nil // nor is there what it would be in: what comes to be is put aside afterwards
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
		t.locks = append(t.locks, file)
		return file.Stat()
	}
	return nil, errors.New("it comes and goes")
}

// place puts a guard where nothing is.
func (g guard) place(path string) error {
	if g.text == "" {
		if err := os.Mkdir(path, 0o500); err != nil {
			return err
		}
		return os.Chmod(path, fs.ModeSticky|0o500)
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o400)
	if err != nil {
		return err
	}
	_, err = file.WriteString(g.text)
	return errors.Join(err, file.Close())
}

// isPlaced reports whether what has a guard's name was put there as one.
func (g guard) isPlaced(path string, info fs.FileInfo) bool {
	if !g.placed || g.text == "" {
		return g.placed && info.Mode() == placedMode
	}
	if !info.Mode().IsRegular() || info.Mode().Perm() != 0o400 || info.Size() != int64(len(g.text)) {
		return false
	}
	text, err := os.ReadFile(path)
	return err == nil && string(text) == g.text
}

// lock takes a lock on a file or a directory that has a name. The error is fs.ErrNotExist also
// when it lost the name meanwhile.
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

// Unguard takes away what was put into a directory, and into repositories in it, while commands ran
// that could write in it, once none does.
func Unguard(directory string) {
	repositories, _ := Repositories(directory)
	obeyed, _ := obeyed(directory, repositories)
	unguard(directory, repositories, obeyed)
}

func unguard(directory string, repositories []string, obeyed []setting) {
	all := guardsOf(directory, repositories, obeyed)
	for i := range all {
		g := all[len(all)-1-i] // what is in a directory goes before it
		path := filepath.Join(directory, g.path)
		if info, err := os.Lstat(path); err != nil || !g.isPlaced(path, info) {
			continue
		}
		file, err := lock(path, unix.LOCK_EX|unix.LOCK_NB)
		if err != nil {
			continue // somebody else has use for it
		}
		if info, err := file.Stat(); err == nil && g.isPlaced(path, info) {
			_ = os.Remove(path) // a directory only if it is empty still; what is in it is somebody's
		}
		file.Close() // it was only read
	}
}
