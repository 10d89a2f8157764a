// Package config finds an instance's files, makes its directories, reads
// config.org, and says which models to ask and where their keys are.
//
// Blocking: everything here reads and writes small local files and returns,
// except [KeySource.Resolve], which may run the person's own command until its
// context or half a minute ends, and [LockInstance], which waits three seconds
// for a kernel that is ending. No goroutine outlives a call.
//
// Order: [Choices] lists models in the order in which they are to be tried.
//
// Ownership: values are plain data and the caller's; [Lock] belongs to whoever
// took it until its Release. Nothing here keeps state between calls, and the
// environment is only seen through the function that is passed in.
//
// Errors say what to do next. A secret is a [Secret], which prints as REDACTED,
// and stands in no error.
package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// writeAtomically replaces the file at path by one with this content and mode.
// A reader sees the old or the new, whole.
func writeAtomically(path string, content []byte, mode fs.FileMode) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(file.Name()))
		}
	}()
	_, err = file.Write(content)
	err = errors.Join(err, file.Chmod(mode), file.Sync(), file.Close())
	if err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}
