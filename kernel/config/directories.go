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

// starter is the config.org of a new home. It explains the settings and sets none.
//
//go:embed starter.org
var starter string

// inbox is the inbox.org of a new home. Captured entries go below its heading.
//
//go:embed inbox.org
var inbox string

// policy is the policy.org of a new home. It explains the rules and contains none.
//
//go:embed policy.org
var policy string

// channels is the channels.org of a new home. It explains who may talk, and names nobody.
//
//go:embed channels.org
var channels string

// IsStarter reports whether text is what a new home has in the file. path is relative to the home.
func IsStarter(path, text string) bool {
	switch path {
	case "config.org":
		return text == starter
	case "inbox.org":
		return text == inbox
	case "policy.org":
		return text == policy
	case "channels.org":
		return text == channels
	}
	texts, err := Starters()
	begins, ok := texts[path]
	return err == nil && ok && begins == text
}

// Ensure makes the instance's missing directories and, in a new home, its files. It refuses
// directories that another user could write to.
func (p Paths) Ensure() error {
	for _, ensure := range []func() error{p.EnsureHome, p.EnsureState, p.EnsureRun} {
		if err := ensure(); err != nil {
			return err
		}
	}
	return nil
}

// EnsureHome makes the home with mode 0755, its directories for conversations and skills,
// config.org, policy.org, channels.org, inbox.org and the files of the persona. It leaves what exists unchanged.
func (p Paths) EnsureHome() error {
	for _, directory := range []string{p.Home, p.Sessions, p.Skills} {
		if err := os.MkdirAll(directory, 0o755); err != nil {
			return p.homeError(err)
		}
	}
	return p.homeError(errors.Join(writeNew(p.Config, starter), writeNew(filepath.Join(p.Home, "inbox.org"), inbox),
		writeNew(filepath.Join(p.Home, "policy.org"), policy), writeNew(filepath.Join(p.Home, "channels.org"), channels), p.beginPersona()))
}

// writeNew writes a file that does not exist. It never changes an existing file.
func writeNew(path, text string) error {
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

// EnsureState makes the state directory and closes it to other users.
func (p Paths) EnsureState() error {
	if err := os.MkdirAll(p.State, 0o700); err != nil {
		return fmt.Errorf("make the state directory: %w; make its parent writable, or set XDG_STATE_HOME to another directory", err)
	}
	return ownDirectory(p.State, "set XDG_STATE_HOME to a directory of your own")
}

// EnsureRun makes the run directory, which must be the user's own and not a link: in a place where
// everybody can write, another user may have made it first.
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
		return fmt.Errorf("inspect the run directory: %w", err)
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("the run directory %s is a link, which could lead anywhere: %s", p.Run, advice)
	}
	return ownDirectory(p.Run, advice)
}

// ownDirectory checks that the directory belongs to this user, and removes the permissions of
// others.
func ownDirectory(path, advice string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("inspect the directory %s: %w", path, err)
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
