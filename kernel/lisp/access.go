package lisp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Access is what a note may reach outside of the language. The functions that need it
// exist only where it is granted, or withheld.
type Access struct {
	// Read and Write are the directories whose files, and those of the directories
	// below, may be read and written: absolute, and without links. Links in the names a
	// note gives are followed before they are looked up; one that comes into the way
	// afterwards, also in the place of a directory named here, is refused.
	Read, Write []string
	// Environment are the names of the environment variables that may be read.
	Environment []string
	// Directory is what relative paths are relative to. Default: the working directory.
	Directory string
	// Home is what ~ is. Default: the user's home directory.
	Home string
	// Withheld are the kinds of capability ("read", "write", "env") that the note asked
	// for and was not given: the functions that need them exist, and signal what Check
	// says.
	Withheld []string
	// Check, if set, is asked before a file or a variable is touched, by its path without
	// links or its name, and with name "" by the functions of what is withheld. Its error
	// refuses, and is what the note is told. It must not call into the environment.
	Check func(ctx context.Context, kind, name string) error
	// Dry, if set, reports whether the call is to have no effect: what it writes, renames
	// and deletes is dropped then.
	Dry func(ctx context.Context) bool
}

// The kinds of capability that give access to something.
const (
	kindRead     = "read"
	kindWrite    = "write"
	kindVariable = "env"
)

// kinds are the kinds of capability that something is granted of.
func (a *Access) kinds() []string {
	var kinds []string
	for kind, granted := range map[string][]string{kindRead: a.Read, kindWrite: a.Write, kindVariable: a.Environment} {
		if len(granted) > 0 {
			kinds = append(kinds, kind)
		}
	}
	return kinds
}

// check asks whether a use of what was granted is to be.
func (a *Access) check(ctx context.Context, kind, name string) error {
	if a.Check == nil {
		return nil
	}
	return a.Check(ctx, kind, name)
}

// change does something to a file, unless the call is to have no effect.
func (a *Access) change(ctx context.Context, do func() error) error {
	if a.Dry != nil && a.Dry(ctx) {
		return nil
	}
	return do()
}

// locate finds a path in the directories granted for reading or writing.
func (a *Access) locate(ctx context.Context, path, kind string) (location, error) {
	full, err := a.absolute(path)
	if err != nil {
		return location{}, err
	}
	granted := a.Read
	if kind == kindWrite {
		granted = a.Write
	}
	for _, directory := range granted {
		if name, err := filepath.Rel(directory, full); err == nil && filepath.IsLocal(name) {
			return location{root: directory, name: name}, a.check(ctx, kind, full)
		}
	}
	return location{}, fmt.Errorf("%s is outside of what was granted: ask for %s:%s in the note's #+CAPABILITIES line", path, kind, filepath.Dir(path))
}

// absolute makes a path absolute and follows the links of as much of it as exists.
func (a *Access) absolute(path string) (string, error) {
	if path == "~" || strings.HasPrefix(path, "~/") {
		home := a.Home
		if home == "" {
			var err error
			if home, err = os.UserHomeDir(); err != nil {
				return "", fmt.Errorf("find the home directory: %w", err)
			}
		}
		path = filepath.Join(home, path[1:])
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.Directory, path)
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fmt.Errorf("find the file: %w", err)
	}
	return RealPath(path)
}

// RealPath follows the links of as much of an absolute path as exists. A link that leads
// nowhere, or round in a circle, is an error: it must not be taken for a name.
func RealPath(path string) (string, error) {
	rest := ""
	for existing := filepath.Clean(path); ; existing = filepath.Dir(existing) {
		if _, err := os.Lstat(existing); err == nil {
			real, err := filepath.EvalSymlinks(existing)
			if err != nil {
				return "", fmt.Errorf("%s is a link that leads nowhere", path)
			}
			return filepath.Join(real, rest), nil
		}
		if existing == filepath.Dir(existing) {
			return path, nil
		}
		rest = filepath.Join(filepath.Base(existing), rest)
	}
}

// variable returns an environment variable that was granted.
func (a *Access) variable(ctx context.Context, name string) (value string, set bool, err error) {
	if err := a.check(ctx, kindVariable, name); err != nil {
		return "", false, err
	}
	if !slices.Contains(a.Environment, name) {
		return "", false, fmt.Errorf("the environment variable %s was not granted: ask for env:%s in the note's #+CAPABILITIES line", name, name)
	}
	value, set = os.LookupEnv(name)
	return value, set, nil
}

// errWithheld is what a function of a withheld capability says when Check says nothing.
var errWithheld = errors.New("it was asked for and not granted")
