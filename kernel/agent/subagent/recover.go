package subagent

import (
	"context"
	"fmt"
	"slices"
	"time"

	"org-agent/kernel/action"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// Recover restores the subagents of the last kernel. It must be called before the sessions are resumed,
// and before Run. Queued subagents are queued again. A running subagent starts anew if it had only
// read; otherwise it has ended, because it is unknown which of its actions happened. Ends that were not
// reported are reported, even those that a turn was waiting for, because the restart has ended that
// turn.
func (p *Pool) Recover(ctx context.Context) error {
	if p == nil {
		return nil
	}
	owed, err := p.config.Journal.Subagents.UnsentReports(ctx)
	if err != nil {
		return fmt.Errorf("recover the subagents: %w", err)
	}
	for _, s := range owed {
		at := slices.IndexFunc(p.reports, func(r *report) bool { return r.event == s.Reported })
		if at < 0 {
			p.reports = append(p.reports, &report{event: s.Reported, session: s.Session, recorded: true})
			at = len(p.reports) - 1
		}
		p.reports[at].subagents = append(p.reports[at].subagents, s)
	}
	unreported, err := p.config.Journal.Subagents.Unreported(ctx)
	if err != nil {
		return fmt.Errorf("recover the subagents: %w", err)
	}
	for _, s := range unreported {
		if err := p.recoverOne(ctx, s); err != nil {
			return fmt.Errorf("recover the subagent %s: %w", s.ID, err)
		}
	}
	p.wakeRun()
	return nil
}

func (p *Pool) recoverOne(ctx context.Context, s journal.Subagent) error {
	s.Wait = false // the waiting call is gone
	turn, begun, err := p.config.Journal.Subagents.TurnOfSubagent(ctx, s.ID)
	if err != nil {
		return err
	}
	if s.Cancelled || begun && turn.State.Final() {
		p.queueReport(s)
		return nil
	}
	c := &task{row: s, ended: make(chan struct{})}
	p.tasks[s.ID] = c
	if !begun {
		p.queue = append(p.queue, c)
		return nil
	}
	c.startTime, c.waiting = time.Now(), turn.State == protocol.TurnWaiting
	if turn.State != protocol.TurnRunning {
		return nil
	}
	acts, err := p.config.Journal.Acts.ActsOf(ctx, turn.ID)
	if err != nil || slices.ContainsFunc(acts, func(a journal.Act) bool {
		return a.Kind != journal.ActAction || !p.config.Reads(action.Recorded(a.Action))
	}) {
		return err // the session ends the turn
	}
	_, err = p.config.Journal.Turns.SetTurn(ctx, journal.TurnChange{ID: turn.ID, State: protocol.TurnQueued})
	return err
}
