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

// Recover takes up what the last kernel left. It is called before the sessions are resumed, and
// before Run. What was not begun is begun. What was at work goes on from the start if it did
// nothing but read, and has ended else: what it had done is not known. What ended, and of which
// nobody was told, is told of: also where a turn waited for it, which the kernel's end has ended.
func (p *Pool) Recover(ctx context.Context) error {
	if p == nil {
		return nil
	}
	owed, err := p.config.Journal.Subagents.Owed(ctx)
	if err != nil {
		return fmt.Errorf("take up the subagents: %w", err)
	}
	for _, s := range owed {
		at := slices.IndexFunc(p.due, func(r *report) bool { return r.event == s.Reported })
		if at < 0 {
			p.due = append(p.due, &report{event: s.Reported, session: s.Session, kept: true})
			at = len(p.due) - 1
		}
		p.due[at].subagents = append(p.due[at].subagents, s)
	}
	unreported, err := p.config.Journal.Subagents.Unreported(ctx)
	if err != nil {
		return fmt.Errorf("take up the subagents: %w", err)
	}
	for _, s := range unreported {
		if err := p.recoverOne(ctx, s); err != nil {
			return fmt.Errorf("take up the subagent %s: %w", s.ID, err)
		}
	}
	p.rouse()
	return nil
}

func (p *Pool) recoverOne(ctx context.Context, s journal.Subagent) error {
	s.Wait = false // whoever waited is gone
	turn, begun, err := p.config.Journal.Subagents.TurnOfSubagent(ctx, s.ID)
	if err != nil {
		return err
	}
	if s.Cancelled || begun && turn.State.Final() {
		p.later(s)
		return nil
	}
	c := &task{record: s, ended: make(chan struct{})}
	p.live[s.ID] = c
	if !begun {
		p.queue = append(p.queue, c)
		return nil
	}
	c.started, c.waiting = time.Now(), turn.State == protocol.TurnWaiting
	if turn.State != protocol.TurnRunning {
		return nil
	}
	acts, err := p.config.Journal.Acts.ActsOf(ctx, turn.ID)
	if err != nil || slices.ContainsFunc(acts, func(a journal.Act) bool {
		return a.Kind != journal.ActAction || !p.config.Reads(action.Recorded(a.Action))
	}) {
		return err // the session ends it
	}
	_, err = p.config.Journal.Turns.SetTurn(ctx, journal.TurnChange{ID: turn.ID, State: protocol.TurnQueued})
	return err
}
