package agent

import (
	"context"
	"errors"
	"fmt"

	"github.com/chewxy/sexp"

	"org-agent/kernel/act"
	"org-agent/kernel/journal"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// perform has a proposal verified and performs it. Done: the turn has ended.
// What became of a proposal that does not end the turn goes back to the model.
func (r *run) perform(ctx context.Context, proposal sexp.List) (done bool, err error) {
	final := r.agent.config.Policy.Answers(ctx, proposal, r.where())
	action, refusal, err := r.symbolic(ctx, proposal)
	if err != nil {
		return false, err
	}
	if refusal != "" {
		return r.refused(ctx, plist.Print(proposal), errRefused(refusal), final)
	}
	return r.decide(ctx, action, "", final)
}

// symbolic passes the proposal through the skill's symbolic function.
func (r *run) symbolic(ctx context.Context, proposal sexp.List) (action sexp.List, refusal string, err error) {
	if r.skill == nil { // it is another program's call
		return proposal, "", nil
	}
	returned, err := r.skill.Symbolic(ctx, proposal, r.event())
	if err != nil {
		r.record(ctx, journal.KindVerdict, map[string]any{"gate": "skill", "verdict": "error", "err": err.Error()})
		return nil, "", failf("the skill %s could not check the answer and so refused it: %v", r.skill.Name, err)
	}
	if len(returned) == 0 {
		r.record(ctx, journal.KindVerdict, map[string]any{"gate": "skill", "verdict": "refused", "reason": "its symbolic function returned nil"})
		return nil, fmt.Sprintf("the skill %s refused it", r.skill.Name), nil
	}
	returned, _ = r.agent.hideIn(returned).(sexp.List)
	stripped, changed := policy.Strip(returned)
	if changed || !plist.Equal(stripped, proposal) {
		r.record(ctx, journal.KindVerdict, map[string]any{"gate": "skill", "verdict": "rewritten", "action": plist.Print(stripped)})
		if err := r.agent.config.Policy.Usable(stripped); err != nil {
			return nil, fmt.Sprintf("the skill %s rewrote it to what is no action: %v", r.skill.Name, err), nil
		}
	}
	return stripped, "", nil
}

// decide asks the policy, and a person where the policy says so, and performs
// what is let through. Granted is the hash of an action just allowed once.
func (r *run) decide(ctx context.Context, action sexp.List, granted string, final bool) (done bool, err error) {
	if reason := r.beyond(action); reason != "" {
		r.record(ctx, journal.KindVerdict, map[string]any{"gate": "subagent", "verdict": "refused", "reason": reason})
		return r.refused(ctx, plist.Print(action), errRefused(reason), final)
	}
	where := r.where()
	where.Granted, where.Outside = granted, r.outside()
	verified, verdict, err := r.agent.config.Policy.Verify(ctx, action, where)
	if err != nil {
		return false, err
	}
	canonical := plist.Print(verdict.Action)
	entry := map[string]any{
		"gate": "policy", "verdict": verdict.Kind.String(), "reason": verdict.Reason, "hash": verdict.Hash, "symbolic": r.skill != nil && r.skill.Checks()}
	if said := r.objections(verdict); said != nil {
		entry["hooks"] = said
	}
	r.record(ctx, journal.KindVerdict, entry)
	switch verdict.Kind {
	case policy.Allow:
		r.light = granted == "" && r.reads(verified)
		return r.act(ctx, verified)
	case policy.Ask:
		if r.budget.stop != "" {
			return false, r.budget.usedUp(r.budget.stop)
		}
		if err := r.agent.config.Actuators.Available(verdict.Target()); err != nil {
			return r.refused(ctx, canonical, err, final)
		}
		if inTheWay := r.agent.config.Actuators.Check(ctx, r.order(), verdict.Action); inTheWay != nil {
			return r.refused(ctx, canonical, inTheWay, final) // a person is not asked about what could not be done
		}
		r.progress()
		return r.ask(ctx, verdict, canonical)
	}
	if verdict.Failure != nil {
		return r.refused(ctx, canonical, verdict.Failure, final)
	}
	return r.refused(ctx, canonical, errRefused(verdict.Reason), final)
}

// order is what is done for this turn next.
func (r *run) order() act.Order {
	record := r.turn.Record
	return act.Order{ID: r.agent.config.NewID(), Session: record.Session, Turn: record.ID, Event: record.Event}
}

// act performs a verified action.
func (r *run) act(ctx context.Context, verified policy.Verified) (done bool, err error) {
	record, order := r.turn.Record, r.order()
	order.Action = verified
	if verified.IntoConversation(record.Session) {
		r.budget.pause()             // it is there, and takes no more
		order.ID = r.turn.AnswerID() // the journal has it from there
		if _, err := r.agent.config.Actuators.Perform(ctx, order); err != nil {
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
		Kind: journal.ActAction, Action: verified.Canonical(),
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
	result, err := r.agent.config.Actuators.Perform(ctx, order)
	if still, ok := errors.AsType[stillAsking](err); ok {
		return false, still.cause // it is not over: it waits again when the kernel is back
	}
	r.receipt(ctx, order.ID, result, err)
	result, err = r.tellResult(ctx, verified, result, err)
	return r.performed(ctx, verified, result, err)
}

// reads reports whether an action calls a tool that changes nothing. Such a call may be done twice,
// and the journal is told of it, of what came of it and of the next request together.
func (r *run) reads(verified policy.Verified) bool {
	if verified.Target() != "tool" || verified.Action() != "call" {
		return false
	}
	_, effect, _ := r.agent.config.Tools.Find(verified.Tool())
	return effect == protocol.ToolReads
}

// receipt records how an action went, with the round that tells the model of it. What cannot be
// kept is logged, as the action is done.
func (r *run) receipt(ctx context.Context, id string, result act.Result, err error) {
	receipt := journal.Receipt{Client: result.Client, Receipt: result.Receipt}
	if err != nil {
		receipt.Failure, receipt.Unknown = err.Error(), errors.Is(err, act.ErrOutcomeUnknown)
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
func (r *run) performed(ctx context.Context, verified policy.Verified, res act.Result, err error) (bool, error) {
	switch {
	case err == nil:
		if verified.Type() == protocol.TypeLog && len(r.results) == 0 {
			return false, failf("the model wrote to the log only and gave no answer")
		}
		r.goOn(ctx, verified.Canonical(), result{verdict: "performed", text: res.Text, calls: res.Calls, answers: r.answers})
	case errors.Is(err, act.ErrOutcomeUnknown):
		return false, failf("the connection to Emacs was lost: it is not known whether this happened: %s", verified.Canonical())
	default:
		if _, over := errors.AsType[ended](context.Cause(ctx)); over {
			err = protocol.ToolErrorf(protocol.ToolCancelled, "it was stopped before it ended, because the time is used up; some of it may have happened")
		}
		r.toldOf(ctx, verified.Canonical(), "", err)
	}
	return false, nil
}

// errRefused is the error of what is refused for a reason that is not in the call.
func errRefused(reason string) error { return protocol.ToolErrorf(protocol.ToolRefused, "%s", reason) }

// refused goes back to the model with the reason; a refused final text ends
// the turn.
func (r *run) refused(ctx context.Context, action string, reason error, final bool) (bool, error) {
	r.turn.Retract()
	r.log.Info("proposal refused", "reason", reason)
	if final {
		return false, failf("the answer was refused: %v", reason)
	}
	r.goOn(ctx, action, result{verdict: "refused", text: reason.Error(), failure: protocol.ToolErrorOf(reason)})
	return false, nil
}
