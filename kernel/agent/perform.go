package agent

import (
	"context"
	"errors"
	"fmt"

	"org-agent/kernel/action"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// gate is what the turn's proposals go through.
func (r *run) gate(ctx context.Context) gate {
	c := r.agent.config
	g := gate{
		policy: c.Policy, kinds: c.Kinds, hide: r.agent.hideIn,
		beyond: func(a action.Action) string { return r.program.refuses(a, r.where()) },
		note:   func(verdict map[string]any) { r.record(ctx, journal.KindVerdict, verdict) },
	}
	if r.skill != nil {
		g.skill = r.skill
	}
	return g
}

// perform takes a usable proposal through the gate, and does what comes of that. Done means that
// the turn has ended; what became of a proposal that does not end it goes back to the model.
func (r *run) perform(ctx context.Context, proposed action.Proposed) (done bool, err error) {
	checked, refused, err := r.gate(ctx).checked(ctx, proposed, r.event())
	switch {
	case err != nil:
		return false, failf("the skill %s %v", r.skill.Name, err)
	case refused != nil:
		return r.refused(ctx, proposed.Action(), r.ofSkill(refused), proposed.Action())
	}
	return r.decide(ctx, checked.Action(), "", proposed.Action())
}

// ofSkill is why the skill refuses something, with its name.
func (r *run) ofSkill(refused error) error {
	return errRefused("the skill " + r.skill.Name + " " + refused.Error())
}

// decide performs what the gate lets through, and asks a person about what it says so of. Granted
// is the hash of an action just allowed once; proposed is what a model or a skill proposed, the
// zero Action where somebody else wants this done.
func (r *run) decide(ctx context.Context, a action.Action, granted string, proposed action.Action) (done bool, err error) {
	where := r.where()
	where.Granted, where.Outside = granted, r.outside()
	g := r.gate(ctx)
	ruled, err := g.rule(ctx, a, where)
	if err != nil {
		return false, err
	}
	r.heard(ruled.hooks)
	switch {
	case ruled.refused != nil:
		return r.refused(ctx, ruled.Action, ruled.refused, proposed)
	case ruled.verified.Valid():
		r.light = granted == "" && r.agent.config.Kinds.Reads(ruled.Action)
		return r.act(ctx, ruled.verified)
	case r.budget.stop != "":
		return false, r.budget.usedUp(r.budget.stop)
	}
	if inTheWay := g.inTheWay(ctx, r.order(), ruled.Action); inTheWay != nil {
		return r.refused(ctx, ruled.Action, inTheWay, proposed)
	}
	r.progress()
	return r.ask(ctx, ruled)
}

// order is what is done for this turn next.
func (r *run) order() kind.Order {
	record := r.turn.Record
	return kind.Order{ID: r.agent.config.NewID(), Session: record.Session, Turn: record.ID, Event: record.Event, Route: record.Question.Route, Tools: r.tools}
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
		put = r.agent.config.Journal.PutActDeferred
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
		if a.Type() == protocol.TypeLog && len(r.results) == 0 && r.turn.Record.Question.Route.AwaitsAnswer() {
			return false, failf("the model wrote to the log only and gave no answer")
		}
		r.recordStep(ctx, a, result{verdict: "performed", text: res.Text, calls: res.Calls, answers: r.answers})
	case errors.Is(err, kind.ErrOutcomeUnknown):
		return false, failf("the connection to Emacs was lost: it is not known whether this happened: %s", a.Canonical())
	default:
		if _, over := errors.AsType[ended](context.Cause(ctx)); over {
			err = protocol.ToolErrorf(protocol.ToolCancelled, "it was stopped before it ended, because the time is used up; some of it may have happened")
		}
		r.recordAnswer(ctx, a, "", err)
	}
	return false, nil
}

// refused goes back to the model with the reason; that what was proposed cannot answer, though it
// would have, ends the turn.
func (r *run) refused(ctx context.Context, a action.Action, reason error, proposed action.Action) (bool, error) {
	r.turn.Retract()
	r.log.Info("proposal refused", "action", a.Key().String(), "reason", reason)
	if r.agent.config.Policy.Answers(ctx, proposed, r.where()) {
		return false, failf("the answer was refused: %v", reason)
	}
	r.recordStep(ctx, a, result{verdict: "refused", text: reason.Error(), failure: protocol.ToolErrorOf(reason)})
	return false, nil
}
