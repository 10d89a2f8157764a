package skillmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"org-agent/kernel/withheld"
)

// maximumSkills is how many directories are read in one place.
const maximumSkills = 10_000

// origin is a place from which skills are read.
type origin struct {
	shipped   bool
	files     fs.FS  // for shipped skills
	directory string // for the home's skills
}

// path returns the path of a skill's file as people see it.
func (o origin) path(name string) string {
	if o.shipped {
		return path.Join("skills", name, FileName)
	}
	return filepath.Join(o.directory, name, FileName)
}

// list returns the sorted names of the directories that could be skills. A link counts as its
// target.
func (o origin) list() ([]string, error) {
	var entries []fs.DirEntry
	var err error
	if o.shipped {
		entries, err = fs.ReadDir(o.files, ".")
	} else {
		entries, err = os.ReadDir(o.directory)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("list the skills in %s: %w", o.directory, err)
	}
	var names []string
	for _, entry := range entries {
		if name := entry.Name(); mayBeSkill(name) && (entry.IsDir() || entry.Type()&fs.ModeSymlink != 0) {
			names = append(names, name)
		}
	}
	if len(names) > maximumSkills {
		return names[:maximumSkills], fmt.Errorf("list the skills in %s: there are %d directories, and only the first %d are read", o.directory, len(names), maximumSkills)
	}
	return names, nil
}

// mayBeSkill excludes hidden names, notes, and the files that editors leave.
func mayBeSkill(name string) bool {
	return !strings.HasPrefix(name, ".") && !strings.HasPrefix(name, "#") && !strings.HasSuffix(name, ".org")
}

// errNoSkill means that the directory has no SKILL.md and is therefore not a skill.
var errNoSkill = errors.New("there is no " + FileName)

// folder is the opened directory of a skill. Files outside of it cannot be read through it.
type folder struct {
	root *os.Root // nil for a shipped skill
	fs   fs.FS
}

func (o origin) open(name string) (folder, error) {
	if o.shipped {
		files, err := fs.Sub(o.files, name)
		return folder{fs: files}, err
	}
	root, err := os.OpenRoot(filepath.Join(o.directory, name))
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, fs.ErrNotExist) {
		return folder{}, errNoSkill
	}
	if err != nil {
		return folder{}, fmt.Errorf("open the directory: %w", plain(err))
	}
	return folder{root: root, fs: root.FS()}, nil
}

func (f folder) close() {
	if f.root != nil {
		_ = f.root.Close() // the directory was only read
	}
}

// read returns at most limit bytes of a regular file, and its size. It does not block on a pipe. What
// is withheld from models is not returned.
func (f folder) read(name string, limit int64) (text string, size int64, err error) {
	var file fs.File
	if f.root != nil {
		file, err = f.root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0)
	} else {
		file, err = f.fs.Open(name)
	}
	if err != nil {
		return "", 0, plain(err)
	}
	defer func() { _ = file.Close() }() // the file was only read
	info, err := file.Stat()
	if err != nil {
		return "", 0, plain(err)
	}
	if !info.Mode().IsRegular() {
		return "", 0, errNotRegular
	}
	data, err := io.ReadAll(io.LimitReader(file, limit))
	if err != nil || f.root == nil { // what comes with the program withholds nothing
		return string(data), info.Size(), plain(err)
	}
	text, err = f.visible(name, string(data), file, info)
	return text, info.Size(), plain(err)
}

// visible returns the beginning of a file without what is withheld. The tags of the whole file count.
func (f folder) visible(name, text string, file fs.File, info fs.FileInfo) (string, error) {
	whole, ok := file.(io.ReaderAt)
	if !ok {
		return "", errNotRegular
	}
	path, err := filepath.Abs(filepath.Join(f.root.Name(), filepath.FromSlash(name)))
	if err != nil {
		return "", err
	}
	veil, err := withheld.Over(path, whole, info)
	if err != nil || veil == nil {
		return text, err
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		if !veil.Hides(strings.TrimPrefix(line, "\ufeff"), !strings.HasSuffix(line, "\n") && info.Size() > int64(len(text))) {
			b.WriteString(line)
		}
	}
	return b.String(), nil
}

var errNotRegular = errors.New("it is no regular file")

var errOutside = errors.New("a link there leads out of the skill's directory")

// plain returns an error without the operation and the path, which the surrounding message
// contains.
func plain(err error) error {
	var inPath *fs.PathError
	if !errors.As(err, &inPath) {
		return err
	}
	if inPath.Err.Error() == "path escapes from parent" { // [os.Root] exports no such error
		return errOutside
	}
	return inPath.Err
}

// The limits of a listing of a skill's files: their number, the number of entries examined, and the
// depth.
const (
	listedFiles  = 50
	visitedFiles = 1000
	listedDepth  = 4
)

// list returns the regular files beneath the directory, without SKILL.md and hidden files, and
// whether there are more.
func (f folder) list() (names []string, more bool) {
	visited := 0
	_ = fs.WalkDir(f.fs, ".", func(name string, entry fs.DirEntry, err error) error { // unreadable entries are not listed
		if visited++; visited > visitedFiles || len(names) == listedFiles {
			more = true
			return fs.SkipAll
		}
		if err != nil || name == "." {
			return nil
		}
		hidden := strings.HasPrefix(entry.Name(), ".")
		switch {
		case entry.IsDir() && (hidden || strings.Count(name, "/") >= listedDepth-1):
			return fs.SkipDir
		case entry.Type().IsRegular() && !hidden && name != FileName:
			names = append(names, name)
		}
		return nil
	})
	slices.Sort(names)
	return names, more
}
