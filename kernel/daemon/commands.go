package daemon

import (
	"context"
	"path/filepath"
	"strings"
	"sync"

	"org-agent/kernel/config"
	"org-agent/kernel/policy"
	"org-agent/kernel/process"
	"org-agent/kernel/protocol"
	"org-agent/kernel/sandbox"
)

// commands are those that run for conversations.
type commands struct {
	table *process.Table // nil: none are run
	fence func() (sandbox.Kind, error)
}

// openCommands makes the table of the commands. What fences them in is found out when it is
// first asked for: it takes as long as a command does.
func (d *daemon) openCommands(ctx context.Context, programs []string) (c commands) {
	c.fence = sync.OnceValues(func() (sandbox.Kind, error) {
		if !d.config.Commands {
			return sandbox.None, nil
		}
		kind, why := sandbox.Look(ctx)
		if why != nil {
			d.log.Warn("there is no whole sandbox for commands", "sandbox", kind, "err", why)
		}
		return kind, why
	})
	if d.config.Commands {
		c.table = Commands(d.paths, programs, d.config.Env, c.kind, func(text string) {
			d.editors.notify(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelWarn, Text: text})
		})
	}
	return c
}

// kind is the kind of the fence.
func (c commands) kind() sandbox.Kind {
	kind, _ := c.fence() // it is logged
	return kind
}

// Commands is the table of the commands of an instance, in a fence of a kind. Programs are
// directories that each can read. warn tells the person of what one left that other programs obey.
func Commands(paths config.Paths, programs []string, env func(string) string, kind func() sandbox.Kind, warn func(text string)) *process.Table {
	var shown []string
	private := policy.Unread(paths.Home, paths.State)
	for _, path := range programs {
		if rest, ok := strings.CutPrefix(path, "~/"); ok {
			path = filepath.Join(env("HOME"), rest)
		}
		if path = resolvedPath(filepath.Clean(path)); !private(path) {
			shown = append(shown, path)
		}
	}
	return process.New(process.Config{
		Kind:        kind,
		Directory:   filepath.Join(paths.State, "output"),
		Home:        resolvedPath(env("HOME")),
		Hidden:      hiddenFrom(paths),
		Shown:       shown,
		Environment: env,
		Warn:        warn,
	})
}

// hiddenFrom is what no command is granted.
func hiddenFrom(paths config.Paths) []string {
	return []string{resolvedPath(paths.State), resolvedPath(paths.Run), resolvedPath(paths.Socket), resolvedPath(paths.Config)}
}

// prepare finds out what fences commands in, and throws away what earlier ones wrote when it is
// old.
func (c commands) prepare() {
	c.kind()
	if c.table != nil {
		c.table.Prune()
	}
}

// close ends those that run.
func (c commands) close() {
	if c.table != nil {
		c.table.Close()
	}
}

// resolvedPath is the path of what is there, and of what is not yet there as far as it is: a command is
// granted nothing by a path with links in it.
func resolvedPath(path string) string {
	if path == "" {
		return ""
	}
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		return resolved
	}
	if directory := filepath.Dir(path); directory != path {
		return filepath.Join(resolvedPath(directory), filepath.Base(path))
	}
	return path
}
