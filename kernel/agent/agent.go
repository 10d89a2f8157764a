// Package agent answers messages. It picks the skill, lets the skill ask the model, turns the reply
// into one proposal, has skill and policy verify the proposal, and performs it. A refusal and the
// result of an action do not end the turn: they go back to the model, within budgets.
//
// A run answers one turn. It wires the parts: the package composer makes the requests, the asker
// sends them and shows the replies, the package gate takes a proposal to its outcome, and the package
// loop repeats this and counts what it takes. A program holds what differs between a person's
// message, a subagent's work and a call of another program.
//
// An [Agent] is safe for many turns at once; each [Agent.Run] uses only its own
// turn and blocks until the turn has ended one way or another. It starts no
// goroutine that outlives a call.
package agent

import (
	"context"
	"errors"
	"log/slog"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/composer"
	"org-agent/kernel/agent/gate"
	"org-agent/kernel/agent/history"
	"org-agent/kernel/agent/loop"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/llm"
	"org-agent/kernel/lru"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
	"org-agent/kernel/skill"
	"org-agent/kernel/tool"
)

// Agent answers turns. It implements [session.Runner].
type Agent struct {
	config  Config
	asks    session.Waiting[session.Decision]
	calls   session.Waiting[protocol.ToolCallResult]
	secrets secrets
	warned  once

	composer   *composer.Composer
	sent       *lru.Cache[string, sent]
	forms      *lru.Cache[string, action.Proposed]
	compaction *history.Compactor
}

// New returns an agent.
func New(config Config) *Agent {
	a := &Agent{config: config}
	a.sent = lru.New[string, sent](sentKept)
	a.forms = lru.New[string, action.Proposed](formsKept)
	j := config.Journal
	past := history.New(history.Journal{Transcripts: j.Transcripts, Models: j.Models, Usage: j.Usage, Rows: j.Records}, config.Dialect, composer.EarlierQuestion(j.Turns))
	past.Outside = func(act action.Action) string { return config.Kinds().Outside(act) }
	a.composer = &composer.Composer{Sources: config.Sources, Branches: j.Transcripts, Corrections: j.Usage, Past: past, Index: config.Index, Home: config.Policy.Home,
		Model: config.Model, HistoryTurns: config.HistoryTurns}
	window := config.Window
	if window == nil {
		window = func(context.Context, string, bool) llm.Window { return llm.Window{} }
	}
	a.compaction = &history.Compactor{
		Past: past, Provider: config.Provider, Window: window, Model: config.Model, Summarising: config.SummaryModel,
		Hide: a.Hide, Logger: config.Logger, Tell: config.Compacted,
	}
	return a
}

// Compaction makes the summaries that turns find due. Whoever starts the agent runs it.
func (a *Agent) Compaction() *history.Compactor { return a.compaction }

// Run answers the turn.
func (a *Agent) Run(ctx context.Context, turn *session.Turn) session.Outcome {
	defer a.secrets.forget(turn.Record.ID)
	r := a.newRun(turn)
	r.tools = a.config.Tools.For(&tool.Caller{
		Conversation: composer.Conversation(turn.Record), Asked: r.settings.asked,
		Asker: questioner{r}, Results: results{r}.whole, Spawner: &spawner{run: r},
	})
	err := r.begin(ctx)
	if err == nil {
		err = r.program.answer(r, ctx)
	}
	o := r.outcome(ctx, err)
	r.tellEnd(ctx, o)
	return o
}

// run answers one turn: its parts, and what they share.
type run struct {
	agent   *Agent
	turn    *session.Turn
	log     *slog.Logger
	program program
	skill   *skill.Skill // the one that answers; nil for a call of another program

	fixed
	recorder
	scene
	turnHooks
	replyForms
	attempt attempt
	compose *composer.Turn
	meter   *loop.Meter
	steps   *loop.Steps
	gate    *gate.Gate
	loop    *loop.Loop

	acting       kind.Order // the action that is being performed
	model        string     // the name that the model gave itself, "" before
	questionKept bool       // the journal has the question as the model was shown it
	thought      bool       // a model has sent thoughts
}

// fixed is what a turn keeps from its beginning, whatever changes meanwhile: its settings, the kinds of
// actions that there are, and the policy for them.
type fixed struct {
	settings turnSettings
	kinds    *kind.Set
	policy   *policy.Policy
}

// newRun returns what answers the turn.
func (a *Agent) newRun(turn *session.Turn) *run {
	kinds := a.config.Kinds()
	r := &run{agent: a, turn: turn, fixed: fixed{a.settingsOf(turn.Record), kinds, a.config.Policy.With(kinds)}, log: a.config.Logger.With("session", turn.Record.Session, "turn", turn.Record.ID)}
	j := a.config.Journal
	r.attempt = attempt{turn: turn, rows: j.Records, turns: j.Turns}
	r.recorder = recorder{turn: turn, journal: j.Records, hide: a.hideJSON, log: r.log}
	record := turn.Record
	r.meter = &loop.Meter{Budget: loop.NewBudget(r.settings.Budget), Turn: record.ID, Event: record.Event, Question: record.ID, Spending: j.Usage, Screen: turn, Log: r.log}
	r.steps = &loop.Steps{Question: eventOf(record), Trail: turn, Rows: &r.recorder, Kinds: kinds, Meter: r.meter, Log: r.log}
	r.scene = scene{turn: turn, journal: j.Transcripts, log: r.log, program: &r.program, steps: r.steps, tools: a.config.Tools}
	r.turnHooks = turnHooks{turn: turn, hooks: a.config.Hooks, journal: j.Records, rows: &r.recorder, steps: r.steps, place: r.scene.where}
	r.replyForms = replyForms{run: r}
	r.gate = newGate(r)
	r.loop = newLoop(r)
	return r
}

// begin finds how the turn is answered.
func (r *run) begin(ctx context.Context) (err error) {
	if r.program, err = r.agent.programOf(ctx, r.turn.Record, r.meter.Limits(), r.kinds); err != nil {
		return err
	}
	r.meter.Share(r.program.budget)
	r.meter.Question, r.meter.Watch = r.program.question, r.program.progress
	p := r.prompt()
	p.Before, p.Sent = r.turn.Begun.First(), r.turn.Begun.Requests
	p.Items, p.Recalled, p.System = r.attempt.items, r.attempt.recalled, r.attempt.system
	p.Window = func(ctx context.Context) llm.Window { return r.agent.window(ctx, r.settings.Model, true) }
	r.composeWith(ctx, p)
	return nil
}

// prompt is how the requests of any turn are composed, live or only shown.
func (r *run) prompt() composer.Program {
	p := r.program.prompt
	p.Settings, p.Persona = r.settings.Turn, r.settings.persona
	p.Forms, p.Grammar = r.formLines, r.grammar
	return p
}

// composeWith sets how the requests of the turn are composed.
func (r *run) composeWith(ctx context.Context, p composer.Program) {
	r.compose = r.agent.composer.Turn(ctx, r.turn.Record, p)
	r.steps.Exchange, r.past = &r.compose.Exchange, r.compose.Past
}

// answer answers a message: it takes steps until the answer is in the conversation. A turn that an
// earlier kernel began goes on where that one ended.
func (r *run) answer(ctx context.Context) error {
	if err := r.restore(ctx); err != nil {
		return err
	}
	if r.turn.Waits() {
		done, err := r.meter.Within(ctx, r.resume)
		if done || err != nil {
			return err
		}
	}
	if r.skill == nil {
		if err := r.pick(ctx); err != nil {
			return err
		}
		if err := r.recordUntold(ctx, ""); err != nil {
			return err
		}
		if err := r.tellBeginning(ctx); err != nil {
			return err
		}
	}
	return r.loop.Run(ctx)
}

// pick chooses the skill that answers.
func (r *run) pick(ctx context.Context) error {
	k, faults, err := r.agent.choose(ctx, r.turn.Record, r.settings, &r.program, r.steps.Event())
	if err != nil {
		return err
	}
	r.skill, r.compose.Skill = k, k.Hash
	r.gate.Skill, r.gate.SkillName = k, k.Name
	r.loop.Skill, r.loop.SkillName = k, k.Name
	r.describe("") // no model yet: some skills need none
	r.recordChoice(ctx, r.agent.config.Skills.Current(), faults)
	if len(r.compose.Exchange.Steps()) > 0 { // an earlier attempt has called the skill that was asked for
		return nil
	}
	call, err := r.agent.askedCall(r.settings.asked)
	if call != nil {
		r.steps.Begin()
		r.Record(ctx, journal.KindProposal, map[string]any{"asked": true, "action": call.Action.Canonical()})
		r.steps.Record(ctx, *call)
	}
	return err
}

// describe sets the skill and the model that the answer's drawer names.
func (r *run) describe(model string) {
	r.model = model
	r.turn.Describe(r.skill.Name+"@"+shortHash(r.skill.Hash), model)
}

func shortHash(hash string) string { return hash[:min(8, len(hash))] }

// outcome is how the turn ended, for the session.
func (r *run) outcome(ctx context.Context, err error) session.Outcome {
	usage := r.meter.Usage()
	o := session.Outcome{State: protocol.TurnAnswered, Model: r.model, Input: usage.Input, Output: usage.Output, Cost: usage.Cost, Notice: r.loop.Notice()}
	var end loop.Ended
	switch cause := context.Cause(ctx); {
	case err == nil && r.meter.Stopped() != "":
		o.Notice = r.meter.Stopped()
	case err == nil:
	case errors.Is(cause, session.ErrCancelled):
		o.State, o.Notice = protocol.TurnCancelled, r.program.cancelled
	case errors.Is(cause, session.ErrStopping):
		o.State, o.Notice = protocol.TurnInterrupted, "the kernel ended while this was being answered"
	case r.loop.Cut():
		o.Notice = err.Error() + "; the answer is incomplete"
	case errors.As(err, &end):
		o.State, o.Notice = end.State, end.Notice
	default:
		o.State, o.Notice = protocol.TurnFailed, err.Error()
	}
	o.Notice = r.agent.Hide(o.Notice)
	if err != nil && !r.loop.Cut() {
		r.turn.Stopped("") // the notice says it
	}
	if err != nil && o.State == protocol.TurnFailed {
		r.log.Warn("turn failed", "err", r.agent.Hide(err.Error()))
	}
	return o
}
