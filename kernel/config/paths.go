package config

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Paths says where an instance's files are. All are absolute.
type Paths struct {
	Name string // org-agent, or org-agent-XXXXXXXX for a home that is not the default

	Home     string // the person's Org files
	Config   string // config.org in it
	Policy   string // policy.org in it
	Channels string // channels.org in it
	Tasks    string // tasks.org in it
	Contacts string // contacts.org in it
	Sessions string // the directory of conversations in it
	Skills   string // the directory of skill notes in it

	State      string // the kernel's own data
	Journal    string
	Index      string // of the files in the home and of notes; the kernel can rebuild it
	Log        string
	Token      string
	Lock       string
	KernelJSON string // says where the running kernel is

	Run    string // files that last as long as the kernel runs
	Socket string
}

// Written returns the directories in which the kernel writes files of its own accord.
func (p Paths) Written() []string {
	return []string{p.State, p.Run, p.Home, p.Sessions, p.Skills, filepath.Join(p.Home, "memory")}
}

// socketLimit is the longest path of a socket in bytes, a little below the systems' own limits (104
// and 108).
const socketLimit = 100

// FindPaths returns the paths of the instance in the directory home. An empty home means
// ORG_AGENT_HOME of the environment env, or else ~/.org-agent. FindPaths makes nothing;
// [Paths.Ensure] does. It refuses a home that is this program's source.
func FindPaths(home string, env func(string) string) (Paths, error) {
	return findPaths(home, env, os.Getuid())
}

func findPaths(home string, env func(string) string, uid int) (Paths, error) {
	user := env("HOME")
	if !filepath.IsAbs(user) {
		user = "" // a relative HOME is unusable
	}
	if home == "" {
		home = env("ORG_AGENT_HOME")
	}
	home, err := absoluteHome(home, user)
	if err != nil {
		return Paths{}, err
	}
	if isSource(home) {
		return Paths{}, fmt.Errorf("%s is the source of org-agent, not a home for your notes: give another directory with --home or ORG_AGENT_HOME", home)
	}
	name := instanceName(home, user)
	state := env("XDG_STATE_HOME")
	if !filepath.IsAbs(state) {
		if user == "" {
			return Paths{}, errors.New("HOME is not set, so there is no place for the journal: set HOME, or XDG_STATE_HOME to a directory")
		}
		state = filepath.Join(user, ".local", "state")
	}
	state = filepath.Join(state, name)
	run := runDirectory(name, env("XDG_RUNTIME_DIR"), uid)
	return Paths{
		Name: name,
		Home: home, Config: filepath.Join(home, "config.org"), Policy: filepath.Join(home, "policy.org"), Channels: filepath.Join(home, "channels.org"), Tasks: filepath.Join(home, "tasks.org"),
		Contacts: filepath.Join(home, "contacts.org"), Sessions: filepath.Join(home, "sessions"), Skills: filepath.Join(home, "skills"),
		State: state, Journal: filepath.Join(state, "journal.db"), Index: filepath.Join(state, "files.db"), Log: filepath.Join(state, "log.jsonl"), Token: filepath.Join(state, "token"),
		Lock: filepath.Join(state, "lock"), KernelJSON: filepath.Join(state, "kernel.json"),
		Run: run, Socket: filepath.Join(run, "kernel.sock"),
	}, nil
}

// SpareSocket returns where a kernel listens when another kernel answers at [Paths.Socket]. Two
// kernels share that path when they have different HOMEs and one run directory, as happens where
// XDG_RUNTIME_DIR is not set. Clients find the address in [Paths.KernelJSON].
func (p Paths) SpareSocket() string {
	sum := sha256.Sum256([]byte(p.State))
	return filepath.Join(p.Run, "k-"+hex.EncodeToString(sum[:4])+".sock")
}

// Elsewhere returns the paths with the run directory of an instance without XDG_RUNTIME_DIR. That
// directory goes when a login session ends, and only the system can make it again.
func (p Paths) Elsewhere() Paths {
	p.Run = runDirectory(p.Name, "", os.Getuid())
	p.Socket = filepath.Join(p.Run, "kernel.sock")
	return p
}

// Keeps reports whether path belongs to a kernel's own data: the state and run directories of this
// instance and of the instances beside it. path must be absolute and free of links.
func (p Paths) Keeps(path string) bool {
	for _, own := range []string{realPath(p.State), realPath(p.Run)} {
		if path == own || strings.HasPrefix(path, own+"/") {
			return true
		}
		rest, below := strings.CutPrefix(path, filepath.Dir(own)+"/")
		if name, _, _ := strings.Cut(rest, "/"); below && instanceDirectory.MatchString(name) {
			return true
		}
	}
	return false
}

// instanceDirectory matches the names of an instance's state and run directories.
var instanceDirectory = regexp.MustCompile(`^org-agent(-[0-9a-f]{8})?(-\d+)?$`)

// absoluteHome returns the real path of the given home, or of the default below the user's
// directory. Two names of one directory are one instance.
func absoluteHome(home, user string) (string, error) {
	rest, tilde := strings.CutPrefix(home, "~")
	tilde = tilde && (rest == "" || rest[0] == '/')
	switch {
	case (home == "" || tilde) && user == "":
		return "", errors.New("HOME is not set, so ~ has no meaning: set HOME, or ORG_AGENT_HOME to an absolute directory")
	case home == "":
		return realPath(filepath.Join(user, ".org-agent")), nil
	case tilde:
		return realPath(filepath.Join(user, rest)), nil
	}
	absolute, err := filepath.Abs(home)
	if err != nil {
		return "", fmt.Errorf("find the home %s: %w", home, err)
	}
	return realPath(absolute), nil
}

// instanceName names an instance after the real path of its home.
func instanceName(home, user string) string {
	if user != "" && home == realPath(filepath.Join(user, ".org-agent")) {
		return "org-agent"
	}
	sum := sha256.Sum256([]byte(home))
	return "org-agent-" + hex.EncodeToString(sum[:4])
}

// realPath resolves the links in a path as far as the path exists, so that a home has the same real
// path before and after it is made.
func realPath(path string) string {
	path = filepath.Clean(path)
	actual, err := filepath.EvalSymlinks(path)
	if err == nil {
		return actual
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(realPath(parent), filepath.Base(path))
}

// runDirectory returns the directory of the socket: below the login session's runtime directory, or
// below /tmp if there is none or the socket's path would be too long.
func runDirectory(name, runtime string, uid int) string {
	if filepath.IsAbs(runtime) {
		run := filepath.Join(runtime, name)
		if len(filepath.Join(run, "kernel.sock")) <= socketLimit {
			return run
		}
	}
	return fmt.Sprintf("/tmp/%s-%d", name, uid)
}

// isSource reports whether directory holds this program's source. A home there would mix a person's
// notes with the program.
func isSource(directory string) bool {
	file, err := os.Open(filepath.Join(directory, "go.mod"))
	if err != nil {
		return false
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) >= 2 && words[0] == "module" {
			return strings.Trim(words[1], `"`) == "org-agent"
		}
	}
	return false
}
