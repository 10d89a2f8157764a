// Package tablefile keeps a file in which a person writes tables that decide something, such as policy.org. It is read
// again after each change, and changed only from the text that was read.
//
// Ordering: [File.Text] returns what the file had when it was called, or something newer. Blocking: the functions read
// and write one small local file. Ownership: a [File] belongs to whoever decides by it, and is safe for many goroutines.
package tablefile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"time"
	"unicode/utf8"

	"org-agent/kernel/atomicfile"
)

// File is such a file. Its zero value with a path can be used.
type File struct {
	// Path is the path of the file, which need not exist.
	Path string

	writing sync.Mutex // held while the file is changed
	reading sync.Mutex
	known   bool
	seen    version
	text    string
}

// Fault is an error in a line of a file.
type Fault struct {
	File    string
	Line    int
	Message string
}

// Error returns the fault with its place.
func (f Fault) Error() string { return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Message) }

// version distinguishes the states of a file.
type version struct {
	size     int64
	changed  time.Time
	inode    uint64
	statTime time.Time
}

// maximumSize is the maximum size of a file in bytes.
const maximumSize = 1 << 20

// stableAfter is how long a file must be unchanged before its times can distinguish two states.
const stableAfter = time.Second

// Text returns the text of the file as it is now, "" if there is none. It reads the file only if it may have changed.
func (f *File) Text() (string, error) {
	f.reading.Lock()
	defer f.reading.Unlock()
	now, err := f.stat()
	if f.known && err == nil && now.size == f.seen.size && now.inode == f.seen.inode && now.changed.Equal(f.seen.changed) && f.seen.statTime.Sub(f.seen.changed) > stableAfter {
		return f.text, nil
	}
	f.seen, f.known, f.text = now, false, ""
	if err == nil {
		f.text, err = f.read()
	}
	f.known = err == nil
	return f.text, err
}

// Unreadable returns the fault of a file that [File.Text] could not read.
func (f *File) Unreadable(err error) Fault {
	return Fault{File: f.Path, Line: 1, Message: fmt.Sprintf("this file cannot be read: %v", err)}
}

// stat returns the state of the file. A missing file has a state too.
func (f *File) stat() (version, error) {
	info, err := os.Stat(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(f.Path); err == nil {
			return version{}, errors.New("it is a link that leads nowhere")
		}
		return version{statTime: time.Now(), size: -1}, nil
	}
	if err != nil {
		return version{}, err
	}
	if !info.Mode().IsRegular() {
		return version{}, errors.New("it is no regular file")
	}
	now := version{size: info.Size(), changed: info.ModTime(), statTime: time.Now()}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		now.inode = s.Ino
		if changed := statusChanged(s); changed.After(now.changed) {
			now.changed = changed // programs cannot set this time
		}
	}
	return now, nil
}

func (f *File) read() (string, error) {
	file, err := os.OpenFile(f.Path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }() // the file was only read
	text, err := io.ReadAll(io.LimitReader(file, maximumSize+1))
	switch {
	case err != nil:
		return "", err
	case len(text) > maximumSize:
		return "", fmt.Errorf("it has more than %d bytes", maximumSize)
	case !utf8.Valid(text):
		return "", errors.New("it is not UTF-8; save it in that encoding")
	}
	return string(text), nil
}

// Change replaces the text of the file by the result of edit, in one step and only if the file has not changed since it
// was read. It is an error, and the file stays as it is, if edit returns one, if the file is read-only, or if Emacs has
// unsaved changes of it.
func (f *File) Change(edit func(text string) (string, error)) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	path := withoutLinks(f.Path)
	if _, err := os.Lstat(filepath.Join(filepath.Dir(path), ".#"+filepath.Base(path))); err == nil {
		return fmt.Errorf("%s has unsaved changes in an editor: save or revert it there", filepath.Base(path))
	}
	text, err := f.read()
	if err != nil {
		return fmt.Errorf("read %s: %w", f.Path, err)
	}
	changed, err := edit(text)
	if err != nil || changed == text {
		return err
	}
	if err := atomicfile.Replace(path, []byte(text), []byte(changed), 0o644); err != nil {
		if errors.Is(err, fs.ErrPermission) {
			return fmt.Errorf("%s is read-only", filepath.Base(path))
		}
		return err
	}
	return nil
}

// withoutLinks resolves the links in a path as far as the path exists.
func withoutLinks(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if parent := filepath.Dir(path); parent != path {
		return filepath.Join(withoutLinks(parent), filepath.Base(path))
	}
	return path
}
