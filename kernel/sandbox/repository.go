package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// lookLimit is the maximum number of directories that are searched for repositories.
const lookLimit = 4000

// dependencyDirectories are names of directories that contain many others and rarely a repository.
// They are searched last.
var dependencyDirectories = [...]string{"node_modules", "__pycache__", ".venv", ".cache", ".tox", ".mypy_cache", "target", "vendor"}

// placeholderMode is the mode of a directory that is a placeholder. Nobody else uses it.
const placeholderMode = fs.ModeDir | fs.ModeSticky | 0o500

// holdsPlace reports whether a file of such a mode is a directory that is a placeholder. It may have got
// its group from the directory above.
func holdsPlace(mode fs.FileMode) bool { return mode&^fs.ModeSetgid == placeholderMode }

// Repositories returns the paths of the repositories in a directory and below it: each .git,
// whatever it is, and each directory that is a repository itself. Less deep ones come first. whole
// is false if not every directory was searched, because there are too many or one cannot be read.
// Links are not followed, and repositories in a .git are not listed.
func Repositories(directory string) (found []string, whole bool) {
	whole = walk(directory, func(at string, entries []fs.DirEntry) { found = append(found, repositoriesAt(at, entries)...) })
	return found, whole
}

// repositoriesAt returns the repositories directly in one directory.
func repositoriesAt(at string, entries []fs.DirEntry) (found []string) {
	if isRepository(entries) {
		found = append(found, at)
	}
	for _, entry := range entries {
		if entry.Name() == ".git" && !isPlaceholder(entry) {
			found = append(found, filepath.Join(at, ".git"))
		}
	}
	return found
}

// isPlaceholder reports whether an entry is the placeholder of a running command.
func isPlaceholder(entry fs.DirEntry) bool {
	info, err := entry.Info()
	return err == nil && holdsPlace(info.Mode())
}

// walk visits a directory and those below it, except the content of a .git. Less deep ones come
// first. whole is false if not every directory was visited.
func walk(directory string, visit func(at string, entries []fs.DirEntry)) (whole bool) {
	whole = true
	var later []string
	visited := 0
	for next := []string{directory}; len(next) > 0; {
		if visited++; visited > lookLimit {
			return false
		}
		at := next[0]
		next = next[1:]
		entries, err := os.ReadDir(at)
		whole = whole && err == nil
		visit(at, entries)
		for _, entry := range entries {
			switch {
			case entry.Name() == ".git" || !entry.IsDir():
			case slices.Contains(dependencyDirectories[:], entry.Name()):
				later = append(later, filepath.Join(at, entry.Name()))
			default:
				next = append(next, filepath.Join(at, entry.Name()))
			}
		}
		if len(next) == 0 {
			next, later = later, nil
		}
	}
	return whole
}

// isRepository follows git's rule: a directory with HEAD is a repository if it has objects and
// refs, or a commondir that leads to them.
func isRepository(entries []fs.DirEntry) bool {
	there := func(name string) bool {
		return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name && !isPlaceholder(e) })
	}
	return there("HEAD") && (there("commondir") || there("objects") && there("refs"))
}
