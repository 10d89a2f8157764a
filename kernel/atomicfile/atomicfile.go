// Package atomicfile writes files whole or not at all: who reads one sees what it was or what
// it is to be, and a process that dies leaves one of the two.
//
// The directory of a file must be there; what is being written stands beside the file under
// a name that begins with a dot. Nothing here waits for anybody, and nothing is locked: of two
// that write one file at once the last wins, but for [Replace], which looks first.
package atomicfile

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrChanged is the error of [Replace] when the file is not what it was taken to be.
var ErrChanged = errors.New("it was changed meanwhile; try again")

// Write makes path a file with this content and mode, in place of whatever file was there.
// It is for what can be made again: when the power fails the content may be lost.
func Write(path string, content []byte, mode fs.FileMode) error {
	return write(path, content, mode, func(*os.File) error { return nil })
}

// Replace gives a person's file a new content in place of the old one; a file that is not
// there has none. It is on the disk when Replace returns. The file keeps its mode, and mode
// is that of a new one; a link stays, and what it leads to is replaced. A file with another
// content by now stays as it is, and the error is [ErrChanged]; one that is read-only stays
// too. (Between the last look and the writing is a moment in which another program's change
// would be lost: no file system that we know closes it.)
func Replace(path string, old, content []byte, mode fs.FileMode) error {
	real, err := filepath.EvalSymlinks(path)
	if err == nil {
		path = real
	}
	if info, err := os.Stat(path); err == nil {
		if mode = info.Mode().Perm(); mode&0o222 == 0 {
			return fmt.Errorf("write %s: it is read-only, make it writable", path)
		}
	}
	return write(path, content, mode, func(file *os.File) error {
		if err := file.Sync(); err != nil {
			return err
		}
		now, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if !bytes.Equal(now, old) {
			return ErrChanged
		}
		return nil
	})
}

// Create makes a file that must not be there: what is there stays, and the error is
// [fs.ErrExist]. The mode is that of a new file, without what the process gives nobody. The file
// is on the disk when Create returns.
func Create(path string, content []byte, mode fs.FileMode) error {
	beside := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+"."+rand.Text()+".new~")
	file, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = take(beside, path)
	}
	if err != nil {
		err = fmt.Errorf("write %s: %w", path, err)
		if left := os.Remove(beside); !errors.Is(left, fs.ErrNotExist) {
			err = errors.Join(err, left)
		}
	}
	return err
}

// take gives a file a name that no other has.
func take(beside, path string) error {
	err := os.Link(beside, path) // which, unlike a renaming, takes no file's place
	if err == nil {
		return os.Remove(beside)
	}
	if _, there := os.Lstat(path); there == nil {
		return fs.ErrExist
	}
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
		return os.Rename(beside, path) // a file system without links
	}
	return err
}

// write makes the file if last, which is called with what was written before it comes to be
// seen, does not fail.
func write(path string, content []byte, mode fs.FileMode, last func(*os.File) error) error {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.new~")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Chmod(mode)); err == nil {
		err = last(file)
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(file.Name()))
	}
	return nil
}
