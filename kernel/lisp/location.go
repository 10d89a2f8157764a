package lisp

import (
	"context"
	"crypto/rand"
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

// location is a file below a granted directory, by its path without links.
type location struct {
	root string // the granted directory
	name string // of the file, relative to it
}

func (p location) path() string { return filepath.Join(p.root, p.name) }

var (
	errNotRegular   = errors.New("it is no regular file")
	errNotDirectory = errors.New("it is no directory")
	errMoved        = errors.New("something else took its place while it was opened")
)

// open runs use with the directory that the file is in, and the file's name in it. What
// is opened on the way is what the path named without a link: one that came into the way
// since it was looked up is not followed.
func (p location) open(use func(parent *os.Root, name string) error) error {
	parent, err := openGranted(p.root)
	if err != nil {
		return fmt.Errorf("open the granted directory: %w", err)
	}
	defer func() { _ = parent.Close() }() // nothing was written to it
	for _, name := range strings.Split(filepath.Dir(p.name), "/") {
		if name == "." {
			continue
		}
		next, err := enter(parent, name)
		if err != nil {
			return fmt.Errorf("open the directory %s: %w", name, err)
		}
		_ = parent.Close()
		parent = next
	}
	return use(parent, filepath.Base(p.name))
}

// openGranted opens a directory that must be at its path without links.
func openGranted(path string) (*os.Root, error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(path)
	if err == nil && real != path {
		err = errMoved
	}
	if err == nil {
		var there fs.FileInfo
		if there, err = os.Lstat(path); err == nil {
			err = unmoved(root, there)
		}
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// enter opens a directory in another one, and no link to one.
func enter(parent *os.Root, name string) (*os.Root, error) {
	there, err := parent.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !there.IsDir() {
		return nil, errNotDirectory
	}
	root, err := parent.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if err := unmoved(root, there); err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return root, nil
}

// unmoved makes sure that what was opened is what was there.
func unmoved(root *os.Root, there fs.FileInfo) error {
	opened, err := root.Stat(".")
	if err == nil && !os.SameFile(opened, there) {
		err = errMoved
	}
	return err
}

// openRegular opens a file that is there, and nothing but a regular one: neither a link nor
// a pipe, which would hold the call.
func openRegular(parent *os.Root, name string, flags int) (*os.File, fs.FileInfo, error) {
	there, err := parent.Lstat(name)
	if err != nil {
		return nil, nil, fmt.Errorf("look at the file: %w", err)
	}
	if !there.Mode().IsRegular() {
		return nil, nil, errNotRegular
	}
	file, err := parent.OpenFile(name, flags|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, fmt.Errorf("open the file: %w", err)
	}
	opened, err := file.Stat()
	if err == nil && !os.SameFile(opened, there) {
		err = errMoved
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, opened, nil
}

// read returns the text of a file; charge is told its size before it is read.
func (p location) read(ctx context.Context, charge func(size int64)) (text []byte, err error) {
	err = p.open(func(parent *os.Root, name string) error {
		file, info, err := openRegular(parent, name, os.O_RDONLY)
		if err != nil {
			return err
		}
		defer func() { _ = file.Close() }() // it was only read
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

// newMode is the mode of a file that was not there.
const newMode = 0o644

// write stores text: as a file of its own that takes the old one's place, and mode, when
// it is whole.
func (p location) write(text string) error {
	return p.open(func(parent *os.Root, name string) error {
		old, err := parent.Lstat(name)
		if err == nil && !old.Mode().IsRegular() {
			return errNotRegular
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("look at the file: %w", err)
		}
		beside := "." + rand.Text()[:12] + ".new~"
		file, err := parent.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, newMode)
		if err != nil {
			return fmt.Errorf("open the file: %w", err)
		}
		if old != nil {
			err = file.Chmod(old.Mode().Perm())
		}
		if err == nil {
			_, err = io.WriteString(file, text)
		}
		if err = errors.Join(err, file.Close()); err == nil {
			err = parent.Rename(beside, name)
		}
		if err != nil {
			return errors.Join(fmt.Errorf("write the file: %w", err), parent.Remove(beside))
		}
		return nil
	})
}

// add writes text behind what the file has.
func (p location) add(text string) error {
	return p.open(func(parent *os.Root, name string) error {
		file, _, err := openRegular(parent, name, os.O_WRONLY|os.O_APPEND)
		if errors.Is(err, fs.ErrNotExist) {
			file, err = parent.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, newMode)
		}
		if err != nil {
			return err
		}
		_, err = io.WriteString(file, text)
		if err = errors.Join(err, file.Close()); err != nil {
			return fmt.Errorf("write the file: %w", err)
		}
		return nil
	})
}

// stat looks at a file; a missing one is no error.
func (p location) stat() (info fs.FileInfo, err error) {
	err = p.open(func(parent *os.Root, name string) error {
		info, err = parent.Lstat(name)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return info, err
}

// remove deletes a regular file.
func (p location) remove() error {
	return p.open(func(parent *os.Root, name string) error {
		info, err := parent.Lstat(name)
		if err == nil && !info.Mode().IsRegular() {
			err = errNotRegular
		}
		if err != nil {
			return err
		}
		return parent.Remove(name)
	})
}

// rename gives a regular file another name below the same granted directory. Directories
// stay: what is protected may be in them.
func (p location) rename(to location) error {
	if p.root != to.root {
		return errors.New("a file cannot be moved from one granted directory to another")
	}
	info, err := p.stat()
	if err == nil && info == nil {
		err = fs.ErrNotExist
	}
	if err != nil {
		return err
	}
	old, err := to.stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() || old != nil && !old.Mode().IsRegular() {
		return errNotRegular
	}
	root, err := openGranted(p.root)
	if err != nil {
		return err
	}
	return errors.Join(root.Rename(p.name, to.name), root.Close())
}

// makeDirectories makes the directory and those above it that are missing.
func (p location) makeDirectories() error {
	parent, err := openGranted(p.root)
	if err != nil {
		return fmt.Errorf("open the granted directory: %w", err)
	}
	defer func() { _ = parent.Close() }() // nothing was written to it
	for _, name := range strings.Split(p.name, "/") {
		if name == "." {
			continue
		}
		if err := parent.Mkdir(name, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("make the directory: %w", err)
		}
		next, err := enter(parent, name)
		if err != nil {
			return fmt.Errorf("open the directory: %w", err)
		}
		_ = parent.Close()
		parent = next
	}
	return nil
}

// entries are the names in a directory, at most limit, in alphabetical order.
func (p location) entries(limit int) (entries []fs.DirEntry, err error) {
	err = p.open(func(parent *os.Root, name string) error {
		if name != "." {
			if parent, err = enter(parent, name); err != nil {
				return fmt.Errorf("open the directory: %w", err)
			}
			defer func() { _ = parent.Close() }() // it was only read
		}
		directory, err := parent.Open(".")
		if err != nil {
			return fmt.Errorf("open the directory: %w", err)
		}
		defer func() { _ = directory.Close() }() // it was only read
		entries, err = directory.ReadDir(limit)
		if err != nil && err != io.EOF {
			return fmt.Errorf("read the directory: %w", err)
		}
		return nil
	})
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}
