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

// Repositories are the paths by which git knows the repositories in a directory and below it: each
// .git, whatever it is, and each directory that is a repository without one. Those that lie less
// deep are first. whole is false when not every directory was looked into, as there are too many
// or one cannot be read. No link is followed, and nothing in a .git is told by itself.
func Repositories(directory string) (found []string, whole bool) {
	whole = true
	var later []string
	looked := 0
	for next := []string{directory}; len(next) > 0; {
		if looked++; looked > lookLimit {
			return found, false
		}
		at := next[0]
		next = next[1:]
		entries, err := os.ReadDir(at)
		whole = whole && err == nil
		if isRepository(entries) {
			found = append(found, at)
		}
		for _, entry := range entries {
			switch {
			case entry.Name() == ".git":
				found = append(found, filepath.Join(at, ".git"))
			case !entry.IsDir():
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
	return found, whole
}

// isRepository goes by what git itself does.
func isRepository(entries []fs.DirEntry) bool {
	signs := 0
	for _, entry := range entries {
		switch entry.Name() {
		case "HEAD", "objects", "refs":
			signs++
		}
	}
	return signs == 3
}
