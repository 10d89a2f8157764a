// Package agent answers messages. It picks the skill, lets the skill ask the model, turns the reply
// into one proposal, has skill and policy verify the proposal, and performs it. A refusal and the
// result of an action do not end the turn: they go back to the model, within budgets.
//
// A run answers one turn. It wires the parts, each in a package of its own and over interfaces of its
// own: composer makes the requests, reply sends them and reads the replies, gate takes a proposal to its
// outcome, person asks people, and loop repeats this and counts what it takes. A program holds what
// differs between a person's message, a subagent's work and a call of another program.
//
// An [Agent] is safe for many turns at once; each [Agent.Run] uses only its own
// turn and blocks until the turn has ended one way or another. It starts no
// goroutine that outlives a call.
package agent

import (
	"context"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/composer"
	"org-agent/kernel/agent/history"
	"org-agent/kernel/agent/person"
	"org-agent/kernel/agent/reply"
	"org-agent/kernel/llm"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
)

// Agent answers turns. It implements [session.Runner].
type Agent struct {
	config     Config
	desk       *person.Desk
	calls      session.Waiting[protocol.ToolCallResult]
	composer   *composer.Composer
	sender     *reply.Sender
	compaction *history.Compactor
}

// New returns an agent.
func New(config Config) *Agent {
	a := &Agent{config: config}
	a.desk = person.New(person.Config{Asks: config.Journal.Asks, NewID: config.NewID, Usable: func(proposed action.Proposed) (action.Proposed, error) {
		return config.Policy.With(config.Kinds()).Usable(proposed)
	}})
	j, sources := config.Journal, config.Sources
	past := history.New(history.Journal{Transcripts: j.Transcripts, Models: j.Models, Usage: j.Usage, Rows: j.Records}, sources.Dialect, composer.EarlierQuestion(j.Turns))
	past.Outside = func(act action.Action) string { return config.Kinds().Outside(act) }
	a.composer = &composer.Composer{Sources: sources, Branches: j.Transcripts, Corrections: j.Usage, Past: past, Index: config.Index, Home: config.Policy.Home,
		Model: config.Model, HistoryTurns: config.HistoryTurns}
	a.compaction = &history.Compactor{
		Past: past, Provider: config.Provider, Window: a.window, Model: config.Model, Summarising: config.SummaryModel,
		Hide: a.Hide, Logger: sources.Logger, Tell: config.Compacted,
	}
	a.sender = reply.New(reply.Config{
		Provider: config.Provider, Dialect: sources.Dialect, Model: config.Model, Hide: a.Hide, Past: past, Summarise: a.compaction.Start,
	})
	return a
}

// window is how much a model can be shown, "" being the one that answers where none is chosen. Its
// server is asked only if ask is true.
func (a *Agent) window(ctx context.Context, model string, ask bool) llm.Window {
	if a.config.Window == nil {
		return llm.Window{}
	}
	return a.config.Window(ctx, model, ask)
}

// Compaction makes the summaries that turns find due. Whoever starts the agent runs it.
func (a *Agent) Compaction() *history.Compactor { return a.compaction }

// Desk takes what people decide about the asks of turns.
func (a *Agent) Desk() *person.Desk { return a.desk }

// Hide returns the text without the secrets that people gave to running turns. Everything that is
// journalled, logged, shown or sent to a model goes through it. Before there is an agent there are no
// secrets: notes log while they are loaded.
func (a *Agent) Hide(text string) string {
	if a == nil {
		return text
	}
	return a.desk.Secrets.Hide(text)
}

// Run answers the turn.
func (a *Agent) Run(ctx context.Context, turn *session.Turn) session.Outcome {
	defer a.desk.Secrets.Forget(turn.Record.ID)
	r, err := a.newRun(ctx, turn)
	if err == nil {
		err = r.plan.program.answer(r, ctx)
	}
	o := r.outcome(ctx, err)
	r.hooks.tellEnd(ctx, o)
	return o
}
