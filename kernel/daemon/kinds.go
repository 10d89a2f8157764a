package daemon

import (
	"org-agent/kernel/act"
	"org-agent/kernel/channel"
	"org-agent/kernel/kind"
)

// kindsOf are the kinds of actions of this kernel: those that are built in, and behind them those
// that it was started with.
func (d *daemon) kindsOf(talk *conversations) *kind.Set {
	deps := act.Deps{
		Conversations: talk, Editors: &d.editors, Catalog: d.tools, Commands: d.commands.table != nil, Noted: d.noted, Logger: d.log,
	}
	var kinds []kind.Kind
	for _, driver := range d.channels { // before those that are only known by name
		kinds = append(kinds, channel.Kind(driver, talk))
	}
	all := kind.New(append(kinds, act.Kinds(deps)...)...)
	if d.config.Kinds != nil {
		all = all.With(d.config.Kinds(deps)...)
	}
	return all
}
