package config

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// starter is the config.org that a new home begins with.
//
//go:embed starter.org
var starter string

// inbox is the inbox.org of a home that has none: captured entries go below its heading.
//
//go:embed inbox.org
var inbox string

// policy is the policy.org of a home that has none: it explains itself, and has no rule.
//
//go:embed policy.org
var policy string

// PolicyStarter is the text of the policy.org that a new home begins with.
func PolicyStarter() string { return policy }

// Starter is the text of the config.org that a new home begins with: it says
// in Org prose what can be set, and sets nothing.
func Starter() string { return starter }

// Begun reports whether a file of the home, by its path below it, is as a new home has it:
// nobody has written in it.
func Begun(path, text string) bool {
	switch path {
	case "config.org":
		return text == starter
	case "inbox.org":
		return text == inbox
	case "policy.org":
		return text == policy
	}
	texts, err := Starters()
	begins, ok := texts[path]
	return err == nil && ok && begins == text
}

// Ensure makes the directories of the instance that are missing, and in a new
// home config.org; it refuses those that somebody else could write.
func (p Paths) Ensure() error {
	for _, ensure := range []func() error{p.EnsureHome, p.EnsureState, p.EnsureRun} {
		if err := ensure(); err != nil {
			return err
		}
	}
	return nil
}

// EnsureHome makes the home (mode 0755, one that exists is left as it is) with
// its sessions, its skills, config.org, policy.org, inbox.org and the files of the persona.
func (p Paths) EnsureHome() error {
	for _, directory := range []string{p.Home, p.Sessions, p.Skills} {
		if err := os.MkdirAll(directory, 0o755); err != nil {
			return p.homeError(err)
		}
	}
	return p.homeError(errors.Join(begin(p.Config, starter), begin(filepath.Join(p.Home, "inbox.org"), inbox), begin(filepath.Join(p.Home, "policy.org"), policy), p.beginPersona()))
}

// begin writes a file that is not there; one that is, whatever it is, stays as it is.
func begin(path, text string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = file.WriteString(text)
	return errors.Join(err, file.Close())
}

func (p Paths) homeError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("make the home %s: %w; make it writable, or give another directory with --home or ORG_AGENT_HOME", p.Home, err)
}

// EnsureState makes the state directory, and closes it to others.
func (p Paths) EnsureState() error {
	if err := os.MkdirAll(p.State, 0o700); err != nil {
		return fmt.Errorf("make the state directory: %w; make it possible, or set XDG_STATE_HOME to another directory", err)
	}
	return ownDirectory(p.State, "set XDG_STATE_HOME to a directory of your own")
}

// EnsureRun makes the run directory, which must be ours and no link: in a
// place where everybody can write, another user may have been first.
func (p Paths) EnsureRun() error {
	const advice = "remove it, or set XDG_RUNTIME_DIR to a directory of your own"
	if err := os.MkdirAll(filepath.Dir(p.Run), 0o700); err != nil {
		return fmt.Errorf("make the run directory: %w; unset XDG_RUNTIME_DIR, or set it to a directory of your own", err)
	}
	if err := os.Mkdir(p.Run, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("make the run directory: %w; unset XDG_RUNTIME_DIR, or set it to a directory of your own", err)
	}
	info, err := os.Lstat(p.Run)
	if err != nil {
		return fmt.Errorf("look at the run directory: %w", err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("the run directory %s is a link, which could lead anywhere: %s", p.Run, advice)
	}
	return ownDirectory(p.Run, advice)
}

// ownDirectory checks that the directory is this user's, and takes from others
// the right to look into it.
func ownDirectory(path, advice string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("look at the directory %s: %w", path, err)
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is not a directory: %s", path, advice)
	}
	if owner := info.Sys().(*syscall.Stat_t).Uid; int(owner) != os.Geteuid() {
		return fmt.Errorf("%s belongs to another user (id %d): %s", path, owner, advice)
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	if err := os.Chmod(path, 0o700); err != nil {
		return fmt.Errorf("close %s to others: %w", path, err)
	}
	return nil
}
