package daemon

import (
	"org-agent/kernel/act"
	"org-agent/kernel/channel"
	"org-agent/kernel/kind"
	"org-agent/kernel/notekind"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
)

// withNotes returns what tells the kinds of actions that there are now: those of this kernel, and
// behind them those that live notes define.
func withNotes(fixed *kind.Set, notes *skill.Registry) func() *kind.Set {
	return func() *kind.Set { return fixed.With(notekind.Kinds(notes.Current().Actions())...) }
}

// Kinds are the kinds of actions that every kernel knows: those that are built in, and behind them
// those of channels that may have no driver.
func Kinds(deps act.Deps) []kind.Kind { return append(act.Kinds(deps), channel.Known()...) }

// kindsOf are the kinds of actions of this kernel: those of its channels, those that every
// kernel knows, and behind them those that it was started with. They do not change while it runs.
func (d *daemon) kindsOf(talk *conversations) *kind.Set {
	deps := act.Deps{
		Conversations: talk, Editors: &d.clients, Catalog: d.tools, Commands: d.commands.table != nil, Logger: d.log,
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
