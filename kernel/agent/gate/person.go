package gate

import (
	"context"

	"org-agent/kernel/action"
	"org-agent/kernel/journal"
	"org-agent/kernel/policy"
)

// Decision is what a person decided about an action.
type Decision struct {
	Denied bool
	Reason string // for a denial, in the person's words; "" for none
	// Edited is what the person wrote in place of the action. It is usable; empty where the
	// action is to be done as it is.
	Edited action.Proposed
}

// ask shows the action to a person and does what they decide. They are not asked about an action that
// could not be performed.
func (g *Gate) ask(ctx context.Context, verdict policy.Verdict, hash string, step Step, proposed action.Action) (Result, error) {
	if err := g.Limits.UsedUp(); err != nil {
		return Result{}, err
	}
	if err := g.inTheWay(ctx, verdict.Action); err != nil {
		return g.refuse(ctx, step, err, proposed)
	}
	g.Screen.ShowProgress()
	decision, err := g.Person.Decide(ctx, verdict, hash)
	if err != nil {
		return Result{}, err
	}
	return g.decided(ctx, step, hash, decision)
}

// Decided does what a person decided about an action that waited and had this hash. The policy judges
// the action again before it is performed.
func (g *Gate) Decided(ctx context.Context, a action.Action, hash string, decision Decision) (Result, error) {
	return g.decided(ctx, Step{Action: a}, hash, decision)
}

func (g *Gate) decided(ctx context.Context, step Step, hash string, decision Decision) (Result, error) {
	switch {
	case decision.Denied:
		step.Verdict, step.Text = Denied, "a person refused it"
		if decision.Reason != "" {
			step.Text += ": " + decision.Reason
		}
		return Result{Step: step}, nil
	case !decision.Edited.Empty():
		return g.edited(ctx, decision.Edited)
	}
	return g.rule(ctx, step.Action, hash, action.Action{})
}

// edited does the action that a person wrote in place of a proposal. It is a new proposal, which the
// skill checks as well. If the skill rewrites it, the person is asked again.
func (g *Gate) edited(ctx context.Context, proposed action.Proposed) (Result, error) {
	g.Rows.Record(ctx, journal.KindProposal, map[string]any{"edited": true, "action": proposed.String()})
	checked, refused, err := g.check(ctx, proposed)
	switch {
	case err != nil:
		return Result{}, err
	case refused != nil:
		return g.refuse(ctx, Step{Action: proposed.Action()}, refused, action.Action{})
	}
	allowed := g.Judge.Judge(ctx, proposed.Action(), g.Turn.Where()).Action.Hash()
	return g.rule(ctx, checked.Action(), allowed, action.Action{})
}
