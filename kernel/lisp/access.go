package lisp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Access is what a note may reach outside of the language. The functions that need it
// exist only where it is granted.
type Access struct {
	// Read and Write are the directories whose files, and those of the directories
	// below, may be read and written. Links are followed before a path is looked up in
	// them, and a link that leads out of them while a file is opened is refused.
	Read, Write []string
	// Environment are the names of the environment variables that may be read.
	Environment []string
	// Directory is what relative paths are relative to. Default: the working directory.
	Directory string
}

// kinds are the kinds of capability that something is granted of.
func (a *Access) kinds() []string {
	var kinds []string
	for kind, granted := range map[string][]string{"read": a.Read, "write": a.Write, "env": a.Environment} {
		if len(granted) > 0 {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// location is a file below a granted directory.
type location struct {
	root string // the directory, without links
	name string // of the file, relative to it
}

func (p location) path() string { return filepath.Join(p.root, p.name) }

// open runs use with the directory, which no name leads out of.
func (p location) open(use func(root *os.Root) error) error {
	root, err := os.OpenRoot(p.root)
	if err != nil {
		return fmt.Errorf("open the granted directory: %w", err)
	}
	defer root.Close()
	return use(root)
}

// locate finds a path in the directories granted for reading or writing.
func (a *Access) locate(path string, write bool) (location, error) {
	full, err := a.absolute(path)
	if err != nil {
		return location{}, err
	}
	granted, kind := a.Read, "read"
	if write {
		granted, kind = a.Write, "write"
	}
	for _, directory := range granted {
		root, err := filepath.EvalSymlinks(directory)
		if err != nil {
			continue
		}
		if name, err := filepath.Rel(root, full); err == nil && filepath.IsLocal(name) {
			return location{root: root, name: name}, nil
		}
	}
	return location{}, fmt.Errorf("%s is outside of what was granted: ask for %s:%s in the note's #+CAPABILITIES line", path, kind, filepath.Dir(path))
}

// absolute makes a path absolute and follows the links of as much of it as exists.
func (a *Access) absolute(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the home directory: %w", err)
		}
		path = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.Directory, path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find the file: %w", err)
	}
	rest := ""
	for existing := path; ; existing = filepath.Dir(existing) {
		if real, err := filepath.EvalSymlinks(existing); err == nil {
			return filepath.Join(real, rest), nil
		}
		// A link that leads nowhere must not be taken for a name.
		if info, err := os.Lstat(existing); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return "", fmt.Errorf("%s is a link that leads nowhere", path)
		}
		if existing == filepath.Dir(existing) {
			return path, nil
		}
		rest = filepath.Join(filepath.Base(existing), rest)
	}
}

// variable returns an environment variable that was granted.
func (a *Access) variable(name string) (value string, set bool, err error) {
	if !slices.Contains(a.Environment, name) {
		return "", false, fmt.Errorf("the environment variable %s was not granted: ask for env:%s in the note's #+CAPABILITIES line", name, name)
	}
	value, set = os.LookupEnv(name)
	return value, set, nil
}

var errNotRegular = errors.New("it is no regular file")

// read returns the text of a file; charge is told its size before it is read.
func (p location) read(ctx context.Context, charge func(size int64)) (text []byte, err error) {
	err = p.open(func(root *os.Root) error {
		// Without blocking: a pipe must not hold the call.
		file, err := root.OpenFile(p.name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return fmt.Errorf("open the file: %w", err)
		}
		defer file.Close()
		info, err := file.Stat()
		if err != nil {
			return fmt.Errorf("look at the file: %w", err)
		}
		if !info.Mode().IsRegular() {
			return errNotRegular
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("read the file: %w", err)
		}
		charge(info.Size())
		text, err = io.ReadAll(io.LimitReader(file, info.Size()))
		if err != nil {
			return fmt.Errorf("read the file: %w", err)
		}
		return nil
	})
	return text, err
}

// write stores text: as a file of its own that takes the old one's place when it is
// whole, or at the end of the file.
func (p location) write(text string, appending bool) error {
	return p.open(func(root *os.Root) error {
		if info, err := root.Stat(p.name); err == nil && !info.Mode().IsRegular() {
			return errNotRegular
		}
		name, flags := p.name+".new~", os.O_WRONLY|os.O_CREATE|os.O_TRUNC
		if appending {
			name, flags = p.name, os.O_WRONLY|os.O_CREATE|os.O_APPEND
		}
		file, err := root.OpenFile(name, flags|syscall.O_NONBLOCK, 0o644)
		if err != nil {
			return fmt.Errorf("open the file: %w", err)
		}
		_, err = io.WriteString(file, text)
		if err = errors.Join(err, file.Close()); err != nil {
			return fmt.Errorf("write the file: %w", err)
		}
		if appending {
			return nil
		}
		if err := root.Rename(name, p.name); err != nil {
			return fmt.Errorf("put the file in its place: %w", err)
		}
		return nil
	})
}

// stat looks at a file; a missing one is no error.
func (p location) stat() (info fs.FileInfo, err error) {
	err = p.open(func(root *os.Root) error {
		info, err = root.Stat(p.name)
		if errors.Is(err, fs.ErrNotExist) {
			info, err = nil, nil
		}
		return err
	})
	return info, err
}

// entries are the names in a directory, at most limit, in alphabetical order.
func (p location) entries(limit int) (entries []fs.DirEntry, err error) {
	err = p.open(func(root *os.Root) error {
		directory, err := root.Open(p.name)
		if err != nil {
			return fmt.Errorf("open the directory: %w", err)
		}
		defer directory.Close()
		entries, err = directory.ReadDir(limit)
		if err != nil && err != io.EOF {
			return fmt.Errorf("read the directory: %w", err)
		}
		return nil
	})
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}
