package skillmd

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"org-agent/kernel/skill"
)

// Copy copies the shipped skill with that name into the home, where it shadows the shipped one. It
// also stores a copy among the originals, so that later changes by the person and by the program
// can be distinguished. It does not change an existing directory. It returns the new directory.
func (c Config) Copy(name string) (string, error) {
	if !c.Ships(name) {
		return "", fmt.Errorf("no shipped skill is named %s: %w", shown(name), fs.ErrNotExist)
	}
	directory := filepath.Join(c.Home, name)
	if _, err := os.Lstat(directory); err == nil {
		return "", fmt.Errorf("%s already exists and was not changed", directory)
	}
	if err := c.write(name, c.Home); err != nil {
		return "", fmt.Errorf("copy the skill %s: %w", name, err)
	}
	return directory, c.UpdateOriginal(name)
}

// UpdateOriginal stores the current shipped skill as the original of the home's copy, because the
// person has taken over the changes that they want.
func (c Config) UpdateOriginal(name string) error {
	if !c.Ships(name) {
		return fmt.Errorf("no shipped skill is named %s: %w", shown(name), fs.ErrNotExist)
	}
	if c.Originals == "" {
		return nil
	}
	if err := os.RemoveAll(filepath.Join(c.Originals, name)); err != nil {
		return fmt.Errorf("keep the original of the skill %s: %w", name, err)
	}
	if err := c.write(name, c.Originals); err != nil {
		return fmt.Errorf("keep the original of the skill %s: %w", name, err)
	}
	return nil
}

// Ships reports whether the program comes with a skill with that name.
func (c Config) Ships(name string) bool {
	if c.Shipped == nil || !skillName.MatchString(name) {
		return false
	}
	_, err := fs.Stat(c.Shipped, name+"/"+FileName)
	return err == nil
}

// write copies a shipped skill below a directory, completely or not at all.
func (c Config) write(name, below string) (err error) {
	if err := os.MkdirAll(below, 0o755); err != nil {
		return err
	}
	part, err := os.MkdirTemp(below, "."+name+"-")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(part))
		}
	}()
	files, err := fs.Sub(c.Shipped, name)
	if err != nil {
		return err
	}
	if err := os.CopyFS(part, files); err != nil {
		return err
	}
	if err := makeWritable(part); err != nil {
		return err
	}
	return os.Rename(part, filepath.Join(below, name))
}

// makeWritable sets the usual modes for copies of embedded files, which are read-only.
func makeWritable(directory string) error {
	return filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			return os.Chmod(path, 0o755)
		}
		return os.Chmod(path, 0o644)
	})
}

// advise adds advice to each copy whose shipped skill has changed since it was copied.
func (r *Registry) advise(statuses []Status) {
	if r.config.Originals == "" {
		return
	}
	for i, status := range statuses {
		if status.Shipped || !r.config.Ships(status.Skill) {
			continue
		}
		if advice := r.config.updated(status.Skill); advice != "" {
			statuses[i].Diagnostics = append(status.Diagnostics, skill.Diagnostic{
				File: status.File, Line: 1, Column: 1, Warning: true, Message: advice})
		}
	}
}

// updated compares a copy, its original and the shipped skill. It returns "" if the person need not
// do anything.
func (c Config) updated(name string) string {
	shipped, err := fs.Sub(c.Shipped, name)
	if err != nil {
		return ""
	}
	original := os.DirFS(filepath.Join(c.Originals, name))
	theirs := differences(original, shipped)
	if _, err := fs.Stat(original, FileName); err != nil || len(theirs) == 0 {
		return ""
	}
	copied := os.DirFS(filepath.Join(c.Home, name))
	ours := differences(original, copied)
	if len(ours) == 0 {
		return "the shipped skill has changed since it was copied, and the copy has not: remove the copy and the new one counts"
	}
	var both, only []string
	for _, file := range theirs {
		switch {
		case sameFile(copied, shipped, file):
		case slices.Contains(ours, file):
			both = append(both, file)
		default:
			only = append(only, file)
		}
	}
	if len(both)+len(only) == 0 {
		return ""
	}
	message := "the shipped skill has changed since it was copied; the copy stays as it is."
	if len(only) > 0 {
		message += " Changed there alone: " + listed(only) + "."
	}
	if len(both) > 0 {
		message += " Changed in both: " + listed(both) + "."
	}
	return fmt.Sprintf("%s What was copied is in %s; \"org-agent skill copy %s --to DIR\" writes the new one beside it, and \"--settled\" ends this notice",
		message, filepath.Join(c.Originals, name), name)
}

// differences returns the files that differ between two directories, sorted.
func differences(one, other fs.FS) []string {
	var names, different []string
	for _, files := range []fs.FS{one, other} {
		found, _ := folder{fs: files}.list()
		names = append(names, append(found, FileName)...)
	}
	slices.SortFunc(names, strings.Compare)
	for _, name := range slices.Compact(names) {
		if !sameFile(one, other, name) {
			different = append(different, name)
		}
	}
	return different
}

// sameFile reports whether a file is equal in both directories, or missing in both. A file that is
// not regular or exceeds the limit counts as different.
func sameFile(one, other fs.FS, name string) bool {
	a, errA := readFile(one, name)
	b, errB := readFile(other, name)
	if errA != nil || errB != nil {
		return errors.Is(errA, fs.ErrNotExist) && errors.Is(errB, fs.ErrNotExist)
	}
	return bytes.Equal(a, b)
}

func readFile(files fs.FS, name string) ([]byte, error) {
	info, err := fs.Stat(files, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > fileBytes {
		return nil, errNotRegular
	}
	return fs.ReadFile(files, name)
}
