package agent

import (
	"context"
	"sync"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/gate"
	"org-agent/kernel/protocol"
)

// decision is what a person decided about an ask, for the turn that waits for it. The journal has no
// secrets: they are here, by the names of their fields, and nowhere else.
type decision struct {
	protocol.AskOutcome
	secrets map[string]string
	edited  action.Proposed // what the person wrote in place of the action, usable; empty if nothing
}

// personDecides shows an ask and returns what a person decides. The time that the person takes is not
// counted, neither for the turn nor for the action. The error is a [gate.StillWaiting] if ctx ends
// first.
func (r *run) personDecides(ctx context.Context, ask protocol.Ask, decisions <-chan decision) (decided decision, err error) {
	r.meter.Pause()
	waits := func(waiting bool) error {
		r.program.waiting(waiting)
		return r.turn.Waiting(ctx, waiting)
	}
	if err := waits(true); err != nil {
		return decided, err
	}
	if err := r.turn.Ask(ctx, ask); err != nil {
		return decided, err
	}
	select {
	case decided = <-decisions:
	case <-ctx.Done():
		return decided, gate.StillWaiting{Cause: context.Cause(ctx)}
	}
	r.turn.AskClosed(ctx, ask.ID)
	r.steps.Begin()
	r.meter.Resume()
	return decided, waits(false)
}

// readAgain reads the ask that a turn waits for after a restart. If a person has decided it meanwhile,
// the decision is passed on. The caller waits for the decision already, so that none is lost.
func (r *run) readAgain(ctx context.Context, id string) (protocol.Ask, error) {
	ask, err := r.agent.config.Journal.Ask(ctx, id)
	switch {
	case err != nil:
		return ask, err
	case ask.Decision != "":
		edited, err := r.agent.readEdited(ask.Edited)
		if err != nil {
			return ask, err
		}
		r.agent.asks.Resume(id, decision{AskOutcome: ask.AskOutcome, edited: edited})
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
