package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Program is a program that a person has named in their settings, to run beside the kernel. It
// is in no fence: it has the files and the network that the person has. What it shares with a
// command is its end, and that nothing of the environment is in its own that could be a key or
// lead to a program of the person's.
type Program struct {
	// Arguments are its name, or that of its file, and what it is called with.
	Arguments []string
	// Directory is where it runs, absolute.
	Directory string
	// Environment is where the variables that every program is given are taken from, and where
	// PATH is that it is found by.
	Environment func(string) string
	// Variables are given to it beside those, each NAME=VALUE.
	Variables []string
}

// usual are the variables that a program has from outside beside those of a command: where the
// person's own files are.
var usual = [...]string{"HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"}

// prepare finds the file of the program and makes its environment.
func (p Program) prepare() (file string, environment []string, err error) {
	if len(p.Arguments) == 0 || p.Arguments[0] == "" {
		return "", nil, errors.New("there is no program to start")
	}
	for _, text := range append(append([]string{p.Directory}, p.Arguments...), p.Variables...) {
		if strings.ContainsRune(text, 0) {
			return "", nil, errors.New("the program has a NUL byte in what it is called with")
		}
	}
	environment = []string{"TERM=dumb"}
	for _, name := range append(passed[:], usual[:]...) {
		if value := p.Environment(name); value != "" && name != "PATH" && !strings.ContainsRune(value, 0) {
			environment = append(environment, name+"="+value)
		}
	}
	path := absolute(p.Environment("PATH"))
	environment = append(append(environment, "PATH="+path), p.Variables...)
	file, err = Find(p.Arguments[0], path)
	return file, environment, err
}

// Find finds the file of a program: in one of the directories of a PATH, unless its name has one.
func Find(name, path string) (string, error) {
	if strings.Contains(name, "/") {
		return name, executable(name)
	}
	for directory := range strings.SplitSeq(absolute(path), ":") {
		if file := filepath.Join(directory, name); executable(file) == nil {
			return file, nil
		}
	}
	return "", fmt.Errorf("there is no program %s on the PATH that this was started with: install it, or write its path", name)
}

// executable says why a file cannot be run.
func executable(file string) error {
	info, err := os.Stat(file)
	switch {
	case err != nil:
		return fmt.Errorf("the program cannot be run: %w", err)
	case !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0:
		return fmt.Errorf("%s is no program", file)
	case !filepath.IsAbs(file):
		return fmt.Errorf("the path of the program %s is not absolute", file)
	}
	return nil
}
