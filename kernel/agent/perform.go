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
	"org-agent/kernel/protocol"
)

// The gate is the one way from a proposal to what is done: the skill's symbolic function sees it,
// the policy judges it, a person is asked where the policy says so, and its kind performs it. Done
// means that the turn has ended; what became of a proposal that does not end it goes back to the
// model.

// perform takes a usable proposal through the gate.
func (r *run) perform(ctx context.Context, proposed action.Proposed) (done bool, err error) {
	final := r.agent.config.Policy.Answers(ctx, proposed.Action(), r.where())
	checked, refusal, err := r.symbolic(ctx, proposed)
	if err != nil {
		return false, err
	}
	if refusal != "" {
		return r.refused(ctx, proposed.Action(), errRefused(refusal), final)
	}
	return r.decide(ctx, checked.Action(), "", final)
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
// what is let through. Granted is the hash of an action just allowed once.
func (r *run) decide(ctx context.Context, a action.Action, granted string, final bool) (done bool, err error) {
	if reason := r.beyond(a); reason != "" {
		r.record(ctx, journal.KindVerdict, map[string]any{"gate": "subagent", "verdict": "refused", "reason": reason})
		return r.refused(ctx, a, errRefused(reason), final)
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
			return r.refused(ctx, verdict.Action, inTheWay, final)
		}
		r.progress()
		return r.ask(ctx, verdict, hash)
	}
	if verdict.Failure != nil {
		return r.refused(ctx, verdict.Action, verdict.Failure, final)
	}
	return r.refused(ctx, verdict.Action, errRefused(verdict.Reason), final)
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

// order is what is done for this turn next.
func (r *run) order() kind.Order {
	record := r.turn.Record
	return kind.Order{ID: r.agent.config.NewID(), Session: record.Session, Turn: record.ID, Event: record.Event}
}

// act performs a verified action.
func (r *run) act(ctx context.Context, verified policy.Verified) (done bool, err error) {
	order, a := r.order(), verified.Action()
	order.Action = verified
	if r.agent.config.Kinds.Ends(a, r.where()) && r.agent.config.Kinds.Available(a.Key()) == nil {
		r.budget.pause()             // it is there, and takes no more
		order.ID = r.turn.AnswerID() // the journal has it from there
		if _, err := r.agent.config.Kinds.Perform(ctx, order); err != nil {
			return false, fmt.Errorf("put the answer into the conversation: %w", err)
		}
		return true, nil
	}
	if r.budget.stop != "" {
		return false, r.budget.usedUp(r.budget.stop)
	}
	r.turn.Retract()
	kept := journal.Act{
		ID: order.ID, Session: order.Session, Turn: order.Turn, Event: order.Event,
		Kind: journal.ActAction, Action: a.Canonical(),
	}
	put := r.agent.config.Journal.PutAct
	if r.light {
		put = r.agent.config.Journal.ActLater
	} else { // it may take long
		r.progress()
	}
	if err := put(ctx, kept); err != nil {
		return false, fmt.Errorf("not done, because it could not be journalled: %w", err)
	}
	r.acting, r.answers = order, nil
	result, err := r.agent.config.Kinds.Perform(ctx, order)
	if still, ok := errors.AsType[stillAsking](err); ok {
		return false, still.cause // it is not over: it waits again when the kernel is back
	}
	r.receipt(ctx, order.ID, result, err)
	result, err = r.tellResult(ctx, verified, result, err)
	return r.performed(ctx, a, result, err)
}

// receipt records how an action went, with the round that tells the model of it. What cannot be
// kept is logged, as the action is done.
func (r *run) receipt(ctx context.Context, id string, result kind.Result, err error) {
	receipt := journal.Receipt{Client: result.Client, Receipt: result.Receipt}
	if err != nil {
		receipt.Failure, receipt.Unknown = err.Error(), errors.Is(err, kind.ErrOutcomeUnknown)
	}
	if !receipt.Saved { // else it is more than a row
		r.recordLater(ctx, journal.KindReceipt, id, receipt)
		return
	}
	if err = r.agent.config.Journal.PutReceipt(context.WithoutCancel(ctx), id, receipt); err != nil {
		r.log.Error("receipt not kept", "act", id, "err", err)
	}
}

// performed goes on after an action that does not end the turn.
func (r *run) performed(ctx context.Context, a action.Action, res kind.Result, err error) (bool, error) {
	switch {
	case err == nil:
		if a.Type() == protocol.TypeLog && len(r.results) == 0 {
			return false, failf("the model wrote to the log only and gave no answer")
		}
		r.goOn(ctx, a, result{verdict: "performed", text: res.Text, calls: res.Calls, answers: r.answers})
	case errors.Is(err, kind.ErrOutcomeUnknown):
		return false, failf("the connection to Emacs was lost: it is not known whether this happened: %s", a.Canonical())
	default:
		if _, over := errors.AsType[ended](context.Cause(ctx)); over {
			err = protocol.ToolErrorf(protocol.ToolCancelled, "it was stopped before it ended, because the time is used up; some of it may have happened")
		}
		r.toldOf(ctx, a, "", err)
	}
	return false, nil
}

// errRefused is the error of what is refused for a reason that is not in the call.
func errRefused(reason string) error { return protocol.ToolErrorf(protocol.ToolRefused, "%s", reason) }

// refused goes back to the model with the reason; a refused final text ends
// the turn.
func (r *run) refused(ctx context.Context, a action.Action, reason error, final bool) (bool, error) {
	r.turn.Retract()
	r.log.Info("proposal refused", "action", a.Key().String(), "reason", reason)
	if final {
		return false, failf("the answer was refused: %v", reason)
	}
	r.goOn(ctx, a, result{verdict: "refused", text: reason.Error(), failure: protocol.ToolErrorOf(reason)})
	return false, nil
}
