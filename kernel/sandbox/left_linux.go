package sandbox

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
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

// view is what programs outside of the fence obey in a directory at one moment. The file of
// [Command.Note] holds it as JSON.
type view struct {
	Directory    string
	Whole        bool // every directory below it was looked into
	Repositories []string
	Obeyed       []setting
	Absent       []string            // the paths of Obeyed that do not exist
	Startup      map[string]stamp    // by path
	Steps        map[string][]string // what a stopped rebase would run, by the repository's own directory
}

// stamp is the identity of a file and the time of its last change. No process in the fence can set
// them.
type stamp struct {
	File    uint64
	Changed syscall.Timespec
}

// viewOf looks at a directory.
func viewOf(directory string) *view {
	v := &view{Directory: directory, Startup: map[string]stamp{}, Steps: map[string][]string{}}
	v.Whole = walk(directory, func(at string, entries []fs.DirEntry) {
		v.Repositories = append(v.Repositories, repositoriesAt(at, entries)...)
		for _, n := range autorun.Names {
			if !n.Deep && at != directory {
				continue
			}
			i, there := slices.BinarySearchFunc(entries, n.Name, func(e fs.DirEntry, name string) int { return strings.Compare(e.Name(), name) })
			switch path := filepath.Join(at, n.Name); {
			case !there || isPlaceholder(entries[i]):
			case n.Ordinary:
				v.noteOrdinary(path, n.Part)
			case at == directory || n.Placeholder || !ofOthers(at, directory):
				v.note(path)
			}
		}
	})
	for _, repository := range v.Repositories {
		if own := ownDirectory(repository); own != "" {
			v.Steps[own] = stepsIn(own)
		}
	}
	return v
}

// ask asks git for the files that its settings name.
func (v *view) ask() {
	whole := false
	v.Obeyed, whole = obeyedSettings(v.Directory, v.Repositories)
	v.Whole = v.Whole && whole
	for _, s := range v.Obeyed {
		if s.Program {
			v.note(s.Path)
		}
		if !hasContent(s.Path) {
			v.Absent = append(v.Absent, s.Path)
		}
	}
}

// hasContent reports whether something other than a placeholder exists at a path.
func hasContent(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && !holdsPlace(info.Mode())
}

// note stores the stamp of a startup file. For a directory at the top it stores only that it exists,
// because the content is closed to commands. Further down it is the latest change in it.
func (v *view) note(path string) {
	info, err := os.Lstat(path)
	if err != nil {
		return
	}
	s := stamp{}
	if !info.IsDir() {
		s = stampOf(info)
	} else if filepath.Dir(path) != v.Directory {
		entries, _ := os.ReadDir(path) // one that cannot be read has no startup files for us
		for _, entry := range entries {
			if inner, err := entry.Info(); err == nil {
				one := stampOf(inner)
				s.File += one.File
				s.Changed = latest(s.Changed, one.Changed)
			}
		}
	}
	v.Startup[path] = s
}

func stampOf(info fs.FileInfo) stamp {
	status, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return stamp{}
	}
	return stamp{File: status.Ino, Changed: status.Ctim}
}

func latest(a, b syscall.Timespec) syscall.Timespec {
	if a.Nano() > b.Nano() {
		return a
	}
	return b
}

// noteOrdinary stores that an ordinary file is there, and a sum of the part of it that counts.
func (v *view) noteOrdinary(path, part string) {
	s := stamp{}
	if part != "" {
		var parts map[string]json.RawMessage
		text, err := readSmall(path)
		if err != nil || json.Unmarshal([]byte(text), &parts) != nil || len(parts[part]) == 0 {
			return // there is nothing to run
		}
		sum := sha256.Sum256(parts[part])
		s.File = binary.LittleEndian.Uint64(sum[:])
	}
	v.Startup[path] = s
}

// ofOthers reports whether a directory holds what package managers install.
func ofOthers(at, directory string) bool {
	rest, err := filepath.Rel(directory, at)
	return err == nil && slices.ContainsFunc(strings.Split(rest, "/"), func(part string) bool { return slices.Contains(dependencyDirectories[:], part) })
}

// ownDirectory returns the directory with a repository's settings, or "" if there is none. It
// follows links and the path in a file .git, as git does.
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
		return target // it may be made later
	}
	return real
}

// readSmall reads a regular file of at most 1 MiB.
func readSmall(path string) (string, error) {
	const most = 1 << 20
	file, err := os.OpenFile(path, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe would block
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

// rebaseFiles are the files by which git continues a stopped operation and that name programs.
// Those of git am name none.
var rebaseFiles = [...]string{
	"rebase-merge/git-rebase-todo", "rebase-merge/strategy", "rebase-merge/strategy_opts",
	"sequencer/todo", "sequencer/opts",
}

// stepsIn lists the programs in these files of a repository, each after the name of its file. A
// merge strategy is a program too, unless it is one of git's own.
func stepsIn(own string) (steps []string) {
	for _, name := range rebaseFiles {
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
// would make git run something, and returns what else is new.
//
// If runs is true, the command still runs. The steps of a rebase are then reported and stay,
// because the command itself may continue them. The command can undo whatever else was put aside,
// so cleanUp is called repeatedly, and once more when nothing of the command runs.
func (v *view) cleanUp(runs bool) (left Left) {
	root, err := os.OpenRoot(v.Directory)
	if errors.Is(err, fs.ErrNotExist) {
		return Left{} // the directory is gone
	}
	if err != nil {
		return Left{Unseen: true}
	}
	defer root.Close()
	now := viewOf(v.Directory)
	s := cleanup{view: v, now: now, root: root}
	s.settings()
	for _, repository := range now.Repositories {
		if !slices.Contains(v.Repositories, repository) {
			left.Repositories = append(left.Repositories, repository)
			s.disarmNew(repository)
		}
	}
	for own, steps := range now.Steps {
		if !within(own, v.Directory) {
			continue
		}
		for _, path := range s.newSteps(own, steps) {
			if runs {
				left.Steps = append(left.Steps, path)
			} else {
				s.putAside(path)
			}
		}
	}
	for path, stamp := range now.Startup {
		if before, there := v.Startup[path]; !there || before != stamp {
			left.Startup = append(left.Startup, path)
		}
	}
	for _, names := range [...][]string{left.Startup, left.Steps, s.aside} {
		slices.Sort(names)
	}
	left.Aside, left.Unseen = s.aside, v.Whole && !now.Whole || s.failed
	return left
}

// cleanup is one run of cleanUp. It renames and writes only below root. os.Root follows no link
// that leads out of it, so a command that still runs cannot lead it elsewhere.
type cleanup struct {
	*view
	now    *view
	root   *os.Root
	aside  []string
	failed bool
}

// settings puts aside the files that git's settings name and that did not exist before.
func (s *cleanup) settings() {
	for _, setting := range s.Obeyed {
		switch {
		case !slices.Contains(s.Absent, setting.Path) || !hasContent(setting.Path):
		case setting.Program:
			s.now.note(setting.Path) // it is reported among the startup files
		default:
			s.putAside(setting.Path)
		}
	}
}

// disarmNew removes from a new repository what git would run.
func (s *cleanup) disarmNew(repository string) {
	own := ownDirectory(repository)
	for known := range s.Steps {
		if own == known || within(own, filepath.Join(known, "worktrees")) || within(own, filepath.Join(known, "modules")) {
			return // commands cannot write there
		}
	}
	if own == "" {
		return // git reads nothing there
	}
	if !within(own, s.Directory) || !exists(own) {
		s.putAside(repository)
		return
	}
	s.disarm(own)
}

// disarm removes from a repository's own directory what git would run. It leaves a repository as
// git makes it unchanged.
func (s *cleanup) disarm(own string) {
	common := filepath.Join(own, "commondir")
	if text, err := readSmall(common); err == nil {
		if text = strings.TrimSpace(text); !filepath.IsAbs(text) {
			text = filepath.Join(own, text)
		}
		real, err := filepath.EvalSymlinks(text)
		if _, known := s.now.Steps[real]; err != nil || !known {
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

// disarmSettings reduces a file of settings to its harmless part.
func (s *cleanup) disarmSettings(path string) {
	info, err := os.Lstat(path)
	if !hasContent(path) {
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
	name, err := filepath.Rel(s.Directory, path)
	if err == nil {
		var file *os.File
		if file, err = s.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()); err == nil {
			_, err = file.WriteString(allowed)
			err = errors.Join(err, file.Close())
		}
	}
	s.failed = s.failed || err != nil
}

// newSteps returns the directories in which git keeps steps that it would run now and would not
// have run before the command.
func (s *cleanup) newSteps(own string, steps []string) (paths []string) {
	for _, step := range steps {
		if slices.Contains(s.Steps[own], step) {
			continue
		}
		name, _, _ := strings.Cut(step, "/")
		if path := filepath.Join(own, name); exists(path) && !slices.Contains(paths, path) {
			paths = append(paths, path)
		}
	}
	return paths
}

// putAside renames something, and reports whether it did.
func (s *cleanup) putAside(path string) bool {
	name, err := filepath.Rel(s.Directory, path)
	if err != nil {
		s.failed = true
		return false
	}
	aside := name + ".set-aside"
	for n := 2; exists(filepath.Join(s.Directory, aside)); n++ {
		aside = fmt.Sprintf("%s.set-aside-%d", name, n)
	}
	if err := s.root.Rename(name, aside); err != nil {
		s.failed = true
		return false
	}
	s.aside = append(s.aside, filepath.Join(s.Directory, aside))
	return true
}
