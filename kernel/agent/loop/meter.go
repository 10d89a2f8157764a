package loop

import (
	"context"
	"log/slog"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/protocol"
)

// Spending is what the journal keeps of what turns take.
type Spending interface {
	// PutSpent keeps what a reply took at once, PutSpentDeferred with what the turn does next.
	PutSpent(ctx context.Context, spent journal.Spent) error
	PutSpentDeferred(ctx context.Context, spent journal.Spent) error
	// TakenBeside is what the turns of a question took, without one of them.
	TakenBeside(ctx context.Context, question, turn string) (journal.Taken, error)
}

// Screen shows people how far the turn has come and what it takes.
type Screen interface {
	Progress(at protocol.TurnProgress)
	Spent(input, output int, cost *float64)
}

// Meter counts what a turn takes. It is the one place in which the replies of a turn are summed: for
// the journal, for people and against the budget.
type Meter struct {
	Budget Budget
	// Turn and Event are the ids of the turn and of its question's event. Question is the turn that
	// a person asked for, with which it shares its budget: itself, but for a subagent's.
	Turn, Event, Question string
	// HandedOn is true if the turn may have started subagents, which take of the same budget.
	HandedOn bool
	Spending Spending
	Screen   Screen
	// Watch is called with the progress as well, if it is not nil.
	Watch func(at protocol.TurnProgress)
	Log   *slog.Logger

	usage llm.Usage
}

// shared reports whether other turns may take of the same budget.
func (m *Meter) shared() bool { return m.HandedOn || m.Question != m.Turn }

// Allows returns an error if the model may not be asked once more. It counts what the other turns of
// the question took.
func (m *Meter) Allows(ctx context.Context) error {
	m.countBeside(ctx)
	return m.Budget.allows()
}

// countBeside finds what the other turns of the question took. A question with subagents may take no
// more than one without.
func (m *Meter) countBeside(ctx context.Context) {
	if !m.shared() {
		return
	}
	taken, err := m.Spending.TakenBeside(context.WithoutCancel(ctx), m.Question, m.Turn)
	if err != nil {
		m.Log.Warn("what subagents took is not counted", "err", err)
		return
	}
	m.Budget.beside = taken
}

// ShowProgress shows how far the turn has come. The turn of a question shows what its subagents took
// as well.
func (m *Meter) ShowProgress() {
	at := m.Budget.progress(m.Turn, m.Event)
	if m.Question == m.Turn {
		at.Tokens += m.Budget.beside.Tokens
		if at.Cost != nil {
			*at.Cost += m.Budget.beside.Cost
		}
	}
	m.Screen.Progress(at)
	if m.Watch != nil {
		m.Watch(at)
	}
}

// Reply is what a request and its reply took.
type Reply struct {
	// Usage is what the model's server counted; nil if it did not count.
	Usage *llm.Usage
	// Estimate is how many tokens both have by estimate. It is used where Usage is nil.
	Estimate int
	Took     time.Duration
}

// Tokens is how many tokens the request and its reply have together.
func (r Reply) Tokens() int {
	if r.Usage == nil {
		return r.Estimate
	}
	return r.Usage.Input + r.Usage.Output
}

// Count counts a reply against the budget, for people and in the journal. Of names the model that
// answered and the one that was asked, and has the estimate of the request. People and the journal
// get only what the server counted.
func (m *Meter) Count(ctx context.Context, reply Reply, of journal.Spent) {
	usage := reply.Usage
	if usage == nil {
		m.Budget.spent(reply.Tokens(), nil, reply.Took)
		return
	}
	m.Budget.spent(reply.Tokens(), usage.Cost, reply.Took)
	m.usage = m.usage.Add(*usage)
	m.Screen.Spent(m.usage.Input, m.usage.Output, m.usage.Cost)
	put := m.Spending.PutSpentDeferred
	if m.shared() { // other turns count it: see [Meter.countBeside]
		put = m.Spending.PutSpent
	}
	of.Turn, of.Input, of.Output, of.Cached, of.Reason, of.Cost = m.Turn, usage.Input, usage.Output, usage.Cached, usage.Reasoning, usage.Cost
	if err := put(context.WithoutCancel(ctx), of); err != nil {
		m.Log.Error("usage not kept", "err", err)
	}
}

// Usage is what all replies took.
func (m *Meter) Usage() llm.Usage { return m.usage }
