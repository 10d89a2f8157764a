// Package loop answers a turn in steps. In each step a skill proposes one action, by itself or with a
// model's reply, and the gate takes the action to its outcome: either the action ends the turn, or the
// skill and the model get the step and propose the next one. A reply that cannot be used is sent back
// once. A budget bounds the turn. When it is used up, the model is asked for its answer.
//
// A [Loop] belongs to one turn and is used by one goroutine at a time; so are its [Steps] and its
// [Meter]. It starts no goroutine, and [Loop.Run] blocks until the turn has ended. The journal has
// every step before the next one is proposed, with one exception: the step of an action that can be
// repeated without harm is written together with the next row.
package loop

import (
	"context"
	"errors"
	"log/slog"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/gate"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
)

// Loop answers one turn. All exported fields are required.
type Loop struct {
	// Skill proposes, and SkillName is its name.
	Skill     Skill
	SkillName string
	// Asker returns a new asker, with which the skill asks the model for one proposal.
	Asker func() Asker
	// Policy and Kinds read a proposal, and Gate takes it to its outcome.
	Gate   Gate
	Policy Policy
	Kinds  Kinds
	// Rows are the journal's rows of the turn. Steps has the steps so far, for the skill and the model.
	// Budget bounds the turn.
	Rows   Rows
	Steps  *Steps
	Budget *Budget
	// Turn marks an incomplete answer.
	Turn Turn
	// Where returns the place of the turn, by which the policy judges.
	Where func() policy.Where
	// ReplyAction returns the action that writes a text as the answer into the turn's conversation.
	ReplyAction func(text string) action.Proposed
	// Hide removes secrets from a reply, and HideIn from a skill's proposal.
	Hide   func(text string) string
	HideIn func(x sexp.Sexp) sexp.Sexp
	Log    *slog.Logger

	notice  string
	partial bool
}

// Skill is the skill that answers.
type Skill interface {
	Neuro(ctx context.Context, event sexp.List, ask skill.Asker) (skill.Outcome, error)
}

// Asker asks the model for one proposal. Retry sends an unusable reply back to the model, with the
// reason, and returns the next reply. Outcome is the outcome of the last request.
type Asker interface {
	skill.Asker
	Retry(ctx context.Context, reply, reason string) (string, error)
	Outcome() RequestOutcome
}

// RequestOutcome is the outcome of a request to the model.
type RequestOutcome struct {
	Finish llm.FinishReason
	// Fault is the error of the request, nil if it succeeded. It is not the skill's fault. Partial is
	// the beginning of the reply that came before the error.
	Fault   error
	Partial string
	// Unusable says why the calls of functions in the reply cannot be used; "" if they can, or if there
	// are none. Remark is for the model, with the result of the reply's action: what else the reply had,
	// and what became of that.
	Unusable, Remark string
	// Reply is what the model wrote of the action, nil if it called no functions.
	Reply *journal.StepReply
}

// Gate takes a usable proposal to its outcome.
type Gate interface {
	Pass(ctx context.Context, proposed action.Proposed) (gate.Result, error)
}

// Policy says which proposals are actions, and which actions answer a turn.
type Policy interface {
	Usable(proposed action.Proposed) (action.Proposed, error)
	Answers(ctx context.Context, a action.Action, where policy.Where) bool
}

// Turn shows people that an answer is incomplete.
type Turn interface {
	// SetIncomplete marks the next answer as the beginning of one. The state says why it ends there.
	SetIncomplete(state protocol.TurnState)
	// SetStopReason shows why the turn was stopped early.
	SetStopReason(why string)
}

// EndError is the error of a turn that ends in this state without an answer. Notice is one line for
// people. A turn with any other error has failed.
type EndError struct {
	State  protocol.TurnState
	Notice string
}

func (e EndError) Error() string { return e.Notice }

// Run takes steps until the turn has ended.
func (l *Loop) Run(ctx context.Context) error {
	for {
		last := l.Budget.UsedUp()
		ended, err := l.Budget.Within(ctx, l.step)
		if ended || err != nil {
			return err
		}
		if last != nil {
			return last
		}
	}
}

// step gets one proposal, takes it through the gate, and records the outcome.
func (l *Loop) step(ctx context.Context) (ended bool, err error) {
	if l.Budget.stopReason != "" {
		l.Turn.SetStopReason(stopSentence(l.Budget.stopReason) + ". This is what was found until then: " + continueHint + ".")
	}
	proposed, err := l.propose(ctx)
	if errors.Is(err, errNoProposal) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	l.Steps.BeginAction()
	return l.pass(ctx, proposed)
}

// pass takes a usable proposal through the gate.
func (l *Loop) pass(ctx context.Context, proposed action.Proposed) (ended bool, err error) {
	result, err := l.Gate.Pass(ctx, proposed)
	if err != nil {
		return false, err
	}
	return l.Record(ctx, result)
}

// Record records the step of an action that did not end the turn.
func (l *Loop) Record(ctx context.Context, result gate.Result) (ended bool, err error) {
	step := result.Step
	switch {
	case result.Ended:
		return true, nil
	case step.Verdict == gate.Performed && l.Kinds.Silent(step.Action) && l.Steps.Count() == 0 && l.Where().Route.AwaitsAnswer():
		return false, errors.New("the model wrote to the log only and gave no answer")
	}
	l.Steps.Record(ctx, step)
	return false, nil
}

// Notice returns what is wrong with the turn's answer, "" if nothing is.
func (l *Loop) Notice() string { return l.notice }

// Partial reports whether the turn's answer is the beginning of one.
func (l *Loop) Partial() bool { return l.partial }
