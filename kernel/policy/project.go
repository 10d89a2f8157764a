package policy

import (
	"os"
	"path/filepath"
	"slices"
)

// projectSigns are the names that mark a directory as a project.
var projectSigns = [...]string{".git", ".org-agent"}

// ProjectOf returns the project of a file or a directory: the nearest directory above it that
// contains .git or .org-agent. It returns "" if there is none. A person's whole home directory is
// never a project, even if it is a git repository.
func ProjectOf(path string) string {
	if !filepath.IsAbs(path) {
		return ""
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return ""
	}
	for at := resolved(path); at != "/"; at = filepath.Dir(at) {
		for _, sign := range projectSigns {
			if _, err := os.Lstat(filepath.Join(at, sign)); err == nil {
				if within(resolved(user), at) {
					return ""
				}
				return at
			}
		}
	}
	return ""
}

// projectOf returns which project of the conversation contains the file, or "".
func (p *Policy) projectOf(path string) string {
	if p.projects == nil {
		return ""
	}
	projects := p.projects()
	i := slices.IndexFunc(projects, func(project string) bool { return project != "" && isBelow(path, project) })
	if i < 0 {
		return ""
	}
	return projects[i]
}
