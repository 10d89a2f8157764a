// Package agent is the loop between a message and its answer: it picks the
// skill, lets it ask the model, turns what comes back into one proposal, has
// skill and policy verify it, and performs it. What does not end the turn (a
// refusal, the result of an action) goes back to the model, within budgets.
//
// A turn is a run, which is made of parts with a job each. The package
// composer makes what the model is sent, the asker sends it and shows what
// comes, the gate says what of a proposal may be done, steps are what the turn
// has come to, the meter counts what it takes, and a program is what differs
// between a person's message, a subagent's work and a call of another program.
//
// An [Agent] is safe for many turns at once; each [Agent.Run] uses only its own
// turn and blocks until the turn has ended one way or another. It starts no
// goroutine that outlives a call.
package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/composer"
	"org-agent/kernel/agent/history"
	"org-agent/kernel/agent/subagent"
	"org-agent/kernel/hook"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/llm"
	"org-agent/kernel/lru"
	"org-agent/kernel/memory"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
	"org-agent/kernel/skill"
	"org-agent/kernel/tool"
)

// Config is what an agent works with; all of it is required but the limits
// and where it says so.
type Config struct {
	// Sources are what system prompts are made of.
	composer.Sources
	Provider llm.Provider
	Policy   *policy.Policy
	// Kinds are those of the actions that there are: the same that Policy has.
	Kinds *kind.Set
	// Hooks are told of results, and of the beginning and the end of turns; nil tells none.
	Hooks *hook.Hooks
	// Index is what a turn is reminded from, Memory what proposals of what to keep are put
	// into; nil for nothing.
	Index   *memory.Index
	Memory  *memory.Store
	Journal *journal.Journal
	NewID   func() string
	// Now is the time where the person is.
	Now func() time.Time
	// Images is what the provider that is asked first does to images before it sends a
	// request; nil sends them. It is only for showing a prompt.
	Images func(llm.Request) (llm.Request, error)
	// Grammar reports whether the model of that name can be held to a grammar; nil: none can.
	Grammar func(model string) bool
	// Model is what is shown before a provider has said its own name.
	Model string
	// SummaryModel notes what long conversations began with, MemoryModel says what to keep of
	// one; "" for the model of the conversation.
	SummaryModel, MemoryModel string
	// HistoryTurns is how many earlier exchanges a model is shown at most; 0 is as many as its
	// window holds.
	HistoryTurns int
	// Window says how much a model can be shown, "" being the one that answers where none is
	// chosen, and may ask its server if it is to; nil when nobody knows.
	Window func(ctx context.Context, model string, ask bool) llm.Window
	// Subagents answer what turns hand on; nil hands on nothing.
	Subagents *subagent.Pool
	// CheckModel says that there is no model of that name; nil: any may be one.
	CheckModel func(ctx context.Context, name string) error
	// Compacted tells the clients of a session what becomes of a summary of it; nil tells nobody.
	Compacted func(ctx context.Context, told protocol.SessionCompacted)
}

// Agent answers turns. It implements [session.Runner].
type Agent struct {
	config    Config
	approvals waiting[decided]
	questions waiting[givenAnswer]
	calls     waiting[protocol.ToolCallResult]
	secrets   secrets
	warned    once

	composer   *composer.Composer
	sent       *lru.Cache[string, sent]
	forms      *lru.Cache[string, action.Proposed]
	compaction *history.Compaction
}

// New returns an agent.
func New(config Config) *Agent {
	a := &Agent{config: config}
	a.sent = lru.New[string, sent](sentKept)
	a.forms = lru.New[string, action.Proposed](formsKept)
	past := history.New(config.Journal, composer.EarlierQuestion(config.Journal))
	past.Outside = config.Kinds.Outside
	a.composer = &composer.Composer{Sources: config.Sources, Journal: config.Journal, Past: past, Home: config.Policy.Home, Model: config.Model, HistoryTurns: config.HistoryTurns}
	if config.Index != nil {
		a.composer.Index = config.Index
	}
	window := config.Window
	if window == nil {
		window = func(context.Context, string, bool) llm.Window { return llm.Window{} }
	}
	a.compaction = &history.Compaction{
		Past: past, Provider: config.Provider, Window: window, Model: config.Model, Summarising: config.SummaryModel,
		Hide: a.Hide, Logger: config.Logger, Tell: config.Compacted,
	}
	return a
}

// Compaction makes the summaries that turns find due. Whoever starts the agent runs it.
func (a *Agent) Compaction() *history.Compaction { return a.compaction }

// Run answers the turn.
func (a *Agent) Run(ctx context.Context, turn *session.Turn) session.Outcome {
	defer a.secrets.forget(turn.Record.ID)
	asked := a.askedSkill(turn.Record)
	r := a.newRun(turn, newBudget(turn.Record.Settings, asked != ""))
	r.tools = a.config.Tools.For(&tool.Caller{
		Conversation: composer.Conversation(turn.Record), Asked: asked,
		Asker: questioner{r}, Results: r.attempt.result, Spawner: &spawner{run: r},
	})
	err := r.begin(ctx)
	if err == nil {
		err = r.program.answer(r, ctx)
	}
	o := r.outcome(ctx, err)
	r.tellEnd(ctx, o)
	return o
}

// run is one turn being answered: its parts, and what they share.
type run struct {
	agent   *Agent
	turn    *session.Turn
	log     *slog.Logger
	program program
	skill   *skill.Skill // the one that answers; nil for a call of another program

	recorder
	meter
	steps
	scene
	turnHooks
	replyForms
	attempt attempt

	acting  kind.Order // what is being done
	answers sexp.List  // what a person just answered, with what is secret of it
	purpose string     // of the request that is sent: see [composer.Composition]
	asked   bool       // how the question was asked is in the journal
	thought bool       // a model has thought aloud
	notice  string     // of a turn that was answered, but not as it should
	cut     bool       // the answer that was kept is the beginning of one
}

// newRun returns what answers the turn within the budget.
func (a *Agent) newRun(turn *session.Turn, budget budget) *run {
	r := &run{agent: a, turn: turn, log: a.config.Logger.With("session", turn.Record.Session, "turn", turn.Record.ID)}
	j := a.config.Journal
	r.attempt = attempt{turn: turn, journal: j}
	r.recorder = recorder{turn: turn, journal: j, hide: a.hideJSON, log: r.log}
	r.meter = meter{turn: turn, spending: j, log: r.log, program: &r.program, budget: budget}
	r.steps = steps{turn: turn, rows: &r.recorder, meter: &r.meter, kinds: a.config.Kinds, log: r.log}
	r.scene = scene{turn: turn, journal: j, log: r.log, program: &r.program, steps: &r.steps, tools: a.config.Tools}
	r.turnHooks = turnHooks{turn: turn, hooks: a.config.Hooks, journal: j, rows: &r.recorder, steps: &r.steps, place: r.scene.where}
	r.replyForms = replyForms{run: r}
	return r
}

// begin finds how the turn is answered.
func (r *run) begin(ctx context.Context) (err error) {
	if r.program, err = r.agent.programOf(ctx, r.turn.Record, r.budget.Budget); err != nil {
		return err
	}
	r.budget.whole = r.program.budget
	p := r.program.prompt
	p.Forms, p.Grammar = r.formLines, r.grammar
	p.Before, p.Sent = r.turn.Begun.First(), r.turn.Begun.Requests
	p.Items, p.Recalled, p.System = r.attempt.items, r.attempt.recalled, r.attempt.system
	p.Window = func(ctx context.Context) llm.Window { return r.agent.window(ctx, r.turn.Record.Wanted, true) }
	r.compose = r.agent.composer.Turn(ctx, r.turn.Record, p)
	return nil
}

// ended is the error of a turn that ends without an answer: its text is the
// one line that people are shown.
type ended struct {
	state  protocol.TurnState
	notice string
}

func (e ended) Error() string { return e.notice }

func failf(format string, args ...any) error {
	return ended{protocol.TurnFailed, fmt.Sprintf(format, args...)}
}

// answer goes round until the turn's text is in the conversation.
func (r *run) answer(ctx context.Context) error {
	if err := r.restore(ctx); err != nil {
		return err
	}
	if r.turn.Waits() {
		done, err := r.timed(ctx, r.resume)
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
	for {
		last := r.budget.stop != ""
		done, err := r.timed(ctx, r.round)
		if done || err != nil {
			return err
		}
		if last {
			return r.budget.usedUp(r.budget.stop)
		}
	}
}

// goOnHint is what a person does who wants more.
const goOnHint = "say \"continue\" to have it go on"

// round asks once and does what the reply says.
func (r *run) round(ctx context.Context) (done bool, err error) {
	if r.budget.stop != "" {
		r.turn.Stopped(stopped(r.budget.stop) + ". This is what was found until then: " + goOnHint + ".")
	}
	proposal, err := r.propose(ctx)
	if errors.Is(err, errNothingMore) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	r.doing = time.Now()
	return r.perform(ctx, proposal)
}

// timed does a part of the turn in the time that it has left.
func (r *run) timed(ctx context.Context, do func(context.Context) (bool, error)) (done bool, err error) {
	within, stop := r.budget.start(ctx)
	defer stop()
	done, err = do(within)
	if over, ok := errors.AsType[ended](context.Cause(within)); ok && err != nil && ctx.Err() == nil {
		err = over
	}
	return done, err
}

// pick chooses the skill that answers.
func (r *run) pick(ctx context.Context) error {
	k, faults, err := r.agent.choose(ctx, r.turn.Record, &r.program, r.event())
	if err != nil {
		return err
	}
	r.skill, r.compose.Skill = k, k.Hash
	r.describe("") // no model yet: some skills need none
	r.recordChoice(ctx, r.agent.config.Skills.Current(), faults)
	if len(r.compose.Exchange.Rounds()) > 0 { // it has been given what was asked for
		return nil
	}
	call, err := r.agent.askedCall(r.turn.Record)
	if call != nil {
		r.doing = time.Now()
		r.record(ctx, journal.KindProposal, map[string]any{"asked": true, "action": call.action.Canonical()})
		r.recordStep(ctx, call.action, *call)
	}
	return err
}

// describe tells the turn who is answering.
func (r *run) describe(model string) {
	r.model = model
	r.turn.Describe(r.skill.Name+"@"+shortHash(r.skill.Hash), model)
}

func shortHash(hash string) string { return hash[:min(8, len(hash))] }

// outcome is how the turn ended, for the session.
func (r *run) outcome(ctx context.Context, err error) session.Outcome {
	o := r.meter.outcome()
	o.Notice = r.notice
	var end ended
	switch cause := context.Cause(ctx); {
	case err == nil && r.budget.stop != "":
		o.Notice = stopped(r.budget.stop) + "; " + goOnHint
	case err == nil:
	case errors.Is(cause, session.ErrCancelled):
		o.State, o.Notice = protocol.TurnCancelled, r.program.cancelled
	case errors.Is(cause, session.ErrStopping):
		o.State, o.Notice = protocol.TurnInterrupted, "the kernel ended while this was being answered"
	case r.cut:
		o.Notice = err.Error() + "; the answer is incomplete"
	case errors.As(err, &end):
		o.State, o.Notice = end.state, end.notice
	default:
		o.State, o.Notice = protocol.TurnFailed, err.Error()
	}
	o.Notice = r.agent.Hide(o.Notice)
	if err != nil && !r.cut {
		r.turn.Stopped("") // it tells that itself
	}
	if err != nil && o.State == protocol.TurnFailed {
		r.log.Warn("turn failed", "err", r.agent.Hide(err.Error()))
	}
	return o
}
