package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
)

// The gate is the one way from a proposal to what is done: the skill's symbolic function sees it,
// the policy judges it, a person is asked where the policy says so, and its kind performs it. Done
// means that the turn has ended; what became of a proposal that does not end it goes back to the
// model.

// perform takes a usable proposal through the gate.
func (r *run) perform(ctx context.Context, proposed action.Proposed) (done bool, err error) {
	checked, refusal, err := r.symbolic(ctx, proposed)
	if err != nil {
		return false, err
	}
	if refusal != "" {
		return r.refused(ctx, proposed.Action(), errRefused(refusal), proposed.Action())
	}
	return r.decide(ctx, checked.Action(), "", proposed.Action())
}

// symbolic passes the proposal through the skill's symbolic function.
func (r *run) symbolic(ctx context.Context, proposed action.Proposed) (checked action.Proposed, refusal string, err error) {
	returned, err := r.skill.Symbolic(ctx, proposed.List(), r.event())
	if err != nil {
		r.record(ctx, journal.KindVerdict, map[string]any{"gate": "skill", "verdict": "error", "err": err.Error()})
		return checked, "", failf("the skill %s could not check the answer and so refused it: %v", r.skill.Name, err)
	}
	if len(returned) == 0 {
		r.record(ctx, journal.KindVerdict, map[string]any{"gate": "skill", "verdict": "refused", "reason": "its symbolic function returned nil"})
		return checked, fmt.Sprintf("the skill %s refused it", r.skill.Name), nil
	}
	returned, _ = r.agent.hideIn(returned).(sexp.List)
	if plist.Equal(returned, proposed.List()) {
		return proposed, "", nil
	}
	checked = action.Propose(returned)
	r.record(ctx, journal.KindVerdict, map[string]any{"gate": "skill", "verdict": "rewritten", "action": checked.String()})
	checked, err = r.agent.config.Policy.Usable(checked)
	if err != nil {
		return checked, fmt.Sprintf("the skill %s rewrote it to what is no action: %v", r.skill.Name, err), nil
	}
	return checked, "", nil
}

// decide asks the policy, and a person where the policy says so, and performs
// what is let through. Granted is the hash of an action just allowed once; proposed is what a model
// or a skill proposed, the zero Action where somebody else wants this done.
func (r *run) decide(ctx context.Context, a action.Action, granted string, proposed action.Action) (done bool, err error) {
	if reason := r.program.refuses(a, r.where()); reason != "" {
		r.record(ctx, journal.KindVerdict, map[string]any{"gate": "subagent", "verdict": "refused", "reason": reason})
		return r.refused(ctx, a, errRefused(reason), proposed)
	}
	where := r.where()
	where.Granted, where.Outside = granted, r.outside()
	verified, verdict, err := r.agent.config.Policy.Verify(ctx, a, where)
	if err != nil {
		return false, err
	}
	hash := verdict.Action.Hash()
	entry := map[string]any{
		"gate": "policy", "verdict": verdict.Kind.String(), "reason": verdict.Reason, "hash": hash, "symbolic": r.skill != nil && r.skill.Checks()}
	if said := r.objections(verdict); said != nil {
		entry["hooks"] = said
	}
	r.record(ctx, journal.KindVerdict, entry)
	switch verdict.Kind {
	case policy.Allow:
		r.light = granted == "" && r.agent.config.Kinds.Reads(verdict.Action)
		return r.act(ctx, verified)
	case policy.Ask:
		if r.budget.stop != "" {
			return false, r.budget.usedUp(r.budget.stop)
		}
		if inTheWay := r.inTheWay(ctx, verdict.Action); inTheWay != nil {
			return r.refused(ctx, verdict.Action, inTheWay, proposed)
		}
		r.progress()
		return r.ask(ctx, verdict, hash)
	}
	if verdict.Failure != nil {
		return r.refused(ctx, verdict.Action, verdict.Failure, proposed)
	}
	return r.refused(ctx, verdict.Action, errRefused(verdict.Reason), proposed)
}

// inTheWay says why an action could not be done if a person allowed it: they are not asked then.
// What only waits for somebody who performs it is asked about.
func (r *run) inTheWay(ctx context.Context, a action.Action) error {
	kinds := r.agent.config.Kinds
	if err := kinds.Available(a.Key()); err != nil {
		return err
	}
	if err := kinds.Check(ctx, r.order(), a); err != nil && !errors.Is(err, kind.ErrNoPerformer) {
		return err
	}
	return nil
}
