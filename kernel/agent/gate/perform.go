package gate

import (
	"context"
	"errors"
	"fmt"

	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// perform performs a verified action. One that ends the turn becomes its answer.
func (g *Gate) perform(ctx context.Context, verified policy.Verified, ends bool, step Step) (Result, error) {
	if ends && g.Kinds.Available(step.Action.Key()) == nil {
		g.Limits.Pause()                // the time of the turn ends with its answer
		order := g.Orders.AnswerOrder() // the conversation writes the answer into the journal
		order.Action = verified
		if _, err := g.Performer.Perform(ctx, order); err != nil {
			return Result{}, fmt.Errorf("write the answer into the conversation: %w", err)
		}
		return Result{Ended: true}, nil
	}
	if err := g.Limits.UsedUp(); err != nil {
		return Result{}, err
	}
	g.Screen.Retract()
	order := g.Orders.Order()
	order.Action = verified
	if err := g.recordAct(ctx, order, step.Repeatable); err != nil {
		return Result{}, fmt.Errorf("not performed, because it could not be journalled: %w", err)
	}
	result, err := g.Performer.Perform(ctx, order)
	if still, ok := errors.AsType[StillWaitingError](err); ok {
		return Result{}, still.Cause // it waits again after a restart of the kernel
	}
	g.RecordReceipt(ctx, order.ID, result, err)
	result, added, err := g.Hooks.Result(ctx, verified, result, err)
	step.Hooks = append(step.Hooks, added...)
	return g.performedResult(ctx, step, result, err)
}

// recordAct writes the act into the journal before it is performed.
func (g *Gate) recordAct(ctx context.Context, order kind.Order, light bool) error {
	act := journal.Act{
		ID: order.ID, Session: order.Session, Turn: order.Turn, Event: order.Event,
		Kind: journal.ActAction, Action: order.Action.Action().Canonical(),
	}
	if light {
		return g.Acts.PutActDeferred(ctx, act)
	}
	g.Screen.ShowProgress() // the action may take long
	return g.Acts.PutAct(ctx, act)
}

// RecordReceipt writes the receipt of an act into the journal. An error is only logged, because the act
// has been performed.
func (g *Gate) RecordReceipt(ctx context.Context, id string, result kind.Result, err error) {
	receipt := journal.Receipt{Client: result.Client, Receipt: result.Receipt}
	if err != nil {
		receipt.Failure, receipt.Unknown = err.Error(), errors.Is(err, kind.ErrOutcomeUnknown)
	}
	if !receipt.Saved { // the receipt of a saved file needs more than a row
		g.Rows.RecordLater(ctx, journal.KindReceipt, id, receipt)
		return
	}
	if err = g.Acts.PutReceipt(context.WithoutCancel(ctx), id, receipt); err != nil {
		g.Log.Error("receipt not recorded", "act", id, "err", err)
	}
}

// performedResult returns the outcome of an act that does not end the turn.
func (g *Gate) performedResult(ctx context.Context, step Step, result kind.Result, err error) (Result, error) {
	switch {
	case err == nil:
		step.Verdict, step.Text, step.Calls = Performed, result.Text, result.Calls
		return Result{Step: step}, nil
	case errors.Is(err, kind.ErrOutcomeUnknown):
		return Result{}, fmt.Errorf("the connection to Emacs was lost: it is not known whether this happened: %s", step.Action.Canonical())
	case g.Limits.TimeIsUp(ctx):
		err = protocol.ToolErrorf(protocol.ToolCancelled, "it was stopped before it ended, because the time is used up; some of it may have happened")
	}
	return Result{Step: step.failed(err)}, nil
}
