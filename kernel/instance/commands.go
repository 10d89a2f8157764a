package instance

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"

	"org-agent/kernel/cover"
	"org-agent/kernel/policy"
	"org-agent/kernel/process"
	"org-agent/kernel/sandbox"
	"org-agent/kernel/wayout"
)

// Commands returns the table of commands. Its commands run in a sandbox of the kind that kind
// returns. Each command may read the directories that programs returns when it starts. warn is
// [process.Config.Warn], and dial is [process.Config.Dial].
func (i Instance) Commands(programs func() []string, kind func() sandbox.Kind, warn func(directory, text string), dial wayout.Dial) *process.Table {
	private := policy.Unread(i.Paths.Home, i.Paths.State)
	shown := func() (shown []string) {
		for _, path := range programs() {
			if path = resolved(filepath.Clean(i.expanded(path))); !private(path) {
				shown = append(shown, path)
			}
		}
		return shown
	}
	return process.New(process.Config{
		Kind:        kind,
		Directory:   filepath.Join(i.Paths.State, "output"),
		Home:        resolved(i.Env("HOME")),
		Hidden:      i.hidden(),
		Shown:       shown,
		Cover:       &cover.Finder{User: resolved(i.Env("HOME")), Own: func(path string) bool { return policy.Secret(i.Paths.Home, path) || i.Paths.Keeps(path) }},
		Environment: i.Env,
		Warn:        warn,
		Dial:        dial,
	})
}

// Commands are the commands of one kernel. The zero value runs no commands.
type Commands struct {
	// Table is the table of commands. nil: no commands are run.
	Table *process.Table
	fence func() (sandbox.Kind, error)
}

// OpenCommands returns the commands of the instance's kernel, with the table of
// [Instance.Commands]. The first command, or the first call of Fence, Kind or Prepare, probes the
// sandbox, which takes as long as a command, and cleans up after a kernel that was killed. No
// command starts before that is finished. The caller must call Close.
func (i Instance) OpenCommands(ctx context.Context, programs func() []string, log *slog.Logger, warn func(directory, text string), dial wayout.Dial) *Commands {
	c := &Commands{}
	c.fence = sync.OnceValues(func() (sandbox.Kind, error) {
		kind, why := sandbox.Probe(ctx)
		if why != nil {
			log.Warn("commands have no complete sandbox", "sandbox", kind, "err", why)
		}
		if err := c.Table.Recover(); err != nil {
			log.Warn("the leftovers of a killed kernel were not cleaned up", "err", err)
		}
		return kind, why
	})
	c.Table = i.Commands(programs, c.Kind, warn, dial)
	return c
}

// Fence returns the kind of the sandbox. The error says what prevents a complete one.
func (c *Commands) Fence() (sandbox.Kind, error) {
	if c.fence == nil {
		return sandbox.None, nil
	}
	return c.fence()
}

// Kind returns the kind of the sandbox.
func (c *Commands) Kind() sandbox.Kind {
	kind, _ := c.Fence() // the probe logs the error
	return kind
}

// Prepare probes the sandbox and deletes the old output of earlier commands.
func (c *Commands) Prepare() {
	c.Kind()
	if c.Table != nil {
		c.Table.Prune()
	}
}

// Close ends the running commands and waits for them.
func (c *Commands) Close() {
	if c.Table != nil {
		c.Table.Close()
	}
}

// hidden returns the paths that no command may see.
func (i Instance) hidden() []string {
	return []string{resolved(i.Paths.State), resolved(i.Paths.Run), resolved(i.Paths.Socket), resolved(i.Paths.Config)}
}

// resolved returns the path with its links resolved, because the sandbox grants nothing for a path
// that contains links. If the path does not exist, the existing part of it is resolved.
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
