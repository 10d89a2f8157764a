// Package gate takes a proposed action to its outcome. The skill's symbolic function checks it, the
// policy and its hooks judge it, a person is asked if the verdict says so, and an allowed action is
// performed. Each of these is a small interface here.
//
// A [Gate] belongs to one turn and is used by one goroutine at a time. Its methods block until the
// person has decided and the action has ended. Each returns a [Result]: either the action has ended the
// turn, or there is a step, which the proposer gets. An error ends the turn without an answer. The
// journal has an action before it is performed, and its receipt before the result is returned.
package gate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// Gate checks, judges and performs the actions of one turn. All fields are required, except where
// noted.
type Gate struct {
	// Policy verifies actions. Judge judges them without effect. Kinds has the properties of their
	// kinds.
	Policy Policy
	Judge  Judge
	Kinds  Kinds
	// Performer performs verified actions.
	Performer Performer
	// Skill checks proposals, and SkillName is its name. It is nil if no skill checks them, as for
	// another program's call.
	Skill     Skill
	SkillName string
	// Hooks see the result of an action, and Person decides what the policy asks about.
	Hooks  Hooks
	Person Person
	// Acts and Rows write into the journal.
	Acts Acts
	Rows Rows
	// Turn is the turn for the skill and the policy, Orders for the performer.
	Turn   Turn
	Orders Orders
	// Limits is the budget of the turn, and Screen is its display for people.
	Limits Limits
	Screen Screen
	// Restriction returns why the turn may not perform an action, whatever skill and policy say; "" if
	// it may.
	Restriction func(a action.Action) string
	// Hide removes secrets from what a skill returns.
	Hide func(x sexp.Sexp) sexp.Sexp
	Log  *slog.Logger
}

// Policy verifies actions.
type Policy interface {
	Usable(proposed action.Proposed) (action.Proposed, error)
	Verify(ctx context.Context, a action.Action, where policy.Where) (policy.Verified, policy.Verdict, error)
}

// Judge judges actions. It uses up no permission that a person gave.
type Judge interface {
	Judge(ctx context.Context, a action.Action, where policy.Where) policy.Verdict
	Answers(ctx context.Context, a action.Action, where policy.Where) bool
}

// Kinds has properties of the kinds of actions. Available is the error of a kind that nothing performs.
// Reads reports whether the action changes nothing.
type Kinds interface {
	Available(key action.Key) error
	Reads(a action.Action) bool
}

// Performer performs orders. Check is the error with which an action would fail. If Perform fails with
// a [StillWaitingError], the action goes on after a restart of the kernel.
type Performer interface {
	Check(ctx context.Context, order kind.Order, a action.Action) error
	Perform(ctx context.Context, order kind.Order) (kind.Result, error)
}

// Skill is the skill that answers. Checks reports whether it has a symbolic function. Preview is a
// dry run of it.
type Skill interface {
	Symbolic(ctx context.Context, action, event sexp.List) (sexp.List, error)
	Preview(ctx context.Context, action, event sexp.List) (sexp.List, error)
	Checks() bool
}

// Hooks get the result of an action. They return it without the texts that a hook withholds, and the
// texts that they add.
type Hooks interface {
	Result(ctx context.Context, verified policy.Verified, result kind.Result, err error) (kind.Result, []journal.StepHook, error)
}

// Person decides what the policy asks about. Decide blocks until there is a decision.
type Person interface {
	Decide(ctx context.Context, verdict policy.Verdict, hash string) (Decision, error)
}

// Acts writes acts and receipts into the journal. PutActDeferred is for repeatable actions: it writes
// together with the next row.
type Acts interface {
	PutAct(ctx context.Context, act journal.Act) error
	PutActDeferred(ctx context.Context, act journal.Act) error
	PutReceipt(ctx context.Context, id string, receipt journal.Receipt) error
}

// Rows writes rows of the turn, together with the next row that is written at once.
type Rows interface {
	Record(ctx context.Context, kind journal.Kind, data any)
	RecordLater(ctx context.Context, kind journal.Kind, id string, data any)
}

// Turn is the turn for a skill and for the policy.
type Turn interface {
	Event() sexp.List
	Where() policy.Where
}

// Orders makes the orders of the turn. Order is for its next action, AnswerOrder for its answer.
type Orders interface {
	Order() kind.Order
	AnswerOrder() kind.Order
}

// Limits is the budget of the turn.
type Limits interface {
	// UsedUp is an error if the turn may perform no more actions and only answer.
	UsedUp() error
	// TimeIsUp reports whether the context ended because the turn's time is used up.
	TimeIsUp(ctx context.Context) bool
	// Pause stops the clock of the turn.
	Pause()
}

// Screen shows the running turn to people.
type Screen interface {
	// Retract removes the preview of a text that is no answer.
	Retract()
	// ShowProgress shows the progress of the turn.
	ShowProgress()
}

// StillWaitingError is the error of a question whose turn was stopped before a person answered it. The
// question stays open.
type StillWaitingError struct{ Cause error }

func (s StillWaitingError) Error() string { return "it still waits for a person: " + s.Cause.Error() }

// Pass takes a usable proposal through the gate.
func (g *Gate) Pass(ctx context.Context, proposed action.Proposed) (Result, error) {
	checked, refused, err := g.check(ctx, proposed)
	switch {
	case err != nil:
		return Result{}, err
	case refused != nil:
		return g.refuse(ctx, Step{Action: proposed.Action()}, refused, proposed.Action())
	}
	return g.judge(ctx, checked.Action(), "", proposed.Action())
}

// Previews reports whether skill and policy let an incomplete proposal into the turn's own conversation
// unchanged.
func (g *Gate) Previews(ctx context.Context, proposal sexp.List) bool {
	proposed, err := g.Policy.Usable(action.Propose(proposal))
	if err != nil || proposed.Stripped() || !g.Judge.Answers(ctx, proposed.Action(), g.Turn.Where()) {
		return false
	}
	returned, err := g.Skill.Preview(ctx, proposed.List(), g.Turn.Event())
	return err == nil && proposed.Equals(returned)
}

// Do takes an action through the gate without a check by the skill.
func (g *Gate) Do(ctx context.Context, a action.Action) (Result, error) {
	return g.judge(ctx, a, "", action.Action{})
}

// check returns a usable proposal as the skill passes it. refused is why the skill does not pass it,
// for the model.
func (g *Gate) check(ctx context.Context, proposed action.Proposed) (checked action.Proposed, refused, err error) {
	if g.Skill == nil {
		return proposed, nil, nil
	}
	returned, err := g.Skill.Symbolic(ctx, proposed.List(), g.Turn.Event())
	switch {
	case err != nil:
		g.recordVerdict(ctx, map[string]any{"gate": "skill", "verdict": "error", "err": err.Error()})
		return proposed, nil, fmt.Errorf("the skill %s could not check the answer and so refused it: %w", g.SkillName, err)
	case len(returned) == 0:
		g.recordVerdict(ctx, map[string]any{"gate": "skill", "verdict": "refused", "reason": "its symbolic function returned nil"})
		return proposed, refusedError("the skill " + g.SkillName + " refused it"), nil
	}
	returned, _ = g.Hide(returned).(sexp.List)
	if proposed.Equals(returned) {
		return proposed, nil, nil
	}
	checked = action.Propose(returned)
	g.recordVerdict(ctx, map[string]any{"gate": "skill", "verdict": "rewritten", "action": checked.String()})
	if checked, err = g.Policy.Usable(checked); err != nil {
		return proposed, refusedError("the skill " + g.SkillName + " rewrote it to what is no action: " + err.Error()), nil
	}
	return checked, nil, nil
}

// judge has the policy judge an action, and carries out the verdict. granted is the hash of the action
// that a person just allowed once, or "". proposed is the action that a model or a skill proposed; it
// is the zero Action for an action of a person or of another program.
func (g *Gate) judge(ctx context.Context, a action.Action, granted string, proposed action.Action) (Result, error) {
	if reason := g.Restriction(a); reason != "" {
		g.recordVerdict(ctx, map[string]any{"gate": "subagent", "verdict": "refused", "reason": reason})
		return g.refuse(ctx, Step{Action: a}, refusedError(reason), proposed)
	}
	where := g.Turn.Where()
	where.Granted = granted
	verified, verdict, err := g.Policy.Verify(ctx, a, where)
	if err != nil {
		return Result{}, err
	}
	hash, hooks := verdict.Action.Hash(), hookDecisions(verdict)
	row := map[string]any{
		"gate": "policy", "verdict": verdict.Kind.String(), "reason": verdict.Reason, "hash": hash, "symbolic": g.Skill != nil && g.Skill.Checks()}
	if hooks != nil {
		row["hooks"] = hooks
	}
	if rules := verdict.AllowedBy(); rules != nil {
		row["rules"] = rules
	}
	g.recordVerdict(ctx, row)
	step := Step{Action: verdict.Action, Hooks: hookTexts(hooks)}
	switch {
	case verified.Valid():
		step.Repeatable = granted == "" && g.Kinds.Reads(verdict.Action)
		return g.perform(ctx, verified, verdict.Ends, step)
	case verdict.Kind != policy.Refuse:
		return g.askPerson(ctx, verdict, hash, step, proposed)
	case verdict.Failure != nil:
		return g.refuse(ctx, step, verdict.Failure, proposed)
	}
	return g.refuse(ctx, step, refusedError(verdict.Reason), proposed)
}

func (g *Gate) recordVerdict(ctx context.Context, row map[string]any) {
	g.Rows.Record(ctx, journal.KindVerdict, row)
}

// refuse returns a refused step with the reason. If the proposed action would have answered the turn,
// it returns an error.
func (g *Gate) refuse(ctx context.Context, step Step, reason error, proposed action.Action) (Result, error) {
	g.Screen.Retract()
	g.Log.Info("proposal refused", "action", step.Action.Key().String(), "reason", reason)
	if g.Judge.Answers(ctx, proposed, g.Turn.Where()) {
		return Result{}, fmt.Errorf("the answer was refused: %w", reason)
	}
	step.Verdict, step.Text, step.Failure = Refused, reason.Error(), protocol.ToolErrorOf(reason)
	return Result{Step: step}, nil
}

// obstacle returns the error with which the action would fail if a person allowed it, so that the person
// is not asked for nothing. A missing client is no obstacle. The error never comes from a file that the
// model may not read without asking.
func (g *Gate) obstacle(ctx context.Context, verdict policy.Verdict) error {
	a := verdict.Action
	if err := g.Kinds.Available(a.Key()); err != nil || !verdict.Tells() {
		return err
	}
	if err := g.Performer.Check(ctx, g.Orders.Order(), a); err != nil && !errors.Is(err, kind.ErrNoPerformer) {
		return err
	}
	return nil
}

// refusedError returns the error of a refused action.
func refusedError(reason string) error {
	return protocol.ToolErrorf(protocol.ToolRefused, "%s", reason)
}
