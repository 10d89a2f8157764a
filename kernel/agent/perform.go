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

// order is what is done for this turn next.
func (r *run) order() kind.Order {
	record := r.turn.Record
	return kind.Order{ID: r.agent.config.NewID(), Session: record.Session, Turn: record.ID, Event: record.Event, Route: record.Question.Route}
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
		r.toldOf(ctx, a, "", err)
	}
	return false, nil
}

// errRefused is the error of what is refused for a reason that is not in the call.
func errRefused(reason string) error { return protocol.ToolErrorf(protocol.ToolRefused, "%s", reason) }

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
