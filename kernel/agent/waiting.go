package agent

import (
	"context"
	"sync"

	"org-agent/kernel/agent/gate"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
)

// personDecides shows an ask and returns what a person decides. The time that the person takes is not
// counted, neither for the turn nor for the action. The error is a [gate.StillWaiting] if ctx ends
// first.
func (r *run) personDecides(ctx context.Context, ask protocol.Ask, decisions <-chan session.Decision) (decision session.Decision, err error) {
	r.meter.Pause()
	waits := func(waiting bool) error {
		r.program.waiting(waiting)
		return r.turn.Waiting(ctx, waiting)
	}
	if err := waits(true); err != nil {
		return decision, err
	}
	if err := r.turn.Ask(ctx, ask); err != nil {
		return decision, err
	}
	select {
	case decision = <-decisions:
	case <-ctx.Done():
		return decision, gate.StillWaiting{Cause: context.Cause(ctx)}
	}
	r.turn.AskClosed(ctx, ask.ID)
	r.steps.Begin()
	r.meter.Resume()
	return decision, waits(false)
}

// readAgain reads the ask that a turn waits for after a restart. If a person has decided it meanwhile,
// the decision is passed on. The caller waits for the decision already, so that none is lost.
func (r *run) readAgain(ctx context.Context, id string) (protocol.Ask, error) {
	ask, err := r.agent.config.Journal.Asks.Ask(ctx, id)
	switch {
	case err != nil:
		return ask, err
	case ask.Decision != "":
		r.agent.asks.Resume(id, session.Decision{AskOutcome: ask.AskOutcome})
	case !ask.Waits():
		return ask, interruptedWaiting()
	}
	return ask, nil
}

// once remembers which warnings were shown. It forgets them all when there are many: a warning that is
// shown twice is better than a map that grows for ever. The zero value is ready.
type once struct {
	mu    sync.Mutex
	shown map[string]bool
}

// first reports whether the warning is shown for the first time.
func (o *once) first(warning string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	const most = 10_000
	if o.shown == nil || len(o.shown) > most {
		o.shown = map[string]bool{}
	}
	was := o.shown[warning]
	o.shown[warning] = true
	return !was
}
