package instance

import (
	"path/filepath"

	"org-agent/kernel/policy"
	"org-agent/kernel/process"
	"org-agent/kernel/sandbox"
)

// Commands is the table of the commands, which run in a fence of a kind. Programs are directories
// that each can read. warn is [process.Config.Warn].
func (i Instance) Commands(programs []string, kind func() sandbox.Kind, warn func(directory, text string)) *process.Table {
	var shown []string
	private := policy.Unread(i.Paths.Home, i.Paths.State)
	for _, path := range programs {
		if path = resolved(filepath.Clean(i.expanded(path))); !private(path) {
			shown = append(shown, path)
		}
	}
	return process.New(process.Config{
		Kind:        kind,
		Directory:   filepath.Join(i.Paths.State, "output"),
		Home:        resolved(i.Env("HOME")),
		Hidden:      i.hidden(),
		Shown:       shown,
		Environment: i.Env,
		Warn:        warn,
	})
}

// hidden is what no command is granted.
func (i Instance) hidden() []string {
	return []string{resolved(i.Paths.State), resolved(i.Paths.Run), resolved(i.Paths.Socket), resolved(i.Paths.Config)}
}

// resolved is the path without links. Of a path that is not there yet, the part that is there is
// resolved: a command is granted nothing by a path with links in it.
func resolved(path string) string {
	if path == "" {
		return ""
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if directory := filepath.Dir(path); directory != path {
		return filepath.Join(resolved(directory), filepath.Base(path))
	}
	return path
}
