package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"org-agent/kernel/autorun"
)

// remoteName matches how Emacs names a file on another machine or behind a program: it begins with
// /METHOD:…:.
var remoteName = regexp.MustCompile(`^/[A-Za-z0-9-]+(:[^:/]*)?:`)

// resolve returns the real path of a regular file that a proposal names. ~ is the user's directory,
// a relative name lies in the home, and links are followed. The resolved path is judged, shown and
// used.
func resolve(name, home string) (string, error) {
	if remoteName.MatchString(name) || strings.ContainsRune(name, 0) {
		return "", fmt.Errorf("%q is not a file of this machine", name)
	}
	if rest, ok := strings.CutPrefix(name, "~"); ok {
		if rest != "" && rest[0] != '/' {
			return "", fmt.Errorf("%q names another user's files", name)
		}
		user, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("resolve %q: %w", name, err)
		}
		name = filepath.Join(user, rest)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(home, name)
	}
	path, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", fmt.Errorf("there is no file %s", name)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("there is no file %s", name)
	}
	if !info.Mode().IsRegular() {
		return "", fmt.Errorf("%s is not a regular file", path)
	}
	return path, nil
}

// within reports whether path lies in directory. Links of the directory are followed.
func within(path, directory string) bool {
	real, err := filepath.EvalSymlinks(directory)
	if err != nil || directory == "" {
		return false
	}
	relative, err := filepath.Rel(real, path)
	return err == nil && relative != ".." && !strings.HasPrefix(relative, "../")
}

// protectedFiles are the files that decide what the agent is and may do. The files from which other
// programs take commands are in [autorun.Names] and are protected too.
var protectedFiles = [...]string{
	"config.org", "policy.org", "channels.org", "tasks.org", "contacts.org", "HEARTBEAT.org", "IDENTITY.org", "SOUL.org", "TOOLS.org", "PROFILES.org",
	"MEMORY.org", "WORKSPACE.org", "USER.org",
}

// protectedDirectories are the directories of a home that contain such files: skills, profiles, and
// the notes of the prompt.
var protectedDirectories = [...]string{"skills", "profiles", "prompt"}

// protected reports whether a change of path may be allowed only once, exactly as it was shown.
func (p *Policy) protected(path string) bool {
	return Protected(p.Home, path) || p.State != "" && within(path, p.State) || p.containsHome(path)
}

// containsHome reports whether the home or the state lies in path. Whoever may change everything in such a
// directory may change protected files.
func (p *Policy) containsHome(path string) bool {
	return p.State != "" && within(resolved(p.State), path) || p.Home != "" && within(resolved(p.Home), path)
}

// Protected reports whether path is a file that decides what the agent of a home is and may do, or
// lies in a directory of such files. A file to which such a link of the home leads counts too. The
// path is absolute and has no links.
func Protected(home, path string) bool {
	if slices.Contains(protectedFiles[:], filepath.Base(path)) || isAutorun(path) {
		return true
	}
	if inRepository(path) {
		return true
	}
	if home == "" {
		return false
	}
	for _, name := range protectedDirectories {
		directory := filepath.Join(home, name)
		if path == directory || strings.HasPrefix(path, directory+"/") || within(path, directory) {
			return true
		}
	}
	linked := func(link string) bool {
		info, err := os.Lstat(link)
		if err != nil || info.Mode()&os.ModeSymlink == 0 {
			return false
		}
		real, err := filepath.EvalSymlinks(link)
		return err == nil && real == path
	}
	if slices.ContainsFunc(protectedFiles[:], func(name string) bool { return linked(filepath.Join(home, name)) }) {
		return true
	}
	return slices.ContainsFunc(protectedDirectories[:], func(name string) bool {
		directory := filepath.Join(home, name)
		notes, _ := os.ReadDir(directory) // where there are none, none is a link
		return slices.ContainsFunc(notes, func(note os.DirEntry) bool {
			return note.Type()&os.ModeSymlink != 0 && linked(filepath.Join(directory, note.Name()))
		})
	})
}

// isAutorun reports whether other programs take commands from path or from a directory that contains
// it.
func isAutorun(path string) bool {
	for part := range strings.SplitSeq(path, "/") {
		if part == ".git" || autorun.Has(part) {
			return true
		}
	}
	return false
}

// inRepository reports whether path lies in a git repository whose name contains no .git: a bare
// repository, or one that a file .git points to. It looks for the same names as git does.
func inRepository(path string) bool {
	for at := path; at != "/" && at != "."; at = filepath.Dir(at) {
		there := func(name string) bool { _, err := os.Lstat(filepath.Join(at, name)); return err == nil }
		if there("HEAD") && (there("commondir") || there("objects") && there("refs")) {
			return true
		}
	}
	return false
}
