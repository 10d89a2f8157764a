package gate

import (
	"context"

	"org-agent/kernel/action"
	"org-agent/kernel/journal"
	"org-agent/kernel/policy"
)

// Decision is a person's decision about an action.
type Decision struct {
	Denied bool
	Reason string // the person's reason for a denial, "" if none was given
	// Edited is the usable action that the person wrote to replace this one. It is empty if the action
	// is allowed unchanged.
	Edited action.Proposed
}

// askPerson shows the action to a person and carries out the decision. It does not ask about an action
// that could not be performed.
func (g *Gate) askPerson(ctx context.Context, verdict policy.Verdict, hash string, step Step, proposed action.Action) (Result, error) {
	if err := g.Limits.UsedUp(); err != nil {
		return Result{}, err
	}
	if err := g.obstacle(ctx, verdict); err != nil {
		return g.refuse(ctx, step, err, proposed)
	}
	g.Screen.ShowProgress()
	decision, err := g.Person.Decide(ctx, verdict, hash)
	if err != nil {
		return Result{}, err
	}
	return g.applyDecision(ctx, step, hash, decision)
}

// ApplyDecision carries out a person's decision about a waiting action with this hash. The policy
// judges the action again before it is performed.
func (g *Gate) ApplyDecision(ctx context.Context, a action.Action, hash string, decision Decision) (Result, error) {
	return g.applyDecision(ctx, Step{Action: a}, hash, decision)
}

func (g *Gate) applyDecision(ctx context.Context, step Step, hash string, decision Decision) (Result, error) {
	switch {
	case decision.Denied:
		step.Verdict, step.Text = Denied, "a person refused it"
		if decision.Reason != "" {
			step.Text += ": " + decision.Reason
		}
		return Result{Step: step}, nil
	case !decision.Edited.Empty():
		return g.applyEdit(ctx, decision.Edited)
	}
	return g.judge(ctx, step.Action, hash, action.Action{})
}

// applyEdit performs the action that a person wrote to replace a proposal. It is a new proposal, and
// the skill checks it too. If the skill rewrites it, the person is asked again.
func (g *Gate) applyEdit(ctx context.Context, proposed action.Proposed) (Result, error) {
	g.Rows.Record(ctx, journal.KindProposal, map[string]any{"edited": true, "action": proposed.String()})
	checked, refused, err := g.check(ctx, proposed)
	switch {
	case err != nil:
		return Result{}, err
	case refused != nil:
		return g.refuse(ctx, Step{Action: proposed.Action()}, refused, action.Action{})
	}
	allowed := g.Judge.Judge(ctx, proposed.Action(), g.Turn.Where()).Action.Hash()
	return g.judge(ctx, checked.Action(), allowed, action.Action{})
}
