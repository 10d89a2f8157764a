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

// Budget has the limits of a turn, and its usage since a person asked for it. When a limit is reached,
// or leaves no room for another request and the one for the answer, the model is told so with the last
// result and asked for its answer. The answer has what was found so far, and a message "continue" goes
// on from there.
type Budget struct {
	limits         config.Budget
	used           journal.BudgetUse
	costKnown      bool              // whether the cost of some request is known
	lastRequest    journal.BudgetUse // the usage of the last request
	stopReason     string            // why the model is now asked only for its answer; "" before
	answerRequests int               // requests since then
	requests       int               // allowed requests, since the kernel started
	refused        int               // requests that were not allowed

	// questionLimits are the limits of all turns of the question together: of the turn that a person
	// asked for and of its subagents. otherTurns is the usage of the turns but this one.
	questionLimits config.Budget
	otherTurns     journal.BudgetUse

	clockStart time.Time // when the clock was started; zero while it is stopped
	timer      *time.Timer
	expire     func()                  // cancels the current part of the turn because its time is over; nil before [Budget.Within]
	end        context.CancelCauseFunc // cancels it for another reason; nil before [Budget.Within]
}

// requestsPerRound bounds the requests to models: a skill may ask as many for each round. A loop in a note
// would else send thousands.
const requestsPerRound = 10

// refusalLimit is how many requests of a turn are refused before it ends. A note that handles the error
// and asks again would else go on.
const refusalLimit = 10

// answerRequestLimit is the number of requests for the answer: one, as many as it takes until unusable replies
// are too many, one shorter one if the model refuses the request as too long, and one of a skill.
const answerRequestLimit = callReplyLimit + 2

// NewBudget returns the budget of a turn that shares it with no other turn.
func NewBudget(limits config.Budget) Budget { return Budget{limits: limits, questionLimits: limits} }

// Limits returns the limits of the turn.
func (b *Budget) Limits() config.Budget { return b.limits }

// Share sets the limits of all turns of the question together.
func (b *Budget) Share(whole config.Budget) { b.questionLimits = whole }

// Restore sets the usage of the turn before a restart of the kernel.
func (b *Budget) Restore(taken journal.BudgetUse) { b.used = taken }

// Within runs a part of the turn, for at most the time that is left. Its error says so if the time runs
// out.
func (b *Budget) Within(ctx context.Context, do func(context.Context) (bool, error)) (done bool, err error) {
	within, stop := b.start(ctx)
	defer stop()
	done, err = do(within)
	if over, ok := errors.AsType[EndError](context.Cause(within)); ok && err != nil && ctx.Err() == nil {
		err = over
	}
	return done, err
}

// start starts the clock. The context ends when the time is used up; its cause is an error for people.
// The returned function stops the clock.
func (b *Budget) start(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	b.end = cancel
	b.expire = func() {
		cancel(b.exhaustedError(text.Duration(b.limits.Time) + " (" + protocol.SettingBudgetTime + ")"))
	}
	b.Resume()
	return ctx, func() {
		b.Pause()
		cancel(nil)
	}
}

// Pause stops the clock while the turn waits for a person.
func (b *Budget) Pause() {
	if b.clockStart.IsZero() {
		return
	}
	b.used.Time += time.Since(b.clockStart)
	b.clockStart = time.Time{}
	if b.timer != nil {
		b.timer.Stop()
	}
}

// Resume starts the clock again. It does nothing before [Budget.Within]: the time of another program's
// call is not limited.
func (b *Budget) Resume() {
	if b.expire == nil {
		return
	}
	b.clockStart = time.Now()
	if b.limits.Time == 0 {
		return
	}
	left := b.limits.Time - b.used.Time
	if b.stopReason != "" { // the answer needs some time, even if none is left
		left = max(left, min(max(b.limits.Time/4, 10*time.Second), time.Minute))
	}
	b.timer = time.AfterFunc(left, b.expire)
}

// elapsed returns the time that the turn has used.
func (b *Budget) elapsed() time.Duration {
	if b.clockStart.IsZero() {
		return b.used.Time
	}
	return b.used.Time + time.Since(b.clockStart)
}

// countRequest counts a request and its reply. A nil cost is unknown.
func (b *Budget) countRequest(tokens int, cost *float64, took time.Duration) {
	b.lastRequest = journal.BudgetUse{Tokens: tokens, Time: took}
	b.used.Tokens += tokens
	if cost != nil {
		b.costKnown, b.lastRequest.Cost = true, *cost
		b.used.Cost += *cost
	}
}

// countStep counts a step and returns which limit is reached, "" for none. It reserves the usage of the
// next request and of the one for the answer.
func (b *Budget) countStep() string {
	b.used.Steps++
	if b.used.Steps >= b.limits.Rounds {
		return fmt.Sprintf("%d of %d rounds (%s)", b.used.Steps, b.limits.Rounds, protocol.SettingBudgetRounds)
	}
	if used := b.exhausted(2*b.lastRequest.Tokens, 2*b.lastRequest.Cost); used != "" {
		return used
	}
	if b.limits.Time > 0 && b.elapsed()+b.lastRequest.Time > b.limits.Time {
		return fmt.Sprintf("%s of %s (%s)", text.Duration(b.elapsed()), text.Duration(b.limits.Time), protocol.SettingBudgetTime)
	}
	return ""
}

// exhausted returns which limit of tokens or cost would be exceeded by so much more usage, "" for none.
func (b *Budget) exhausted(tokens int, cost float64) string {
	taken, limit, with := b.used, b.limits, ""
	for range 2 {
		switch {
		case limit.Tokens > 0 && taken.Tokens+tokens > limit.Tokens:
			return fmt.Sprintf("%s of %s tokens%s (%s)", text.Thousands(taken.Tokens), text.Thousands(limit.Tokens), with, protocol.SettingBudgetTokens)
		case limit.Cost > 0 && (taken.Cost >= limit.Cost || taken.Cost+cost > limit.Cost):
			return fmt.Sprintf("%s of %s%s (%s)", text.Dollars(taken.Cost), text.Dollars(limit.Cost), with, protocol.SettingBudgetCost)
		}
		taken.Tokens, taken.Cost = taken.Tokens+b.otherTurns.Tokens, taken.Cost+b.otherTurns.Cost
		limit, with = b.questionLimits, ", with all its subagents"
	}
	return ""
}

// allows returns an error if the model may not be asked once more. A skill may ask it many times in one
// step.
func (b *Budget) allows() error {
	used := ""
	switch most := requestsPerRound * b.limits.Rounds; {
	case b.stopReason != "":
		if b.answerRequests++; b.answerRequests > answerRequestLimit {
			used = b.stopReason
		}
	case most > 0 && b.requests >= most:
		used = fmt.Sprintf("%d requests to models, %d for each of %d rounds (%s)", b.requests, requestsPerRound, b.limits.Rounds, protocol.SettingBudgetRounds)
	default:
		used = b.exhausted(1, 0)
	}
	if used == "" {
		b.requests++
		return nil
	}
	err := b.exhaustedError(used)
	if b.refused++; b.refused >= refusalLimit && b.end != nil {
		b.end(err)
	}
	return err
}

// exhaustedError is the error of a turn that reaches a limit before it has an answer.
func (b *Budget) exhaustedError(what string) error {
	return EndError{protocol.TurnInterrupted, stopSentence(what) + ", before there was an answer. The steps so far are recorded, and answering it again goes on from there"}
}

// stopSentence returns the reason of a stop as the beginning of a sentence.
func stopSentence(what string) string {
	if strings.HasPrefix(what, cyclePrefix) {
		return "This was stopped: " + what
	}
	return "What this may take is used up: " + what
}

// cyclePrefix begins the reason of a turn that was stopped because of a cycle.
const cyclePrefix = "it did "

// UsedUp implements [gate.Limits].
func (b *Budget) UsedUp() error {
	if b.stopReason == "" {
		return nil
	}
	return b.exhaustedError(b.stopReason)
}

// TimeIsUp implements [gate.Limits].
func (b *Budget) TimeIsUp(ctx context.Context) bool {
	_, over := errors.AsType[EndError](context.Cause(ctx))
	return over
}

// StopNotice returns why the model was asked only for its answer, with a hint how to continue; "" if
// the turn was not stopped.
func (b *Budget) StopNotice() string {
	if b.stopReason == "" {
		return ""
	}
	return stopSentence(b.stopReason) + "; " + continueHint
}

// continueHint tells a person how to continue the work.
const continueHint = "say \"continue\" to have it go on"

// progress returns the progress of the turn for people.
func (b *Budget) progress(turn, event string) protocol.TurnProgress {
	p := protocol.TurnProgress{
		Turn: turn, Event: event,
		Round: b.used.Steps + 1, OfRounds: b.limits.Rounds, Tokens: b.used.Tokens, OfTokens: b.limits.Tokens,
		Seconds: b.elapsed().Seconds(), OfSeconds: b.limits.Time.Seconds(), Last: b.stopReason != "",
	}
	if b.costKnown {
		cost := b.used.Cost
		p.Cost, p.OfCost = &cost, b.limits.Cost
	}
	return p
}
