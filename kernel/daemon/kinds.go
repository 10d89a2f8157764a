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

// lateSessions refers to the sessions. The kinds of actions and the subagents, which are made before the
// sessions, hold it and use it only afterwards.
type lateSessions struct{ *session.Sessions }

// Kinds returns the kinds of actions that every kernel knows: the built-in ones, followed by those of
// the known channels, which may have no driver.
func Kinds(deps act.Deps) []kind.Kind { return append(act.Kinds(deps), channel.Known()...) }

// openKinds returns the kinds of actions of this kernel: those that every kernel knows, those of its channels, and those of
// the configuration. They do not change while the kernel runs.
func (d *daemon) openKinds(conversations *lateSessions) *kind.Set {
	deps := act.Deps{
		Conversations: conversations, Editors: &d.clients, Catalog: d.tools, Commands: d.commands.Table != nil, Logger: d.log,
		Changed: func(changed protocol.FileChanged) { d.clients.NotifyAll(protocol.MethodFileChanged, changed) },
	}
	var names []string
	for _, driver := range d.config.Channels {
		names = append(names, driver.Name())
	}
	for _, c := range d.loaded.Channels {
		names = append(names, c.Name)
	}
	all := kind.New(append(act.Kinds(deps), channel.Kinds(d.channels.post, names...)...)...)
	if d.config.Kinds != nil {
		all = all.With(d.config.Kinds(deps)...)
	}
	return all
}

// openSubagents returns the pool of subagents.
func (d *daemon) openSubagents(settings config.Settings, conversations *lateSessions) *subagent.Pool {
	return subagent.New(subagent.Config{
		Journal:  subagent.Journal{Subagents: d.journal.Subagents, Acts: d.journal.Acts, Turns: d.journal.Turns},
		Sessions: conversations, Limit: settings.SubagentsAtOnce(), Reads: d.kinds.Reads, Logger: d.log, NewID: newID,
	})
}
