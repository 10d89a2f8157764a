package loop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// Budget is what a turn may take, and what it took since a person asked for it. When a part of it is
// used up, or is not enough for another request and the one for the answer, the model gets that with
// the last result and is asked for its answer. The answer has what was found, and a message "continue"
// goes on from there.
type Budget struct {
	limits       config.Budget
	taken        journal.Taken
	priced       bool          // the cost of some request is known
	last         journal.Taken // what the last request took
	stop         string        // why the model is asked only for its answer; "" while it may do more
	lastRequests int           // requests since then

	// whole is what the whole question may take, and beside is what its other turns took: those of
	// subagents and the one that started them.
	whole  config.Budget
	beside journal.Taken

	begun time.Time // when the clock was started; zero while it stands, as for a person
	timer *time.Timer
	ended func() // cancels the current part of the turn; nil before [Budget.Within]
}

// lastAsks is how many requests the answer may take: one, one more for a reply that cannot be
// used, one more with less for a model that finds it too long, and one of a skill.
const lastAsks = 4

// NewBudget is the budget of a turn that is all of its question.
func NewBudget(limits config.Budget) Budget { return Budget{limits: limits, whole: limits} }

// Limits are what the turn may take.
func (b *Budget) Limits() config.Budget { return b.limits }

// Share sets what all turns of the question together may take.
func (b *Budget) Share(whole config.Budget) { b.whole = whole }

// Restore counts what the turn took before the kernel's end.
func (b *Budget) Restore(taken journal.Taken) { b.taken = taken }

// Within does a part of the turn in the time that is left.
func (b *Budget) Within(ctx context.Context, do func(context.Context) (bool, error)) (done bool, err error) {
	within, stop := b.start(ctx)
	defer stop()
	done, err = do(within)
	if over, ok := errors.AsType[Ended](context.Cause(within)); ok && err != nil && ctx.Err() == nil {
		err = over
	}
	return done, err
}

// start starts the clock. The context ends when the time is used up, with an error for people. The
// function stops the clock.
func (b *Budget) start(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	b.ended = func() { cancel(b.usedUp(text.Duration(b.limits.Time) + " (" + protocol.SettingBudgetTime + ")")) }
	b.Resume()
	return ctx, func() {
		b.Pause()
		cancel(nil)
	}
}

// Pause stops the clock while the turn waits for a person.
func (b *Budget) Pause() {
	if b.begun.IsZero() {
		return
	}
	b.taken.Time += time.Since(b.begun)
	b.begun = time.Time{}
	if b.timer != nil {
		b.timer.Stop()
	}
}

// Resume starts the clock again. It does nothing before [Budget.Within]: a call of another program is
// not bounded in time.
func (b *Budget) Resume() {
	if b.ended == nil {
		return
	}
	b.begun = time.Now()
	if b.limits.Time == 0 {
		return
	}
	left := b.limits.Time - b.taken.Time
	if b.stop != "" { // to answer takes some, whatever is left
		left = max(left, min(max(b.limits.Time/4, 10*time.Second), time.Minute))
	}
	b.timer = time.AfterFunc(left, b.ended)
}

// time is the time that was taken.
func (b *Budget) time() time.Duration {
	if b.begun.IsZero() {
		return b.taken.Time
	}
	return b.taken.Time + time.Since(b.begun)
}

// spent counts a request and its reply. A nil cost is not known.
func (b *Budget) spent(tokens int, cost *float64, took time.Duration) {
	b.last = journal.Taken{Tokens: tokens, Time: took}
	b.taken.Tokens += tokens
	if cost != nil {
		b.priced, b.last.Cost = true, *cost
		b.taken.Cost += *cost
	}
}

// step counts a step, and says what is used up then; "" for nothing. What the next request and
// the one for the answer take counts as taken.
func (b *Budget) step() string {
	b.taken.Steps++
	if b.taken.Steps >= b.limits.Rounds {
		return fmt.Sprintf("%d of %d rounds (%s)", b.taken.Steps, b.limits.Rounds, protocol.SettingBudgetRounds)
	}
	if used := b.used(2*b.last.Tokens, 2*b.last.Cost); used != "" {
		return used
	}
	if b.limits.Time > 0 && b.time()+b.last.Time > b.limits.Time {
		return fmt.Sprintf("%s of %s (%s)", text.Duration(b.time()), text.Duration(b.limits.Time), protocol.SettingBudgetTime)
	}
	return ""
}

// used says which of the tokens and the cost there is not enough of for so much more; "" for none.
func (b *Budget) used(tokens int, cost float64) string {
	taken, limit, with := b.taken, b.limits, ""
	for range 2 {
		switch {
		case limit.Tokens > 0 && taken.Tokens+tokens > limit.Tokens:
			return fmt.Sprintf("%s of %s tokens%s (%s)", text.Thousands(taken.Tokens), text.Thousands(limit.Tokens), with, protocol.SettingBudgetTokens)
		case limit.Cost > 0 && (taken.Cost >= limit.Cost || taken.Cost+cost > limit.Cost):
			return fmt.Sprintf("%s of %s%s (%s)", text.Dollars(taken.Cost), text.Dollars(limit.Cost), with, protocol.SettingBudgetCost)
		}
		taken.Tokens, taken.Cost = taken.Tokens+b.beside.Tokens, taken.Cost+b.beside.Cost
		limit, with = b.whole, ", with all its subagents"
	}
	return ""
}

// allows says whether the model may be asked once more; a skill may ask it many times before
// anything comes of it.
func (b *Budget) allows() error {
	if b.stop != "" {
		if b.lastRequests++; b.lastRequests > lastAsks {
			return b.usedUp(b.stop)
		}
		return nil
	}
	if used := b.used(1, 0); used != "" {
		return b.usedUp(used)
	}
	return nil
}

// usedUp ends a turn that has no answer when a part of its budget is used up.
func (b *Budget) usedUp(what string) error {
	return Ended{protocol.TurnInterrupted, stopped(what) + ", before there was an answer. What was done and found is kept, and to have it answered again goes on from there"}
}

// stopped is what ended a turn, as the beginning of a sentence.
func stopped(what string) string {
	if strings.HasPrefix(what, inCircle) {
		return "This was stopped: " + what
	}
	return "What this may take is used up: " + what
}

// inCircle begins the reason of a turn that was stopped in a circle.
const inCircle = "it did "

// UsedUp implements [gate.Limits].
func (b *Budget) UsedUp() error {
	if b.stop == "" {
		return nil
	}
	return b.usedUp(b.stop)
}

// TimeIsUp implements [gate.Limits].
func (b *Budget) TimeIsUp(ctx context.Context) bool {
	_, over := errors.AsType[Ended](context.Cause(ctx))
	return over
}

// Stopped says why the model was asked for its answer and for nothing else, and what a person does
// who wants more; "" where it was not.
func (b *Budget) Stopped() string {
	if b.stop == "" {
		return ""
	}
	return stopped(b.stop) + "; " + goOnHint
}

// goOnHint is what a person does who wants more.
const goOnHint = "say \"continue\" to have it go on"

// progress is how far the turn has come, for people.
func (b *Budget) progress(turn, event string) protocol.TurnProgress {
	p := protocol.TurnProgress{
		Turn: turn, Event: event,
		Round: b.taken.Steps + 1, OfRounds: b.limits.Rounds, Tokens: b.taken.Tokens, OfTokens: b.limits.Tokens,
		Seconds: b.time().Seconds(), OfSeconds: b.limits.Time.Seconds(), Last: b.stop != "",
	}
	if b.priced {
		cost := b.taken.Cost
		p.Cost, p.OfCost = &cost, b.limits.Cost
	}
	return p
}
