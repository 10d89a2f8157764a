package daemon

import (
	"context"
	"sync"

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
// first asked for: it takes as long as a command does. Each command asks first, and so none runs
// before what a killed kernel left was looked through.
func (d *daemon) openCommands(ctx context.Context, programs []string) (c commands) {
	c.fence = sync.OnceValues(func() (sandbox.Kind, error) {
		if !d.config.Commands {
			return sandbox.None, nil
		}
		kind, why := sandbox.Probe(ctx)
		if why != nil {
			d.log.Warn("there is no whole sandbox for commands", "sandbox", kind, "err", why)
		}
		if err := c.table.Recover(); err != nil {
			d.log.Warn("what a killed kernel left was not looked through", "err", err)
		}
		return kind, why
	})
	if d.config.Commands {
		c.table = d.home.Commands(programs, c.kind, func(directory, text string) {
			if d.clients.Count() == 0 { // whoever comes next is told
				d.faults.Tell("a command's directory: "+directory, []string{text})
				return
			}
			d.clients.NotifyAll(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelWarn, Text: text})
		})
	}
	return c
}

// kind is the kind of the fence.
func (c commands) kind() sandbox.Kind {
	kind, _ := c.fence() // it is logged
	return kind
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
