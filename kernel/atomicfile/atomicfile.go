// Package atomicfile writes files so that a reader always sees either the old content or the new
// one, and a process that dies leaves one of the two.
//
// The directory of a file must exist. The new content is first written beside the file, under a
// name that begins with a dot. Nothing here waits or locks: if two processes write one file at the
// same time, the last one wins. Only [Replace] checks first.
package atomicfile

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// ErrChanged is the error of [Replace] if the file does not have the expected content.
var ErrChanged = errors.New("it was changed meanwhile; try again")

// Write makes path a file with this content and mode, and replaces any file there. It is for
// content that can be made again, because it may be lost after a power failure.
func Write(path string, content []byte, mode fs.FileMode) error {
	return write(path, content, mode, func(*os.File) error { return nil })
}

// Replace replaces the content of a person's file. A file that does not exist has no content. The
// new content is on the disk when Replace returns. The file keeps its mode; mode is for a new file.
// A link stays, and its target is replaced. If the content is no longer old, the file stays as it
// is and the error is [ErrChanged]. A read-only file stays as it is too. A change that another
// program makes between the last check and the writing is lost, which no known file system can
// prevent.
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
	err = write(path, content, mode, func(file *os.File) error {
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
	if err != nil {
		return err
	}
	return syncDirectory(path)
}

// Flush waits until the content of a file that another program wrote, and its name, are on the disk. A link
// is followed.
func Flush(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(real, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("flush %s: %w", path, err)
	}
	return syncDirectory(real)
}

// syncDirectory waits until the name of a file is on the disk. A file system that cannot is no error: its
// names need no flush, or have none.
func syncDirectory(path string) error {
	directory, err := os.Open(filepath.Dir(path))
	if errors.Is(err, fs.ErrPermission) {
		return nil // it may be written and not read
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	err = directory.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	if err = errors.Join(err, directory.Close()); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// Create makes a new file. If the file exists, it stays and the error is [fs.ErrExist]. The mode is
// reduced by the umask of the process. The file is on the disk when Create returns.
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
		err = renameNew(beside, path)
	}
	if err == nil {
		return syncDirectory(path)
	}
	err = fmt.Errorf("write %s: %w", path, err)
	if left := os.Remove(beside); !errors.Is(left, fs.ErrNotExist) {
		err = errors.Join(err, left)
	}
	return err
}

// renameNew renames a file to a name that must not exist.
func renameNew(beside, path string) error {
	err := os.Link(beside, path) // a link never replaces a file, as renaming does
	if err == nil {
		return os.Remove(beside)
	}
	if _, there := os.Lstat(path); there == nil {
		return fs.ErrExist
	}
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrPermission) {
		return os.Rename(beside, path) // the file system has no links
	}
	return err
}

// write writes the file. It calls last with the file before the file becomes visible, and stops if
// last fails.
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
