package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/kind"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// gate is the one way from a proposal to what may be done: the skill's symbolic function sees it,
// and the policy judges it. It performs nothing and asks nobody; what comes of its rulings is for
// the turn. Whatever it finds it notes, for the journal.
type gate struct {
	policy verifier
	kinds  availability
	// skill checks proposals; nil where none does, as of another program's call.
	skill checker
	// beyond says why an action is none of the turn's, "" if it may be.
	beyond func(a action.Action) string
	// hide takes out of what a skill returns what no model may see.
	hide func(x sexp.Sexp) sexp.Sexp
	note func(verdict map[string]any)
}

// verifier is what the gate asks of the policy.
type verifier interface {
	Usable(proposed action.Proposed) (action.Proposed, error)
	Verify(ctx context.Context, a action.Action, where policy.Where) (policy.Verified, policy.Verdict, error)
}

// availability is what the gate asks of the kinds of actions.
type availability interface {
	Available(key action.Key) error
	Check(ctx context.Context, order kind.Order, a action.Action) error
}

// checker is what the gate asks of a skill.
type checker interface {
	Symbolic(ctx context.Context, action, event sexp.List) (sexp.List, error)
	Checks() bool
}

// checked is a usable proposal as the skill lets it through, or why it does not, for the model.
func (g gate) checked(ctx context.Context, proposed action.Proposed, event sexp.List) (checked action.Proposed, refused, err error) {
	if g.skill == nil {
		return proposed, nil, nil
	}
	returned, err := g.skill.Symbolic(ctx, proposed.List(), event)
	switch {
	case err != nil:
		g.note(map[string]any{"gate": "skill", "verdict": "error", "err": err.Error()})
		return proposed, nil, fmt.Errorf("could not check the answer and so refused it: %w", err)
	case len(returned) == 0:
		g.note(map[string]any{"gate": "skill", "verdict": "refused", "reason": "its symbolic function returned nil"})
		return proposed, errRefused("refused it"), nil
	}
	returned, _ = g.hide(returned).(sexp.List)
	if plist.Equal(returned, proposed.List()) {
		return proposed, nil, nil
	}
	checked = action.Propose(returned)
	g.note(map[string]any{"gate": "skill", "verdict": "rewritten", "action": checked.String()})
	if checked, err = g.policy.Usable(checked); err != nil {
		return proposed, errRefused("rewrote it to what is no action: " + err.Error()), nil
	}
	return checked, nil, nil
}

// ruling is what the gate says of an action.
type ruling struct {
	policy.Verdict
	hash string
	// verified is valid when it is to be performed; else refused says why not, for the model, or,
	// where that is nil, a person is to be asked.
	verified policy.Verified
	refused  error
	hooks    []hookVerdict
}

// rule judges an action in a turn.
func (g gate) rule(ctx context.Context, a action.Action, where policy.Where) (ruling, error) {
	if reason := g.beyond(a); reason != "" {
		g.note(map[string]any{"gate": "subagent", "verdict": "refused", "reason": reason})
		return ruling{Verdict: policy.Verdict{Action: a}, refused: errRefused(reason)}, nil
	}
	verified, verdict, err := g.policy.Verify(ctx, a, where)
	if err != nil {
		return ruling{}, err
	}
	r := ruling{Verdict: verdict, hash: verdict.Action.Hash(), verified: verified, hooks: hookVerdicts(verdict)}
	switch {
	case verdict.Kind != policy.Refuse:
	case verdict.Failure != nil:
		r.refused = verdict.Failure
	default:
		r.refused = errRefused(verdict.Reason)
	}
	noted := map[string]any{
		"gate": "policy", "verdict": verdict.Kind.String(), "reason": verdict.Reason, "hash": r.hash, "symbolic": g.skill != nil && g.skill.Checks()}
	if r.hooks != nil {
		noted["hooks"] = r.hooks
	}
	g.note(noted)
	return r, nil
}

// inTheWay says why an action could not be done if a person allowed it: they are not asked then.
// What only waits for somebody who performs it is asked about.
func (g gate) inTheWay(ctx context.Context, order kind.Order, a action.Action) error {
	if err := g.kinds.Available(a.Key()); err != nil {
		return err
	}
	if err := g.kinds.Check(ctx, order, a); err != nil && !errors.Is(err, kind.ErrNoPerformer) {
		return err
	}
	return nil
}

// errRefused is the error of what is refused for a reason that is not in the call.
func errRefused(reason string) error { return protocol.ToolErrorf(protocol.ToolRefused, "%s", reason) }
