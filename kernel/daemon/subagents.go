package daemon

import (
	"cmp"
	"context"
	"slices"

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

func (d *daemon) recoverSubagents(ctx context.Context) error {
	if d.subagents == nil {
		return nil
	}
	return d.subagents.Recover(ctx)
}

func (d *daemon) runSubagents(ctx context.Context) {
	if d.subagents != nil {
		d.subagents.Run(ctx)
	}
}

// turnEnded has the subagents take note of the end of a turn, also while the kernel stops.
func (d *daemon) turnEnded(turn journal.Turn) {
	if d.subagents != nil {
		d.subagents.Ended(context.Background(), turn)
	}
}

// cancel stops a turn with the subagents that it handed work to, and without a turn's id all of
// the conversation.
func (d *daemon) cancel(ctx context.Context, p protocol.TurnParams) (protocol.TurnCancelResult, error) {
	result, err := d.sessions.Cancel(ctx, p)
	if err != nil || d.subagents == nil || p.Turn+p.Event != "" && !result.Cancelled {
		return result, err
	}
	name, err := d.sessions.NameNow(ctx, cmp.Or(p.Session, protocol.MainSession))
	turn := ""
	if p.Turn+p.Event != "" {
		record, found := d.sessions.Turn(ctx, protocol.TurnParams{Turn: result.Turn})
		name, turn, err = record.Session, record.ID, found
	}
	if err != nil {
		return result, err
	}
	stopped, err := d.subagents.Cancel(ctx, name, turn)
	result.Cancelled = result.Cancelled || stopped > 0
	return result, err
}

// subagentList answers how subagents are doing.
func (d *daemon) subagentList(ctx context.Context, p protocol.SubagentListParams) (protocol.SubagentListResult, error) {
	if d.subagents == nil {
		return protocol.SubagentListResult{}, nil
	}
	name := p.Session
	if name != "" {
		var err error
		if name, err = d.sessions.NameNow(ctx, name); err != nil {
			return protocol.SubagentListResult{}, err
		}
	}
	list, err := d.subagents.List(ctx, name)
	return protocol.SubagentListResult{Subagents: list}, err
}

// busy are the conversations in which something is answered, subagents behind those that handed
// them their work.
func (d *daemon) busy(ctx context.Context) ([]protocol.ConversationStatus, error) {
	busy := d.sessions.Busy()
	if d.subagents == nil {
		return busy, nil
	}
	list, err := d.subagents.List(ctx, "")
	for i := range busy {
		at := slices.IndexFunc(list, func(s protocol.Subagent) bool { return s.Child == busy[i].Name })
		if at >= 0 {
			busy[i].Parent, busy[i].Label = list[at].Session, list[at].Label
		}
	}
	slices.SortStableFunc(busy, func(a, b protocol.ConversationStatus) int {
		return cmp.Or(cmp.Compare(cmp.Or(a.Parent, a.Name), cmp.Or(b.Parent, b.Name)), cmp.Compare(a.Parent, b.Parent))
	})
	return busy, err
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
