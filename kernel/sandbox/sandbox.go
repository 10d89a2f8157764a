// Package sandbox runs a command in a fence. What the command may touch is said beforehand, in
// a [Command]; nothing else of the machine is there for it: no file of the person's, no network,
// no other process, no socket of a program that runs for the person, nothing of the environment
// that could be a key.
//
// The fence is of the kernel's making. [Start] starts this program once more, in namespaces of
// its own, where [Main] builds a file system of what was granted, gives up every right that it
// has and runs the command as its child. That second process, the warden, is the first of its
// process namespace: when it ends, everything that the command has started ends with it. It ends
// when the command does, when it is told to, and when the program that started it is gone.
//
// Not every system lets a program make namespaces: [Look] says what this one has. Where it has
// none, a command runs with the rights of the person; it is stopped like any other, and whoever
// decides what may run has to know that.
package sandbox

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// Kind is what a fence is made of.
type Kind string

// The kinds of a fence.
const (
	Whole      Kind = "namespaces+landlock"
	Namespaces Kind = "namespaces" // as good, but that a command with the network has sockets without a file
	Landlock   Kind = "landlock"   // files alone
	None       Kind = "none"
)

// Fenced reports whether a command reaches nothing but what was granted.
func (k Kind) Fenced() bool { return k == Whole || k == Namespaces }

// Command is what is run and what it is granted.
type Command struct {
	// Text is for bash.
	Text string
	// Directory is where it runs, absolute and without links; it can read what is there. ""
	// is an empty directory of its own, which is gone afterwards.
	Directory string
	// Writes lets it change what is in Directory.
	Writes bool
	// Network gives it the network of this machine.
	Network bool
	// Terminal: Input is a terminal, and the command's own.
	Terminal bool
	// Home is the person's home directory. The command's is of the same name and empty.
	Home string
	// Hidden are files and directories that no command is granted.
	Hidden []string
	// Shown are directories that every command can read, with programs that the system does
	// not have. Of those that [Command.Grantable] refuses, or that are not there, nothing is shown.
	Shown []string
	// Memory is how many bytes all its processes may have together; 0 is half of the machine's.
	Memory uint64
	// Environment is where the few variables that a command is given are taken from.
	Environment func(string) string
}

// Outcome is how a command ended.
type Outcome struct {
	Status int    // of its exit
	Signal string // the name of the signal that ended it, "" if it ended itself
	Took   time.Duration
}

// String says it in words.
func (o Outcome) String() string {
	if o.Signal != "" {
		return "it was ended by " + o.Signal
	}
	return fmt.Sprintf("exit status %d", o.Status)
}

// Check says why a command cannot be granted its directory, nil when it can.
func (c Command) Check() error {
	if c.Directory == "" {
		return nil
	}
	return c.Grantable(c.Directory)
}

// Grantable says why a command cannot be granted a directory, nil when it can: what holds the
// person's home or something hidden, or lies in it, is no directory for a command.
func (c Command) Grantable(directory string) error {
	if !filepath.IsAbs(directory) || filepath.Clean(directory) != directory {
		return fmt.Errorf("the directory %s is not an absolute path", directory)
	}
	if directory == "/" || c.Home != "" && within(c.Home, directory) {
		return fmt.Errorf("%s is all of a person's files: name a directory below it", directory)
	}
	for _, hidden := range c.Hidden {
		if within(hidden, directory) {
			return fmt.Errorf("%s holds %s, which no command may read: name a directory without it", directory, hidden)
		}
		if within(directory, hidden) {
			return fmt.Errorf("no command may read %s", hidden)
		}
	}
	for _, own := range [...]string{"/proc", "/sys", "/dev", "/run"} {
		if within(directory, own) {
			return fmt.Errorf("%s belongs to the system: name another directory", directory)
		}
	}
	return nil
}

// within reports whether path is directory or lies below it.
func within(path, directory string) bool {
	return path == directory || strings.HasPrefix(path, strings.TrimSuffix(directory, "/")+"/")
}
