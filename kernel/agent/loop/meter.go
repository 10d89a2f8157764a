package loop

import (
	"context"
	"log/slog"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/protocol"
)

// UsageStore keeps the usage of turns in the journal.
type UsageStore interface {
	// PutReplyUsage writes the usage of a reply at once, PutReplyUsageDeferred with the next row.
	PutReplyUsage(ctx context.Context, spent journal.ReplyUsage) error
	PutReplyUsageDeferred(ctx context.Context, spent journal.ReplyUsage) error
	// UsageOutsideTurn returns the usage of all turns of a question but one.
	UsageOutsideTurn(ctx context.Context, question, turn string) (journal.BudgetUse, error)
}

// Screen shows people the progress and the usage of the turn.
type Screen interface {
	Progress(at protocol.TurnProgress)
	SetUsage(usage llm.Usage, speed llm.Speed)
}

// Meter counts the usage of a turn. Only here are the replies of a turn summed up, for the journal, for
// people and for the budget.
type Meter struct {
	Budget Budget
	// Turn and Event are the ids of the turn and of its question's event. Question is the id of the
	// turn whose budget it shares: for a subagent the turn that a person asked for, else the turn
	// itself.
	Turn, Event, Question string
	// HasSubagents is set if the turn may have started subagents, which share its budget.
	HasSubagents bool
	UsageStore   UsageStore
	Screen       Screen
	// OnProgress is called with each progress; nil for nobody.
	OnProgress func(at protocol.TurnProgress)
	Log        *slog.Logger

	usage llm.Usage
	speed llm.Speed
	wait  *protocol.ModelWait
}

// sharesBudget reports whether other turns may use the same budget.
func (m *Meter) sharesBudget() bool { return m.HasSubagents || m.Question != m.Turn }

// Allows returns an error if the model may not be asked once more. It counts the usage of the other
// turns of the question too.
func (m *Meter) Allows(ctx context.Context) error {
	m.countOtherTurns(ctx)
	return m.Budget.allows()
}

// countOtherTurns reads the usage of the other turns of the question. A question with subagents has the
// same budget as one without.
func (m *Meter) countOtherTurns(ctx context.Context) {
	if !m.sharesBudget() {
		return
	}
	taken, err := m.UsageStore.UsageOutsideTurn(context.WithoutCancel(ctx), m.Question, m.Turn)
	if err != nil {
		m.Log.Warn("the usage of subagents is not counted", "err", err)
		return
	}
	m.Budget.otherTurns = taken
}

// ShowProgress shows the progress of the turn. The turn that a person asked for includes the usage of
// its subagents.
func (m *Meter) ShowProgress() {
	at := m.Budget.progress(m.Turn, m.Event)
	at.Wait = m.wait
	if m.Question == m.Turn {
		at.Tokens += m.Budget.otherTurns.Tokens
		if at.Cost != nil {
			*at.Cost += m.Budget.otherTurns.Cost
		}
	}
	m.Screen.Progress(at)
	if m.OnProgress != nil {
		m.OnProgress(at)
	}
}

// ShowWait shows with the progress what the turn waits for, nil if it does not wait any longer.
func (m *Meter) ShowWait(wait *protocol.ModelWait) {
	m.wait = wait
	m.ShowProgress()
}

// RequestUsage is the usage of a request and its reply.
type RequestUsage struct {
	// Counted is the usage that the model's server reported, nil if it reported none.
	Counted *llm.Usage
	// Estimate is the estimated number of tokens of both. It counts if Counted is nil.
	Estimate int
	Duration time.Duration
	Speed    llm.Speed
}

// Tokens returns the tokens of the request and its reply together.
func (r RequestUsage) Tokens() int {
	if r.Counted == nil {
		return r.Estimate
	}
	return r.Counted.Input + r.Counted.Output
}

// Count counts a request and its reply for the budget, for people and for the journal. Only a usage
// that the server reported goes to people and into the journal. The row has the models and the estimate
// of the request.
func (m *Meter) Count(ctx context.Context, reply RequestUsage, of journal.ReplyUsage) {
	usage := reply.Counted
	if usage == nil {
		m.Budget.countRequest(reply.Tokens(), nil, reply.Duration)
		return
	}
	m.Budget.countRequest(reply.Tokens(), usage.Cost, reply.Duration)
	m.usage, m.speed = m.usage.Add(*usage), m.speed.Add(reply.Speed)
	m.Screen.SetUsage(m.usage, m.speed)
	put := m.UsageStore.PutReplyUsageDeferred
	if m.sharesBudget() { // other turns count it: see [Meter.countOtherTurns]
		put = m.UsageStore.PutReplyUsage
	}
	of.Turn, of.Input, of.Output, of.Cached, of.Written = m.Turn, usage.Input, usage.Output, usage.Cached, usage.Written
	of.Reason, of.Cost = usage.Reasoning, usage.Cost
	of.First, of.Streamed, of.Writing = reply.Speed.First.Seconds(), reply.Speed.Tokens, reply.Speed.Writing.Seconds()
	if err := put(context.WithoutCancel(ctx), of); err != nil {
		m.Log.Error("usage not recorded", "err", err)
	}
}

// Usage returns the usage of all replies.
func (m *Meter) Usage() llm.Usage { return m.usage }
