package daemon

import (
	"context"

	"org-agent/kernel/agent/subagent"
	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// openSubagents returns who answers work that is handed on; nil where none is.
func (d *daemon) openSubagents(settings config.Settings, talk *conversations) *subagent.Pool {
	limit := settings.SubagentsAtOnce()
	if limit == 0 {
		return nil
	}
	return subagent.New(subagent.Config{Journal: d.journal, Sessions: talk, Limit: limit, Reads: d.kinds.Reads, Logger: d.log, NewID: newID})
}

// turnEnded has the subagents take note of the end of a turn, also while the kernel stops.
func (d *daemon) turnEnded(turn journal.Turn) {
	if d.subagents != nil {
		d.subagents.Ended(context.Background(), turn)
	}
}

// Submit implements [subagent.Sessions].
func (c *conversations) Submit(ctx context.Context, event protocol.Event) (protocol.EventResult, error) {
	return c.sessions.Submit(ctx, event)
}

// Cancel implements [subagent.Sessions].
func (c *conversations) Cancel(ctx context.Context, p protocol.TurnParams) (protocol.TurnCancelResult, error) {
	return c.sessions.Cancel(ctx, p)
}

// Fork implements [subagent.Sessions].
func (c *conversations) Fork(ctx context.Context, p protocol.SessionForkParams) (protocol.SessionForkResult, error) {
	return c.sessions.Fork(ctx, p)
}

// Tell implements [subagent.Sessions].
func (c *conversations) Tell(session, method string, params any) {
	c.sessions.Tell(session, method, params)
}
