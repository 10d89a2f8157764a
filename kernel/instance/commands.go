package instance

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"

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

// Commands are the commands of a kernel. The zero value runs none.
type Commands struct {
	// Table holds them; nil: none are run.
	Table *process.Table
	fence func() (sandbox.Kind, error)
}

// OpenCommands makes the commands of the instance's kernel, as [Instance.Commands] does. What fences
// them in is found out when it is first asked for, because that takes as long as a command does. Each
// command asks first, so none runs before what a killed kernel left was looked through. Whoever calls it
// closes them.
func (i Instance) OpenCommands(ctx context.Context, programs []string, log *slog.Logger, warn func(directory, text string)) *Commands {
	c := &Commands{}
	c.fence = sync.OnceValues(func() (sandbox.Kind, error) {
		kind, why := sandbox.Probe(ctx)
		if why != nil {
			log.Warn("there is no whole sandbox for commands", "sandbox", kind, "err", why)
		}
		if err := c.Table.Recover(); err != nil {
			log.Warn("what a killed kernel left was not looked through", "err", err)
		}
		return kind, why
	})
	c.Table = i.Commands(programs, c.Kind, warn)
	return c
}

// Fence is the kind of the fence, with what is missing to a whole one.
func (c *Commands) Fence() (sandbox.Kind, error) {
	if c.fence == nil {
		return sandbox.None, nil
	}
	return c.fence()
}

// Kind is the kind of the fence.
func (c *Commands) Kind() sandbox.Kind {
	kind, _ := c.Fence() // it is logged
	return kind
}

// Prepare finds out what fences commands in, and throws away what earlier ones wrote when it is old.
func (c *Commands) Prepare() {
	c.Kind()
	if c.Table != nil {
		c.Table.Prune()
	}
}

// Close ends those that run, and waits until they have ended.
func (c *Commands) Close() {
	if c.Table != nil {
		c.Table.Close()
	}
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
