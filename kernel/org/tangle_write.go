package org

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// WriteTangled writes files in order. It checks all of them before it writes the first byte. Each
// file is written beside its place and renamed, so it is either complete or as it was before. The
// result names the files that were written.
func WriteTangled(files []*TangledFile) (written []string, faults []Diagnostic) {
	made := map[string]bool{} // directories that will be made
	for _, f := range files {
		if err := f.check(made); err != nil {
			faults = append(faults, Diagnostic{f.Line, 1, Error, err.Error()})
		}
	}
	if faults != nil {
		return nil, faults
	}
	for _, f := range files {
		if err := f.write(); err != nil {
			faults = append(faults, Diagnostic{f.Line, 1, Error, err.Error()})
			continue
		}
		written = append(written, f.Path)
	}
	return written, faults
}

// check returns why a file cannot be written. It adds the directories that writing it makes.
func (f *TangledFile) check(made map[string]bool) error {
	if info, err := os.Lstat(f.Path); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a directory", f.Name)
	}
	directory := filepath.Dir(f.Path)
	if made[directory] {
		return nil
	}
	info, err := os.Stat(directory)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return fmt.Errorf("%s: %s is not a directory", f.Name, directory)
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: %w", f.Name, err)
	case !f.MakeDirectory:
		return fmt.Errorf("%s: there is no directory %s; add :mkdirp yes", f.Name, directory)
	}
	for !made[directory] && directory != filepath.Dir(directory) {
		made[directory] = true
		directory = filepath.Dir(directory)
	}
	return nil
}

func (f *TangledFile) write() error {
	directory := filepath.Dir(f.Path)
	if f.MakeDirectory {
		if err := os.MkdirAll(directory, 0o777); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	temporary, err := createBeside(f.Path)
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, err)
	}
	_, err = temporary.Write(f.Content)
	if f.Mode != nil && err == nil {
		err = temporary.Chmod(*f.Mode)
	}
	err = errors.Join(err, temporary.Close())
	if err == nil {
		err = os.Rename(temporary.Name(), f.Path)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", f.Name, errors.Join(err, os.Remove(temporary.Name())))
	}
	return nil
}

// createBeside makes a new file in the directory of path. It has the mode of any new file, unlike
// the files of os.CreateTemp.
func createBeside(path string) (*os.File, error) {
	for n := 0; ; n++ {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".tangle-%d-%d", os.Getpid(), n))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err == nil || !errors.Is(err, fs.ErrExist) || n == 100 {
			return f, err
		}
	}
}
