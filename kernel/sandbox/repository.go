package sandbox

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// lookLimit is how many directories are looked into for repositories, at most.
const lookLimit = 4000

// stores are directories of which people have many and in which repositories are rare: they are
// looked into last.
var stores = [...]string{"node_modules", "__pycache__", ".venv", ".cache", ".tox", ".mypy_cache", "target", "vendor"}

// placedMode is that of a directory that was put somewhere as a guard: nobody makes such ones.
const placedMode = fs.ModeDir | fs.ModeSticky | 0o500

// Repositories are the paths by which git knows the repositories in a directory and below it: each
// .git, whatever it is, and each directory that is a repository without one. Those that lie less
// deep are first. whole is false when not every directory was looked into, as there are too many
// or one cannot be read. No link is followed, and nothing in a .git is told by itself.
func Repositories(directory string) (found []string, whole bool) {
	whole = walk(directory, func(at string, entries []fs.DirEntry) { found = append(found, repositoriesAt(at, entries)...) })
	return found, whole
}

// repositoriesAt are those by which git knows a repository in one directory.
func repositoriesAt(at string, entries []fs.DirEntry) (found []string) {
	if isRepository(entries) {
		found = append(found, at)
	}
	for _, entry := range entries {
		if entry.Name() == ".git" && !isPlaced(entry) {
			found = append(found, filepath.Join(at, ".git"))
		}
	}
	return found
}

// isPlaced reports whether an entry is what guards a name while a command runs.
func isPlaced(entry fs.DirEntry) bool {
	info, err := entry.Info()
	return err == nil && info.Mode() == placedMode
}

// walk visits a directory and those below it, but for what is in a .git. Those that lie less deep
// are first. whole is false when not every directory was looked into.
func walk(directory string, visit func(at string, entries []fs.DirEntry)) (whole bool) {
	whole = true
	var later []string
	looked := 0
	for next := []string{directory}; len(next) > 0; {
		if looked++; looked > lookLimit {
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
			case slices.Contains(stores[:], entry.Name()):
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

// isRepository goes by what git itself does: a directory with HEAD is one if it has objects and
// refs, or says in commondir where they are.
func isRepository(entries []fs.DirEntry) bool {
	there := func(name string) bool {
		return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name && !isPlaced(e) })
	}
	return there("HEAD") && (there("commondir") || there("objects") && there("refs"))
}
