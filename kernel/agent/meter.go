package agent

import (
	"context"
	"log/slog"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
)

// spending is what the journal keeps of what turns take.
type spending interface {
	// PutSpent keeps what a reply took at once, PutSpentDeferred with what the turn does next.
	PutSpent(ctx context.Context, spent journal.Spent) error
	PutSpentDeferred(ctx context.Context, spent journal.Spent) error
	// TakenBeside is what the turns of a question took, without one of them.
	TakenBeside(ctx context.Context, question, turn string) (journal.Taken, error)
}

// meter counts what a turn takes, of models and of its budget.
type meter struct {
	turn     *session.Turn
	spending spending
	log      *slog.Logger
	program  *program

	budget   budget
	usage    llm.Usage
	model    string // the one that answers, once it has said its name
	estimate int    // of the last request, in estimated tokens
	spawned  bool   // work may have been handed on
}

// countBeside finds what the other turns of the question took: a question with its subagents takes
// no more than one without.
func (m *meter) countBeside(ctx context.Context) {
	if m.program.sums && !m.spawned {
		return
	}
	taken, err := m.spending.TakenBeside(context.WithoutCancel(ctx), m.program.question, m.turn.Record.ID)
	if err != nil {
		m.log.Warn("what subagents took is not counted", "err", err)
		return
	}
	m.budget.beside = taken
}

// progress tells how far the turn has come.
func (m *meter) progress() {
	at := m.budget.progress(m.turn.Record)
	if m.program.sums {
		at.Tokens += m.budget.beside.Tokens
		if at.Cost != nil {
			*at.Cost += m.budget.beside.Cost
		}
	}
	m.turn.Progress(at)
	m.program.progress(at)
}

// waits shows that the turn waits for a person, or no longer. Time that a person takes is not taken
// of the budget.
func (m *meter) waits(ctx context.Context, waiting bool) error {
	err := m.turn.Waiting(ctx, waiting)
	m.program.waiting(waiting)
	return err
}

// spend counts what a reply of the model that was asked took, for the turn and in the journal; nil
// is nothing known.
func (m *meter) spend(ctx context.Context, usage *llm.Usage, asked string) {
	if usage == nil {
		return
	}
	m.usage = m.usage.Add(*usage)
	m.turn.Spent(m.usage.Input, m.usage.Output, m.usage.Cost)
	put := m.spending.PutSpentDeferred
	if !m.program.sums || m.spawned { // other turns count it: see [meter.countBeside]
		put = m.spending.PutSpent
	}
	err := put(context.WithoutCancel(ctx), journal.Spent{
		Turn: m.turn.Record.ID, Model: m.model, Input: usage.Input, Output: usage.Output,
		Cached: usage.Cached, Reason: usage.Reasoning, Cost: usage.Cost, Estimate: m.estimate, Asked: asked,
	})
	if err != nil {
		m.log.Error("usage not kept", "err", err)
	}
}

// outcome is how the turn ended as far as it is counted.
func (m *meter) outcome() session.Outcome {
	return session.Outcome{State: protocol.TurnAnswered, Model: m.model, Input: m.usage.Input, Output: m.usage.Output, Cost: m.usage.Cost}
}
