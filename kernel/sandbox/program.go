package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Program is a program from the person's settings that runs beside the kernel. It is not fenced in:
// it has the files and the network of the person. Like a command it ends with this program, and its
// environment holds no keys.
type Program struct {
	// Arguments are the name or the file of the program, and its arguments.
	Arguments []string
	// Directory is its working directory, absolute.
	Directory string
	// Environment is where the inherited variables are taken from. Its PATH is used to find the
	// program.
	Environment func(string) string
	// Variables are added to the inherited variables, each NAME=VALUE.
	Variables []string
}

// programVariables are the variables that a program inherits in addition to those of a command.
// They say where the person's own files are.
var programVariables = [...]string{"HOME", "USER", "LOGNAME", "SHELL", "TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"}

// prepare finds the program's file and makes its environment.
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
	for _, name := range append(inheritedVariables[:], programVariables[:]...) {
		if value := p.Environment(name); value != "" && name != "PATH" && !strings.ContainsRune(value, 0) {
			environment = append(environment, name+"="+value)
		}
	}
	path := absolute(p.Environment("PATH"))
	environment = append(append(environment, "PATH="+path), p.Variables...)
	file, err = Find(p.Arguments[0], path)
	return file, environment, err
}

// Find finds the file of a program: in a directory of a PATH, unless the name contains a slash.
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

// executable returns why a file cannot be run, or nil.
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
