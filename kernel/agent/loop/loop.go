// Package loop answers a turn in steps. In each step a skill proposes one action, by itself or with a
// model's reply, and the gate takes the action to its outcome: either the turn has ended, or the skill
// and the model are shown the step and propose the next one. A reply that cannot be used is sent back
// once. A budget bounds the turn; when it is used up the model is asked for its answer.
//
// A [Loop] belongs to one turn and is used by one goroutine at a time; so are its [Steps] and its
// [Meter]. It starts no goroutine, and [Loop.Run] blocks until the turn has ended. Every step is in
// the journal before the next is proposed. The steps of actions that may be done twice are an
// exception: they are written with what comes next.
package loop

import (
	"context"
	"errors"
	"log/slog"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/gate"
	"org-agent/kernel/llm"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
)

// Loop answers one turn. All of it is required.
type Loop struct {
	// Skill proposes, and SkillName is its name.
	Skill     Skill
	SkillName string
	// Asker returns a new asker, with which the skill asks the model for one proposal.
	Asker func() Asker
	// Gate takes a proposal to its outcome, once Policy and Kinds have read it.
	Gate   Gate
	Policy Policy
	Kinds  Kinds
	// Rows, Steps and Budget keep what happens: in the journal, for the skill and the model, and
	// against what the turn may take.
	Rows   Rows
	Steps  *Steps
	Budget *Budget
	// Turn shows an answer that is not whole as such.
	Turn Turn
	// Where is where the turn takes place, for the policy.
	Where func() policy.Where
	// Reply is text as an action that answers in the conversation of the turn.
	Reply func(text string) action.Proposed
	// Hide takes out of a reply, and HideIn out of what a skill proposes, what nothing may keep.
	Hide   func(text string) string
	HideIn func(x sexp.Sexp) sexp.Sexp
	Log    *slog.Logger

	notice string
	cut    bool
}

// Skill is the skill that answers.
type Skill interface {
	Neuro(ctx context.Context, event sexp.List, ask skill.Asker) (skill.Outcome, error)
}

// Asker asks the model for one proposal. Again sends back a reply that cannot be used, with the
// reason. Last is the outcome of the last request.
type Asker interface {
	skill.Asker
	Again(ctx context.Context, reply, reason string) (string, error)
	Last() Asked
}

// Asked is the outcome of a request.
type Asked struct {
	Finish llm.FinishReason
	// Fault is the error of the request, which is not the skill's fault; nil if there was none.
	// Partial is what had come of the reply until then.
	Fault   error
	Partial string
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

// Turn shows that an answer is not whole.
type Turn interface {
	// Incomplete marks the answer that comes as the beginning of one.
	Incomplete(state protocol.TurnState)
	// Stopped says why the answer has only what was found until then.
	Stopped(why string)
}

// Ended is the error of a turn that ends without an answer: Notice is the one line that people are
// shown. Any other error of a turn is that of a failed one.
type Ended struct {
	State  protocol.TurnState
	Notice string
}

func (e Ended) Error() string { return e.Notice }

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

// step has one action proposed, and records what became of it.
func (l *Loop) step(ctx context.Context) (ended bool, err error) {
	if l.Budget.stop != "" {
		l.Turn.Stopped(stopped(l.Budget.stop) + ". This is what was found until then: " + goOnHint + ".")
	}
	proposed, err := l.propose(ctx)
	if errors.Is(err, errNothingMore) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	l.Steps.Begin()
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

// Record records what became of an action, if it did not end the turn.
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

// Notice says what is wrong with the answer that was given; "" for nothing.
func (l *Loop) Notice() string { return l.notice }

// Cut reports whether the answer that was given is the beginning of one.
func (l *Loop) Cut() bool { return l.cut }
