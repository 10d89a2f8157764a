// Package sandbox runs a command in a fence. A [Command] says beforehand what the command may
// touch. The command sees nothing else of the machine: no file of the person, no network, no other
// process, no socket of a program that runs for the person, and no variable of the environment that
// could be a key.
//
// [Start] makes the fence. It starts this program once more, in namespaces of its own, where [Main]
// builds a file system of what was granted, gives up every right that it has and runs the command
// as its child. That second process is the warden. It is the first process of its process
// namespace, so everything that the command has started ends with it. The warden ends when the
// command does, when it is asked to, and when the program that started it is gone.
//
// A command that may write in a directory could make other programs run its code there: git, a
// shell, an editor. The names that they obey at the top of the directory are closed to the command,
// and so are the settings of the repositories in it. The rest of the directory is scanned while the
// command runs and when it has ended. What git would run is put aside, and [Process.Left] says what
// else there is. If the program that started the command is killed meanwhile, [Recover] does this
// later.
//
// Not every system lets a program make namespaces; [Probe] says what this one has. Without them, a
// command runs with the rights of the person. It is stopped like any other, and the policy has to
// ask about each.
package sandbox

import (
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"time"
)

// Kind says what a fence is made of.
type Kind string

// The kinds of a fence.
const (
	Whole      Kind = "namespaces+landlock"
	Namespaces Kind = "namespaces" // as good, without a second fence around the files
	Landlock   Kind = "landlock"   // files only
	None       Kind = "none"
)

// Fenced reports whether a command reaches only what was granted.
func (k Kind) Fenced() bool { return k == Whole || k == Namespaces }

// Command is a command and its grants.
type Command struct {
	// Text is read by bash.
	Text string
	// Directory is its working directory, absolute and without links; the command can read it. ""
	// is an empty directory of its own, which is deleted afterwards.
	Directory string
	// Writes lets it change files in Directory.
	Writes bool
	// Network gives it a way out of its own network: WayOut answers at [ProxyAddress] there, until
	// the listener is closed, which is when the command has ended. Without a fence it has the network
	// of this machine in any case.
	Network bool
	WayOut  func(net.Listener)
	// Terminal is true if the input is a terminal. The command then controls it.
	Terminal bool
	// Home is the person's home directory. The command sees an empty directory there.
	Home string
	// Hidden are files and directories that are never granted.
	Hidden []string
	// Covered are files and directories in Directory that the command does not see as they are.
	Covered []Cover
	// Shown are directories with further programs, which every command can read. Those that
	// [Command.Grantable] refuses or that do not exist are skipped.
	Shown []string
	// Memory is how many bytes all its processes may use together; 0 means half of the machine's.
	Memory uint64
	// Environment is where the few inherited variables are taken from.
	Environment func(string) string
	// Note is the path of a file that exists while a fenced command with Writes runs. If this
	// program is killed meanwhile, the file stays for [Recover]. "" is none.
	Note string
	// Found is called while the command runs, each time when something new was found in Directory
	// that programs outside of the fence obey. One goroutine calls it, and not after Wait has
	// returned. It may be nil.
	Found func(Left)
}

// ProxyAddress is where a command with the network has its way out: a proxy for HTTP.
const ProxyAddress = "127.0.0.1:3128"

// Cover is what a command sees in place of a file or a directory: a file with this text, or an empty
// directory. It can change neither.
type Cover struct {
	Path      string // absolute, without links
	Directory bool
	Text      string
}

// Outcome is how a command ended.
type Outcome struct {
	Status int    // the exit status
	Signal string // the signal that ended it, "" if it ended itself
	Took   time.Duration
}

// String describes the outcome in words.
func (o Outcome) String() string {
	if o.Signal != "" {
		return "it was ended by " + o.Signal
	}
	return fmt.Sprintf("exit status %d", o.Status)
}

// Check returns why a command cannot be granted its directory, or nil.
func (c Command) Check() error {
	if c.Directory == "" {
		return nil
	}
	return c.Grantable(c.Directory)
}

// Grantable returns why a directory cannot be granted, or nil. A directory is refused if it
// contains the person's home or a hidden file, or lies in a hidden directory.
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
