// Package gate takes a proposed action to its outcome. The skill's symbolic function checks it, the
// policy and its hooks judge it, a person is asked where the verdict says so, and what is allowed is
// performed. Each of these is a small interface here.
//
// A [Gate] belongs to one turn and is used by one goroutine at a time. Its methods block as long as
// a person or the action takes. Each ends with a [Result]: either the turn has ended with the action,
// or there is a step, which goes back to whoever proposed it. An error ends the turn without an
// answer. The journal has an action before it is performed, and its receipt before the result is
// returned.
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

// Gate is what the actions of one turn go through. All of it is required but where it says so.
type Gate struct {
	// Policy verifies actions, Judge says what would be allowed, and Kinds what an action does.
	Policy Policy
	Judge  Judge
	Kinds  Kinds
	// Performer performs verified actions.
	Performer Performer
	// Skill checks proposals, and SkillName is its name; nil where none does, as of another
	// program's call.
	Skill     Skill
	SkillName string
	// Hooks see the result of an action, and Person decides what the policy asks about.
	Hooks  Hooks
	Person Person
	// Acts and Rows keep what happens in the journal.
	Acts Acts
	Rows Rows
	// Turn and Orders are the turn for the policy and for the performer.
	Turn   Turn
	Orders Orders
	// Limits is what the turn may still take, and Screen is what people see of it.
	Limits Limits
	Screen Screen
	// Beyond says why the turn may not do an action, whatever skill and policy say; "" if it may.
	Beyond func(a action.Action) string
	// Hide takes secrets out of what a skill returns.
	Hide func(x sexp.Sexp) sexp.Sexp
	Log  *slog.Logger
}

// Policy verifies actions.
type Policy interface {
	Usable(proposed action.Proposed) (action.Proposed, error)
	Verify(ctx context.Context, a action.Action, where policy.Where) (policy.Verified, policy.Verdict, error)
}

// Judge judges without counting what a person has allowed.
type Judge interface {
	Judge(ctx context.Context, a action.Action, where policy.Where) policy.Verdict
	Answers(ctx context.Context, a action.Action, where policy.Where) bool
}

// Kinds knows the kinds of actions.
type Kinds interface {
	Available(key action.Key) error
	Reads(a action.Action) bool
}

// Performer performs an order, and says before what would be in the way of an action. An error of
// Perform that is a [StillWaiting] says that the action goes on when the kernel is there again.
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

// Hooks see a result, and return it without what one of them withholds, with what they add.
type Hooks interface {
	Result(ctx context.Context, verified policy.Verified, result kind.Result, err error) (kind.Result, []journal.StepHook, error)
}

// Person decides what the policy asks about. Decide blocks until there is a decision.
type Person interface {
	Decide(ctx context.Context, verdict policy.Verdict, hash string) (Decision, error)
}

// Acts keeps what is performed. PutActDeferred is for what may be done twice: it is written with
// what the turn does next.
type Acts interface {
	PutAct(ctx context.Context, act journal.Act) error
	PutActDeferred(ctx context.Context, act journal.Act) error
	PutReceipt(ctx context.Context, id string, receipt journal.Receipt) error
}

// Rows writes rows of the turn with what it does next.
type Rows interface {
	Record(ctx context.Context, kind journal.Kind, data any)
	RecordLater(ctx context.Context, kind journal.Kind, id string, data any)
}

// Turn is the turn for a skill and for the policy.
type Turn interface {
	Event() sexp.List
	Where() policy.Where
}

// Orders makes orders: of what is done next for the turn, and of what becomes its answer.
type Orders interface {
	Order() kind.Order
	AnswerOrder() kind.Order
}

// Limits is what the turn may still take.
type Limits interface {
	// UsedUp is the error of a turn that may only answer any more, nil while it may do more.
	UsedUp() error
	// TimeIsUp reports whether the context ended because the turn's time is used up.
	TimeIsUp(ctx context.Context) bool
	// Pause: no more time is taken.
	Pause()
}

// Screen is what people see of the turn while it runs.
type Screen interface {
	// Retract takes back what was shown of an answer that is none.
	Retract()
	// ShowProgress shows how far the turn has come.
	ShowProgress()
}

// StillWaiting is the error of what a person was asked by a turn that was stopped while it waited.
type StillWaiting struct{ Cause error }

func (s StillWaiting) Error() string { return "it still waits for a person: " + s.Cause.Error() }

// Pass takes a usable proposal through the gate.
func (g *Gate) Pass(ctx context.Context, proposed action.Proposed) (Result, error) {
	checked, refused, err := g.check(ctx, proposed)
	switch {
	case err != nil:
		return Result{}, err
	case refused != nil:
		return g.refuse(ctx, Step{Action: proposed.Action()}, refused, proposed.Action())
	}
	return g.rule(ctx, checked.Action(), "", proposed.Action())
}

// Previews reports whether skill and policy let a proposal, as far as it has come, into the turn's own
// conversation without a change.
func (g *Gate) Previews(ctx context.Context, proposal sexp.List) bool {
	proposed, err := g.Policy.Usable(action.Propose(proposal))
	if err != nil || proposed.Stripped() || !g.Judge.Answers(ctx, proposed.Action(), g.Turn.Where()) {
		return false
	}
	returned, err := g.Skill.Preview(ctx, proposed.List(), g.Turn.Event())
	return err == nil && proposed.Equals(returned)
}

// Do takes an action through the gate that no skill checks.
func (g *Gate) Do(ctx context.Context, a action.Action) (Result, error) {
	return g.rule(ctx, a, "", action.Action{})
}

// check returns a usable proposal as the skill lets it through. Refused says why the skill does not,
// for the model.
func (g *Gate) check(ctx context.Context, proposed action.Proposed) (checked action.Proposed, refused, err error) {
	if g.Skill == nil {
		return proposed, nil, nil
	}
	returned, err := g.Skill.Symbolic(ctx, proposed.List(), g.Turn.Event())
	switch {
	case err != nil:
		g.verdict(ctx, map[string]any{"gate": "skill", "verdict": "error", "err": err.Error()})
		return proposed, nil, fmt.Errorf("the skill %s could not check the answer and so refused it: %w", g.SkillName, err)
	case len(returned) == 0:
		g.verdict(ctx, map[string]any{"gate": "skill", "verdict": "refused", "reason": "its symbolic function returned nil"})
		return proposed, errRefused("the skill " + g.SkillName + " refused it"), nil
	}
	returned, _ = g.Hide(returned).(sexp.List)
	if proposed.Equals(returned) {
		return proposed, nil, nil
	}
	checked = action.Propose(returned)
	g.verdict(ctx, map[string]any{"gate": "skill", "verdict": "rewritten", "action": checked.String()})
	if checked, err = g.Policy.Usable(checked); err != nil {
		return proposed, errRefused("the skill " + g.SkillName + " rewrote it to what is no action: " + err.Error()), nil
	}
	return checked, nil, nil
}

// rule has the policy judge an action, and does what the verdict says. Granted is the hash of an
// action that a person just allowed once, or "". Proposed is the action that a model or a skill
// proposed; it is the zero Action for an action of a person or of another program.
func (g *Gate) rule(ctx context.Context, a action.Action, granted string, proposed action.Action) (Result, error) {
	if reason := g.Beyond(a); reason != "" {
		g.verdict(ctx, map[string]any{"gate": "subagent", "verdict": "refused", "reason": reason})
		return g.refuse(ctx, Step{Action: a}, errRefused(reason), proposed)
	}
	where := g.Turn.Where()
	where.Granted = granted
	verified, verdict, err := g.Policy.Verify(ctx, a, where)
	if err != nil {
		return Result{}, err
	}
	hash, hooks := verdict.Action.Hash(), hookVerdicts(verdict)
	row := map[string]any{
		"gate": "policy", "verdict": verdict.Kind.String(), "reason": verdict.Reason, "hash": hash, "symbolic": g.Skill != nil && g.Skill.Checks()}
	if hooks != nil {
		row["hooks"] = hooks
	}
	g.verdict(ctx, row)
	step := Step{Action: verdict.Action, Hooks: additions(hooks)}
	switch {
	case verified.Valid():
		step.Light = granted == "" && g.Kinds.Reads(verdict.Action)
		return g.perform(ctx, verified, verdict.Ends, step)
	case verdict.Kind != policy.Refuse:
		return g.ask(ctx, verdict, hash, step, proposed)
	case verdict.Failure != nil:
		return g.refuse(ctx, step, verdict.Failure, proposed)
	}
	return g.refuse(ctx, step, errRefused(verdict.Reason), proposed)
}

func (g *Gate) verdict(ctx context.Context, row map[string]any) {
	g.Rows.Record(ctx, journal.KindVerdict, row)
}

// refuse sends the step back with the reason. If the action would have been the answer, the turn ends.
func (g *Gate) refuse(ctx context.Context, step Step, reason error, proposed action.Action) (Result, error) {
	g.Screen.Retract()
	g.Log.Info("proposal refused", "action", step.Action.Key().String(), "reason", reason)
	if g.Judge.Answers(ctx, proposed, g.Turn.Where()) {
		return Result{}, fmt.Errorf("the answer was refused: %w", reason)
	}
	step.Verdict, step.Text, step.Failure = Refused, reason.Error(), protocol.ToolErrorOf(reason)
	return Result{Step: step}, nil
}

// inTheWay says why an action could not be performed if a person allowed it. The person is not asked
// then. If only a client that performs it is missing, the person is asked.
func (g *Gate) inTheWay(ctx context.Context, a action.Action) error {
	if err := g.Kinds.Available(a.Key()); err != nil {
		return err
	}
	if err := g.Performer.Check(ctx, g.Orders.Order(), a); err != nil && !errors.Is(err, kind.ErrNoPerformer) {
		return err
	}
	return nil
}

// errRefused is the error of an action that is refused.
func errRefused(reason string) error { return protocol.ToolErrorf(protocol.ToolRefused, "%s", reason) }
