package policy

import (
	"os"
	"path/filepath"
	"slices"
)

// projectSigns are what the directory of a project has in it.
var projectSigns = [...]string{".git", ".org-agent"}

// ProjectOf is the directory of the project that a file or a directory is in: the nearest above
// it that has .git or .org-agent. It is "" where there is none, and where that holds all that a
// person has: the home of who keeps their settings in git is no project.
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

// projectOf is the project of the conversation that a file is in, "" for none.
func (p *Policy) projectOf(path string) string {
	if p.projects == nil {
		return ""
	}
	projects := p.projects()
	i := slices.IndexFunc(projects, func(project string) bool { return project != "" && beneath(path, project) })
	if i < 0 {
		return ""
	}
	return projects[i]
}
