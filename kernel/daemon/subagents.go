package daemon

import (
	"context"

	"org-agent/kernel/agent/subagent"
	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/session"
)

// conversations is the sessions for kinds of actions and for subagents, which are made before there
// are sessions.
type conversations struct{ *session.Sessions }

// Insert implements [act.Conversations].
func (c *conversations) Insert(ctx context.Context, o kind.Order, text string) error {
	return c.Sessions.Insert(ctx, o.Session, o.Turn, o.Action.Action().Canonical(), text)
}

// Post implements [act.Conversations].
func (c *conversations) Post(ctx context.Context, o kind.Order, session, text string) error {
	return c.Sessions.Post(ctx, "post-"+o.ID, session, text) // an event's id is no act's
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

// turnEnded has the subagents take note of the end of a turn, also while the kernel stops.
func (d *daemon) turnEnded(turn journal.Turn) {
	if d.subagents != nil {
		d.subagents.Ended(context.Background(), turn)
	}
}
