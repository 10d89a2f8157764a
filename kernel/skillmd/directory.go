package skillmd

import (
	"os"
	"path/filepath"

	"org-agent/kernel/skill"
)

// Directories returns the directories that are skills or are meant to be: the directory itself, or
// its subdirectories.
func Directories(directory string) ([]string, error) {
	if info, err := os.Stat(directory); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, nil
	}
	if _, err := os.Lstat(filepath.Join(directory, FileName)); err == nil {
		return []string{directory}, nil
	}
	o := origin{directory: directory}
	names, err := o.list()
	if err != nil {
		return nil, err
	}
	var found []string
	for _, name := range names {
		if readSkill(o, name) != nil {
			found = append(found, filepath.Join(directory, name))
		}
	}
	return found, nil
}

// CheckDirectory returns the faults and warnings of the skill in the directory, as [Check] does.
func CheckDirectory(directory string) []skill.Diagnostic {
	file := filepath.Join(directory, FileName)
	named, err := filepath.Abs(directory)
	if err != nil {
		named = directory
	}
	s := readSkill(origin{directory: filepath.Dir(named)}, filepath.Base(named))
	if s == nil {
		return []skill.Diagnostic{{File: file, Line: 1, Column: 1, Message: errNoSkill.Error()}}
	}
	for i := range s.faults {
		s.faults[i].File = file
	}
	files, err := s.origin.open(s.Name)
	if err != nil {
		return s.faults
	}
	defer files.close()
	source, size, err := files.read(FileName, fileBytes)
	if err != nil || size > fileBytes {
		return s.faults
	}
	return append(s.faults, advise(file, s.Matter, Split(source))...)
}
