package agent

import (
	"context"
	"fmt"
	"strings"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// budget is what a turn may take, and what it took since a person asked for it. When any of it
// is used up, or would not hold another request and the one for the answer, the model is told
// so with the last result and asked for its answer: what was found is told, and a message
// "continue" goes on from it.
type budget struct {
	config.Budget
	taken  journal.Taken
	priced bool          // somebody knows what something cost
	last   journal.Taken // what the last request took
	stop   string        // why the model is asked for its answer and for nothing else; "" while it is not
	asked  int           // requests since then

	// whole is what the question may take of which this is a turn, and beside is what its other
	// turns took: those of subagents and the one that handed on the work.
	whole  config.Budget
	beside journal.Taken

	begun time.Time // since when time is taken; zero: a person is waited for
	timer *time.Timer
	ended func() // ends what is being done
}

// lastAsks is how many requests the answer may take: one, one more for a reply that cannot be
// used, one more with less for a model that finds it too long, and one of a skill.
const lastAsks = 4

// newBudget is the budget that holds for a turn. What the person asked for by name is done
// beside it.
func newBudget(settings protocol.TurnSettings, asked bool) budget {
	b := budget{Budget: config.UsualBudget}
	for _, name := range config.BudgetNames() {
		if value := settings.Value(name); value != "" {
			_ = b.Set(name, value) // it was checked when the message came; what is wrong says nothing
		}
	}
	if asked {
		b.Rounds++
	}
	b.whole = b.Budget
	return b
}

// start begins to take time: the context ends when it is used up, with an error that people are
// told. The function stops it.
func (b *budget) start(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	b.ended = func() { cancel(b.usedUp(plainTime(b.Time) + " (" + protocol.SettingBudgetTime + ")")) }
	b.resume()
	return ctx, func() {
		b.pause()
		cancel(nil)
	}
}

// pause: a person is waited for, which takes no time.
func (b *budget) pause() {
	if b.begun.IsZero() {
		return
	}
	b.taken.Time += time.Since(b.begun)
	b.begun = time.Time{}
	if b.timer != nil {
		b.timer.Stop()
	}
}

func (b *budget) resume() {
	b.begun = time.Now()
	if b.Time == 0 {
		return
	}
	left := b.Time - b.taken.Time
	if b.stop != "" { // to answer takes some, whatever is left
		left = max(left, min(max(b.Time/4, 10*time.Second), time.Minute))
	}
	b.timer = time.AfterFunc(left, b.ended)
}

// time is what was taken of it.
func (b *budget) time() time.Duration {
	if b.begun.IsZero() {
		return b.taken.Time
	}
	return b.taken.Time + time.Since(b.begun)
}

// spent counts a request and its reply.
func (b *budget) spent(tokens int, cost *float64, took time.Duration) {
	b.last = journal.Taken{Tokens: tokens, Time: took}
	b.taken.Tokens += tokens
	if cost != nil {
		b.priced, b.last.Cost = true, *cost
		b.taken.Cost += *cost
	}
}

// round counts a result, and says what is used up then; "" for nothing. What the next request and
// the one for the answer take counts as taken.
func (b *budget) round() string {
	b.taken.Steps++
	if b.taken.Steps >= b.Rounds {
		return fmt.Sprintf("%d of %d rounds (%s)", b.taken.Steps, b.Rounds, protocol.SettingBudgetRounds)
	}
	if used := b.used(2*b.last.Tokens, 2*b.last.Cost); used != "" {
		return used
	}
	if b.Time > 0 && b.time()+b.last.Time > b.Time {
		return fmt.Sprintf("%s of %s (%s)", plainTime(b.time()), plainTime(b.Time), protocol.SettingBudgetTime)
	}
	return ""
}

// used says which of the tokens and the cost there is not enough of for so much more; "" for none.
func (b *budget) used(tokens int, cost float64) string {
	taken, limit, with := b.taken, b.Budget, ""
	for range 2 {
		switch {
		case limit.Tokens > 0 && taken.Tokens+tokens > limit.Tokens:
			return fmt.Sprintf("%s of %s tokens%s (%s)", thousands(taken.Tokens), thousands(limit.Tokens), with, protocol.SettingBudgetTokens)
		case limit.Cost > 0 && (taken.Cost >= limit.Cost || taken.Cost+cost > limit.Cost):
			return fmt.Sprintf("%s of %s%s (%s)", dollars(taken.Cost), dollars(limit.Cost), with, protocol.SettingBudgetCost)
		}
		taken.Tokens, taken.Cost = taken.Tokens+b.beside.Tokens, taken.Cost+b.beside.Cost
		limit, with = b.whole, ", with all its subagents"
	}
	return ""
}

// allows says whether the model may be asked once more; a skill may ask it many times before
// anything comes of it.
func (b *budget) allows() error {
	if b.stop != "" {
		if b.asked++; b.asked > lastAsks {
			return b.usedUp(b.stop)
		}
		return nil
	}
	if used := b.used(1, 0); used != "" {
		return b.usedUp(used)
	}
	return nil
}

// usedUp is how a turn ends that has no answer when this is used up.
func (b *budget) usedUp(what string) error {
	return ended{protocol.TurnInterrupted, stopped(what) + ", before there was an answer. What was done and found is kept, and to have it answered again goes on from there"}
}

// stopped is what ended a turn, as the beginning of a sentence.
func stopped(what string) string {
	if strings.HasPrefix(what, inCircle) {
		return "This was stopped: " + what
	}
	return "What this may take is used up: " + what
}

// inCircle begins what is told of a model that goes round in a circle.
const inCircle = "it did "

// progress is how far the turn has come, for people.
func (b *budget) progress(record journal.Turn) protocol.TurnProgress {
	p := protocol.TurnProgress{
		Turn: record.ID, Event: record.Event,
		Round: b.taken.Steps + 1, OfRounds: b.Rounds, Tokens: b.taken.Tokens, OfTokens: b.Tokens,
		Seconds: b.time().Seconds(), OfSeconds: b.Time.Seconds(), Last: b.stop != "",
	}
	if b.priced {
		cost := b.taken.Cost
		p.Cost, p.OfCost = &cost, b.Cost
	}
	return p
}

// thousands is a number as people read it: 950, 12k, 1.5M.
func thousands(n int) string {
	switch {
	case n >= 1_000_000:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1e6), ".0") + "M"
	case n >= 10_000:
		return fmt.Sprintf("%dk", n/1000)
	case n >= 1000:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", float64(n)/1e3), ".0") + "k"
	}
	return fmt.Sprint(n)
}

func dollars(amount float64) string {
	if amount < 0.01 {
		return fmt.Sprintf("$%.4f", amount)
	}
	return fmt.Sprintf("$%.2f", amount)
}

// plainTime is a duration without what says nothing: 30m, 1h, 12s.
func plainTime(d time.Duration) string {
	if d > 10*time.Second {
		d = d.Round(time.Second)
	}
	text := d.Round(10 * time.Millisecond).String()
	if rest, found := strings.CutSuffix(text, "m0s"); found {
		text = rest + "m"
	}
	if rest, found := strings.CutSuffix(text, "h0m"); found {
		text = rest + "h"
	}
	return text
}
