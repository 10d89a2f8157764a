// Package config finds an instance's files and reads its settings.
//
// A home is an instance: two homes of one user run side by side, with
// directories of their own for state and sockets. Settings are an Org file that
// a person writes; nothing here ever changes it. Functions read files and block
// for that only; values are plain data.
package config

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// runLimit is how long a socket's path may be, in bytes; the system allows 107.
const runLimit = 100

// Paths are the files of one instance. They are absolute.
type Paths struct {
	Name string // org-agent, or org-agent-XXXXXXXX for a home that is not the default

	Home     string // what a person writes
	Config   string // HOME/config.org
	Skills   string // HOME/skills
	Sessions string // HOME/sessions

	State      string // what the kernel keeps
	Journal    string // STATE/journal.db
	Log        string // STATE/log.jsonl
	Token      string // STATE/token
	Lock       string // STATE/lock
	KernelJSON string // STATE/kernel.json

	Run    string // where the socket is
	Socket string // RUN/kernel.sock
}

// FindPaths finds the files of the instance whose home is given: home, else
// $ORG_AGENT_HOME, else ~/.org-agent. Nothing need exist, nothing is made. Env
// looks up the environment.
func FindPaths(home string, env func(string) string) (Paths, error) {
	user := env("HOME")
	standard := ""
	if user != "" {
		standard = filepath.Join(user, ".org-agent")
	}
	if home == "" {
		home = env("ORG_AGENT_HOME")
	}
	if home == "" {
		home = standard
	}
	if home == "" {
		return Paths{}, errors.New("neither HOME nor ORG_AGENT_HOME is set: say where the home is, with --home DIR")
	}
	home, err := realPath(home)
	if err != nil {
		return Paths{}, fmt.Errorf("find the home: %w", err)
	}
	if err := refuseSource(home); err != nil {
		return Paths{}, err
	}
	p := Paths{Name: "org-agent", Home: home}
	if real, err := realPath(standard); standard == "" || err != nil || real != home {
		sum := sha256.Sum256([]byte(home))
		p.Name += "-" + hex.EncodeToString(sum[:4])
	}
	state := env("XDG_STATE_HOME")
	if !filepath.IsAbs(state) { // the standard says to ignore a relative one
		if user == "" {
			return Paths{}, errors.New("neither HOME nor XDG_STATE_HOME is set: there is no place for the journal")
		}
		state = filepath.Join(user, ".local", "state")
	}
	p.State = filepath.Join(state, p.Name)
	p.Run = filepath.Join(env("XDG_RUNTIME_DIR"), p.Name)
	p.Socket = filepath.Join(p.Run, "kernel.sock")
	if !filepath.IsAbs(p.Run) || len(p.Socket) > runLimit {
		p.Run = filepath.Join("/tmp", fmt.Sprintf("%s-%d", p.Name, os.Getuid()))
		p.Socket = filepath.Join(p.Run, "kernel.sock")
	}
	p.fill()
	return p, nil
}

func (p *Paths) fill() {
	p.Config, p.Skills, p.Sessions = filepath.Join(p.Home, "config.org"), filepath.Join(p.Home, "skills"), filepath.Join(p.Home, "sessions")
	p.Journal, p.Log = filepath.Join(p.State, "journal.db"), filepath.Join(p.State, "log.jsonl")
	p.Token, p.Lock, p.KernelJSON = filepath.Join(p.State, "token"), filepath.Join(p.State, "lock"), filepath.Join(p.State, "kernel.json")
}

// realPath is path made absolute with its links followed as far as it exists,
// so that one directory has one name before and after it is made.
func realPath(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	rest := ""
	for {
		real, err := filepath.EvalSymlinks(path)
		if err == nil {
			return filepath.Join(real, rest), nil
		}
		if !errors.Is(err, fs.ErrNotExist) || path == "/" {
			return "", err
		}
		rest = filepath.Join(filepath.Base(path), rest)
		path = filepath.Dir(path)
	}
}

// refuseSource refuses the source tree of this program as a home: its skills/
// would be taken for the user's own.
func refuseSource(home string) error {
	module, err := os.ReadFile(filepath.Join(home, "go.mod"))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(module)) {
		if strings.TrimSpace(line) == "module org-agent" {
			return fmt.Errorf("%s is the source of org-agent, not a home: choose another directory, or none for ~/.org-agent", home)
		}
	}
	return nil
}

// Ensure makes the directories that are missing: the state and run directories
// for this user alone. A run directory that somebody else could have prepared
// is refused.
func (p Paths) Ensure() error {
	if err := os.MkdirAll(p.Home, 0o755); err != nil {
		return fmt.Errorf("make the home: %w", err)
	}
	if err := os.MkdirAll(p.State, 0o700); err != nil {
		return fmt.Errorf("make the state directory: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(p.Run), 0o755); err != nil {
		return fmt.Errorf("make the run directory: %w", err)
	}
	if err := os.Mkdir(p.Run, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make the run directory: %w", err)
	}
	info, err := os.Lstat(p.Run)
	if err != nil {
		return fmt.Errorf("look at the run directory: %w", err)
	}
	owner, _ := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || owner == nil || int(owner.Uid) != os.Getuid() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("%s is not a directory of yours alone: remove it, or set XDG_RUNTIME_DIR", p.Run)
	}
	return nil
}
