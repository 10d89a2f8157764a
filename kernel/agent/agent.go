// Package agent answers messages. It picks the skill, lets the skill ask the model, turns the reply
// into one proposal, has skill and policy verify the proposal, and performs it. A refusal and the
// result of an action do not end the turn: they go back to the model, as long as the budget allows it.
//
// A run answers one turn. It connects the parts, each of which is a package with interfaces of its own:
// composer makes the requests, reply sends them and reads the replies, gate takes a proposal to its
// outcome, person asks people, and loop repeats this and counts the usage. A program has everything in
// which a person's message, a subagent's task and a call of another program differ.
//
// An [Agent] is safe for many turns at once. Each [Agent.Run] uses only its own turn, and blocks until
// the turn has ended. It starts no goroutine that outlives the call.
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
	calls      session.Waiters[protocol.ToolCallResult]
	composer   *composer.Composer
	sender     *reply.Sender
	compaction *history.Compactor
}

// New returns an agent.
func New(config Config) *Agent {
	a := &Agent{config: config}
	a.desk = person.New(person.Config{Asks: config.Journal.Asks, Rules: config.Policy.Rules, NewID: config.NewID, Usable: func(proposed action.Proposed) (action.Proposed, error) {
		return config.Policy.With(config.Kinds()).Usable(proposed)
	}})
	j, sources := config.Journal, config.Sources
	past := history.New(history.Journal{Transcripts: j.Transcripts, Models: j.Models, Usage: j.Usage, Rows: j.Records}, sources.Dialect, composer.EarlierQuestion(j.Turns))
	past.Outside = func(act action.Action) string { return config.Kinds().Outside(act) }
	a.composer = &composer.Composer{Sources: sources, Branches: j.Transcripts, Corrections: j.Usage, Past: past, Index: config.Index, Home: config.Policy.Home,
		Model: config.Model, HistoryTurns: config.HistoryTurns}
	a.compaction = &history.Compactor{
		Past: past, Provider: config.Provider, Window: a.window, Model: config.Model, SummaryModel: config.SummaryModel,
		Hide: a.Hide, Logger: sources.Logger, Notify: config.Compacted,
	}
	a.sender = reply.New(reply.Config{
		Provider: config.Provider, Dialect: sources.Dialect, Model: config.Model, Hide: a.Hide, Past: past, Summarise: a.compaction.Start,
		ServedWindow: a.servedWindow,
	})
	return a
}

// window returns the context window of a model; "" is the model of turns that choose none. It asks the
// model's server only if ask is true.
func (a *Agent) window(ctx context.Context, model string, ask bool) llm.Window {
	if a.config.Window == nil {
		return llm.Window{}
	}
	return a.config.Window(ctx, model, ask)
}

// servedWindow returns the window that the model's server says it has, 0 if it does not tell.
func (a *Agent) servedWindow(ctx context.Context, model string) int {
	if a.config.ServedWindow == nil {
		return 0
	}
	return a.config.ServedWindow(ctx, model)
}

// Compaction returns the compactor, which makes the summaries that turns need. The caller has to run
// it.
func (a *Agent) Compaction() *history.Compactor { return a.compaction }

// Desk returns the desk, which takes the decisions of people.
func (a *Agent) Desk() *person.Desk { return a.desk }

// Hide returns the text without the secrets that people gave to running turns. All text that is
// journalled, logged, shown or sent to a model goes through it. A nil Agent has no secrets: notes log
// before there is an agent.
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
	r.hooks.notifyEnd(ctx, o)
	return o
}
