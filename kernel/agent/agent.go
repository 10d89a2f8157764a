// Package agent is the loop between a message and its answer: it picks the
// skill, lets it ask the model, turns what comes back into one proposal, has
// skill and policy verify it, and performs it. What does not end the turn (a
// refusal, the result of an action) goes back to the model, within budgets.
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
	"sync"
	"time"

	"github.com/chewxy/sexp"

	"org-agent/kernel/act"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/policy"
	"org-agent/kernel/promptskill"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
	"org-agent/kernel/skill"
	"org-agent/kernel/tool"
)

// Config is what an agent works with; all of it is required but the limits
// and where it says so.
type Config struct {
	Skills    *skill.Registry
	Provider  llm.Provider
	Policy    *policy.Policy
	Actuators *act.Registry
	// Tools and Prompts are what a chat turn is told of. Either may be nil.
	Tools   *tool.Registry
	Prompts *promptskill.Registry
	Journal *journal.Journal
	Logger  *slog.Logger
	NewID   func() string
	// Images is what the provider that is asked first does to images before it sends a
	// request; nil sends them. It is only for showing a prompt.
	Images func(llm.Request) (llm.Request, error)
	// Model is what is shown before a provider has said its own name.
	Model string
	// Rounds is how often a turn may go back to the model; 0 means 8.
	Rounds int
	// HistoryTurns is how many earlier exchanges a model is shown at most; 0 means 40.
	HistoryTurns int
	// HistoryBytes bounds the text of those exchanges; 0 means 64 KiB.
	HistoryBytes int
}

// Agent answers turns. It implements [session.Runner].
type Agent struct {
	config    Config
	approvals waiting[protocol.ApprovalDecideParams]
	questions waiting[said]
	secrets   secrets
}

// New returns an agent.
func New(config Config) *Agent {
	if config.Rounds == 0 {
		config.Rounds = 8
	}
	if config.HistoryTurns == 0 {
		config.HistoryTurns = 40
	}
	if config.HistoryBytes == 0 {
		config.HistoryBytes = 64 << 10
	}
	return &Agent{config: config}
}

// Run answers the turn.
func (a *Agent) Run(ctx context.Context, turn *session.Turn) session.Outcome {
	r := &run{agent: a, turn: turn, offer: sync.OnceValue(a.offer), log: a.config.Logger.With("session", turn.Record.Session, "turn", turn.Record.ID)}
	defer a.secrets.forget(turn.Record.ID)
	err := r.answer(tool.WithTurn(ctx, askedSkill(turn.Record), r))
	return r.outcome(ctx, err)
}

// run is one turn being answered.
type run struct {
	agent *Agent
	turn  *session.Turn
	log   *slog.Logger

	skill    *skill.Skill
	exchange []llm.Message // this turn's proposals and their results
	results  []result
	input    string        // what came from outside in this turn, for telling quotations
	offer    func() string // what the turn is told of tools and skills
	usage    llm.Usage
	model    string
	thought  bool      // a model has thought aloud
	notice   string    // of a turn that was answered, but not as it should
	looked   *look     // set where nothing is to be sent: only what would be
	cut      bool      // the answer that was kept is the beginning of one
	doing    time.Time // since when what the model wants is being done
	acting   act.Order // what is being done
	answers  sexp.List // what a person just answered, with what is secret of it
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
	if r.turn.Waits() {
		done, err := r.resume(ctx)
		if done || err != nil {
			return err
		}
	}
	if r.skill == nil {
		if err := r.pick(ctx); err != nil {
			return err
		}
		if err := r.recallAnswers(ctx, ""); err != nil {
			return err
		}
	}
	for range r.agent.config.Rounds {
		proposal, err := r.propose(ctx)
		if err != nil {
			return err
		}
		r.doing = time.Now()
		done, err := r.perform(ctx, proposal)
		if done || err != nil {
			return err
		}
	}
	return failf("the model was asked %d times and did not come to an answer; ask for less at once", r.agent.config.Rounds)
}

// pick chooses the skill whose trigger matches.
func (r *run) pick(ctx context.Context) error {
	live := r.agent.config.Skills.Current()
	best, faults := live.Best(ctx, r.event())
	for _, err := range faults {
		r.log.Warn("trigger failed", "err", err)
	}
	if best == nil && r.turn.Record.Question.Command != "" {
		return failf("no live skill has the command /%s%s", r.turn.Record.Question.Command, r.nearCommand())
	}
	if best == nil {
		return failf("no skill answers a %s; \"org-agent skill list\" shows what is live", r.turn.Record.Question.Sensor)
	}
	r.skill = best
	r.describe("") // no model yet: some skills need none
	r.recordChoice(ctx, live, faults)
	return r.useAsked(ctx)
}

// nearCommand says which command was probably meant.
func (r *run) nearCommand() string {
	if near := r.agent.config.Skills.Current().NearCommand(r.turn.Record.Question.Command); near != "" {
		return "; did you mean /" + near + "?"
	}
	return "; \"org-agent skill list\" shows what is live"
}

// describe tells the turn who is answering.
func (r *run) describe(model string) {
	r.model = model
	r.turn.Describe(r.skill.Name+"@"+shortHash(r.skill.Hash), model)
}

func shortHash(hash string) string { return hash[:min(8, len(hash))] }

// outcome is how the turn ended, for the session.
func (r *run) outcome(ctx context.Context, err error) session.Outcome {
	o := session.Outcome{
		State: protocol.TurnAnswered, Notice: r.notice, Model: r.model,
		Input: r.usage.Input, Output: r.usage.Output, Cost: r.usage.Cost,
	}
	var end ended
	switch cause := context.Cause(ctx); {
	case err == nil:
	case errors.Is(cause, session.ErrCancelled):
		o.State, o.Notice = protocol.TurnCancelled, "you stopped this turn"
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
	if err != nil && o.State == protocol.TurnFailed {
		r.log.Warn("turn failed", "err", r.agent.Hide(err.Error()))
	}
	return o
}
