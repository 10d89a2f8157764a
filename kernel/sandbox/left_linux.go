package sandbox

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"org-agent/kernel/autorun"
)

// view is what others obey in a directory at a moment.
type view struct {
	directory    string
	whole        bool // all of it was looked into
	repositories []string
	obeyed       []setting
	absent       []string // of those, what is not there
	startup      map[string]stamp
	steps        map[string][]string // what a stopped rebase would run, by the repository's own directory
}

// stamp is a file's identity and when it was last changed, which nobody in the fence can set.
type stamp struct {
	file    uint64
	changed syscall.Timespec
}

// viewOf looks at a directory.
func viewOf(directory string) *view {
	v := &view{directory: directory, startup: map[string]stamp{}, steps: map[string][]string{}}
	v.whole = walk(directory, func(at string, entries []fs.DirEntry) {
		v.repositories = append(v.repositories, repositoriesAt(at, entries)...)
		for _, n := range autorun.Names {
			if !n.Deep && at != directory {
				continue
			}
			i, there := slices.BinarySearchFunc(entries, n.Name, func(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) })
			if there && !isPlaced(entries[i]) {
				v.note(filepath.Join(at, n.Name))
			}
		}
	})
	for _, repository := range v.repositories {
		if own := ownDirectory(repository); own != "" {
			v.steps[own] = stepsIn(own)
		}
	}
	return v
}

// ask asks git what it obeys by its settings.
func (v *view) ask() {
	asked := false
	v.obeyed, asked = obeyed(v.directory, v.repositories)
	v.whole = v.whole && asked
	for _, s := range v.obeyed {
		if s.Program {
			v.note(s.Path)
		}
		if !there(s.Path) {
			v.absent = append(v.absent, s.Path)
		}
	}
}

// there reports whether something has a name that does not only guard it.
func there(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode() != placedMode
}

// note keeps the stamp of a file by which others are told what to run. Of a directory it is that it
// is there: what is in it is closed to commands.
func (v *view) note(path string) {
	info, err := os.Lstat(path)
	if err != nil {
		return
	}
	s := stamp{}
	if status, ok := info.Sys().(*syscall.Stat_t); ok && !info.IsDir() {
		s = stamp{status.Ino, status.Ctim}
	}
	v.startup[path] = s
}

// ownDirectory is where a repository has its settings, "" where there is nothing of the kind: git
// follows a link, and the path in a file .git.
func ownDirectory(repository string) string {
	real, err := filepath.EvalSymlinks(repository)
	if err != nil {
		return ""
	}
	info, err := os.Stat(real)
	if err != nil || info.IsDir() {
		return real
	}
	text, err := readSmall(real)
	target, ok := strings.CutPrefix(strings.TrimRight(text, "\r\n"), "gitdir:")
	if err != nil || !ok {
		return ""
	}
	if target = strings.TrimSpace(target); !filepath.IsAbs(target) {
		target = filepath.Join(filepath.Dir(repository), target)
	}
	real, err = filepath.EvalSymlinks(target)
	if err != nil {
		return target // it may come to be
	}
	return real
}

// readSmall reads a regular file that is not long.
func readSmall(path string) (string, error) {
	const most = 1 << 20
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe would wait for who writes
	if err != nil {
		return "", err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Size() > most {
		return "", fmt.Errorf("%s is no small file", path)
	}
	text, err := io.ReadAll(io.LimitReader(file, most))
	return string(text), err
}

// stopped are the files of what git goes on with after it stopped, in which it is told what to run.
// What it keeps of git am has nothing of the kind.
var stopped = [...]string{
	"rebase-merge/git-rebase-todo", "rebase-merge/strategy", "rebase-merge/strategy_opts",
	"sequencer/todo", "sequencer/opts",
}

// stepsIn are what git would run of that in a repository, each behind its file. A strategy is a
// program too; git's own are none that anybody made.
func stepsIn(own string) (steps []string) {
	for _, name := range stopped {
		text, err := readSmall(filepath.Join(own, name))
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENOTDIR) {
			continue
		}
		if err != nil {
			steps = append(steps, name+": cannot be read")
			continue
		}
		for line := range strings.Lines(text) {
			words := strings.Fields(strings.ReplaceAll(line, "=", " "))
			if len(words) == 0 {
				continue
			}
			runs := words[0] == "exec" || words[0] == "x"
			switch filepath.Base(name) {
			case "strategy":
				runs = !ownStrategy(words[0])
			case "opts":
				runs = words[0] == "strategy" && !ownStrategy(words[len(words)-1])
			case "strategy_opts":
				runs = false
			}
			if runs {
				steps = append(steps, name+": "+strings.TrimSpace(line))
			}
		}
	}
	return steps
}

func ownStrategy(name string) bool {
	return slices.Contains([]string{"ort", "recursive", "resolve", "octopus", "ours", "subtree"}, strings.Trim(name, `"`))
}

// cleanUp compares the directory with the view before the command. It puts aside what is new and
// would have git run something, and returns what else is new. Nothing that the command started may
// run any more.
func (v *view) cleanUp() (left Left) {
	root, err := os.OpenRoot(v.directory)
	if err != nil {
		return Left{Unseen: true}
	}
	defer root.Close()
	now := viewOf(v.directory)
	s := cleanup{view: v, now: now, root: root}
	s.settings()
	for _, repository := range now.repositories {
		if !slices.Contains(v.repositories, repository) {
			left.Repositories = append(left.Repositories, repository)
			s.made(repository)
		}
	}
	for own, steps := range now.steps {
		if within(own, v.directory) {
			s.steps(own, steps)
		}
	}
	for path, stamp := range now.startup {
		if before, there := v.startup[path]; !there || before != stamp {
			left.Startup = append(left.Startup, path)
		}
	}
	slices.Sort(left.Startup)
	slices.Sort(s.aside)
	left.Aside, left.Unseen = s.aside, v.whole && !now.whole || s.failed
	return left
}

// cleanup is one run of cleanUp. It renames and writes only below root, out of which no link leads.
type cleanup struct {
	*view
	now    *view
	root   *os.Root
	aside  []string
	failed bool
}

// settings puts aside the files that git's settings name and that did not exist before.
func (s *cleanup) settings() {
	for _, setting := range s.obeyed {
		switch {
		case !slices.Contains(s.absent, setting.Path) || !there(setting.Path):
		case setting.Program:
			s.now.note(setting.Path) // it is told
		default:
			s.putAside(setting.Path)
		}
	}
}

// made removes from a new repository what git would run.
func (s *cleanup) made(repository string) {
	own := ownDirectory(repository)
	for known := range s.view.steps {
		if own == known || within(own, filepath.Join(known, "worktrees")) || within(own, filepath.Join(known, "modules")) {
			return // which are closed to commands
		}
	}
	if own == "" {
		return // nothing that git reads
	}
	if !within(own, s.directory) || !exists(own) {
		s.putAside(repository)
		return
	}
	s.disarm(own)
}

// disarm takes from a repository's own directory what git would run. A repository as git makes it
// is left as it is.
func (s *cleanup) disarm(own string) {
	common := filepath.Join(own, "commondir")
	if text, err := readSmall(common); err == nil {
		if text = strings.TrimSpace(text); !filepath.IsAbs(text) {
			text = filepath.Join(own, text)
		}
		real, err := filepath.EvalSymlinks(text)
		if _, known := s.now.steps[real]; err != nil || !known {
			s.putAside(common)
		}
	} else if !errors.Is(err, fs.ErrNotExist) {
		s.putAside(common)
	}
	hooks := filepath.Join(own, "hooks")
	if info, err := os.Lstat(hooks); err == nil {
		entries, err := os.ReadDir(hooks)
		runs := slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return !strings.HasSuffix(e.Name(), ".sample") })
		if runs || err != nil || !info.IsDir() {
			s.putAside(hooks)
		}
	}
	for _, name := range [...]string{"config.worktree", "config"} {
		s.disarmSettings(filepath.Join(own, name))
	}
}

// disarmSettings leaves of a file of settings what is harmless.
func (s *cleanup) disarmSettings(path string) {
	info, err := os.Lstat(path)
	if !there(path) {
		return
	}
	if err != nil || !info.Mode().IsRegular() {
		s.putAside(path)
		return
	}
	text, err := readSmall(path)
	if err != nil {
		s.putAside(path)
		return
	}
	allowed, whole := harmless(text)
	if whole || !s.putAside(path) {
		return
	}
	name, err := filepath.Rel(s.directory, path)
	if err == nil {
		var file *os.File
		if file, err = s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()); err == nil {
			_, err = file.WriteString(allowed)
			err = errors.Join(err, file.Close())
		}
	}
	s.failed = s.failed || err != nil
}

// steps puts aside what git would go on with, where it would run what it would not have before.
func (s *cleanup) steps(own string, steps []string) {
	for _, step := range steps {
		if slices.Contains(s.view.steps[own], step) {
			continue
		}
		directory, _, _ := strings.Cut(step, "/")
		if path := filepath.Join(own, directory); exists(path) {
			s.putAside(path)
		}
	}
}

// putAside gives what has a name another, and reports whether it did.
func (s *cleanup) putAside(path string) bool {
	name, err := filepath.Rel(s.directory, path)
	if err != nil {
		s.failed = true
		return false
	}
	aside := name + ".set-aside"
	for n := 2; exists(filepath.Join(s.directory, aside)); n++ {
		aside = fmt.Sprintf("%s.set-aside-%d", name, n)
	}
	if err := s.root.Rename(name, aside); err != nil {
		s.failed = true
		return false
	}
	s.aside = append(s.aside, filepath.Join(s.directory, aside))
	return true
}
