package daemon

import (
	"org-agent/kernel/act"
	"org-agent/kernel/agent/subagent"
	"org-agent/kernel/channel"
	"org-agent/kernel/config"
	"org-agent/kernel/kind"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
)

// conversations are the sessions for kinds of actions and for subagents, which are made before there
// are sessions.
type conversations struct{ *session.Sessions }

// Kinds are the kinds of actions that every kernel knows: those that are built in, and behind them
// those of channels that may have no driver.
func Kinds(deps act.Deps) []kind.Kind { return append(act.Kinds(deps), channel.Known()...) }

// kindsOf are the kinds of actions of this kernel: those of its channels, those that every
// kernel knows, and behind them those that it was started with. They do not change while it runs.
func (d *daemon) kindsOf(talk *conversations) *kind.Set {
	deps := act.Deps{
		Conversations: talk, Editors: &d.clients, Catalog: d.tools, Commands: d.commands.Table != nil, Logger: d.log,
		Changed: func(changed protocol.FileChanged) { d.clients.NotifyAll(protocol.MethodFileChanged, changed) },
	}
	var kinds []kind.Kind
	for _, driver := range d.channels { // before those that are only known by name
		kinds = append(kinds, channel.Kind(driver, talk))
	}
	all := kind.New(append(kinds, Kinds(deps)...)...)
	if d.config.Kinds != nil {
		all = all.With(d.config.Kinds(deps)...)
	}
	return all
}

// openSubagents returns who answers work that is handed on; nil where none is.
func (d *daemon) openSubagents(settings config.Settings, talk *conversations) *subagent.Pool {
	limit := settings.SubagentsAtOnce()
	if limit == 0 {
		return nil
	}
	return subagent.New(subagent.Config{
		Journal:  subagent.Journal{Subagents: d.journal.Subagents, Acts: d.journal.Acts, Turns: d.journal.Turns},
		Sessions: talk, Limit: limit, Reads: d.kinds.Reads, Logger: d.log, NewID: newID,
	})
}
