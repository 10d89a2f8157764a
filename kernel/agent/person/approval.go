package person

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/gate"
	"org-agent/kernel/describe"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// Decide implements [gate.Person]: it shows the action to a person and waits for the decision.
func (t *Turn) Decide(ctx context.Context, verdict policy.Verdict, hash string) (gate.Decision, error) {
	approval := protocol.Ask{
		ID: t.Desk.config.NewID(), Sort: protocol.AskApproval, Session: t.Record.Session, Turn: t.Record.ID, Event: t.Record.Event,
		Opened:        time.Now().UTC().Format(time.RFC3339),
		PendingAction: protocol.PendingAction{Action: verdict.Action.Canonical(), Hash: hash, Reason: verdict.Reason, Once: verdict.OnceOnly, Always: !verdict.OnceOnly && !verdict.Changes},
		Subagent:      t.Subagent, Parent: t.Parent,
	}
	if offer := verdict.Reading; offer != nil {
		decided, err := t.Desk.config.Asks.ReadingDecided(ctx, offer.Directory)
		if err != nil {
			return gate.Decision{}, err
		}
		if !decided {
			approval.Reading = offer
		}
	}
	t.describe(ctx, &approval, verdict.Action)
	approval.Effects = append(unallowed(verdict), approval.Effects...)
	opened, err := t.open(ctx, approval)
	if err != nil {
		return gate.Decision{}, err
	}
	defer opened.Close()
	return opened.Decide(ctx)
}

// unallowedLimit is how many commands are named that no rule allows.
const unallowedLimit = 20

// unallowed names the commands that are asked about, if there are others beside them. A person sees them
// before all else.
func unallowed(verdict policy.Verdict) (effects []string) {
	runs, more := 0, 0
	for _, d := range verdict.Decisions {
		command, is := strings.CutPrefix(d.What, "runs ")
		if !is {
			continue
		}
		runs++
		switch line := "no rule allows: " + describe.Visible(command); {
		case d.Kind == policy.Allow || slices.Contains(effects, line):
		case len(effects) == unallowedLimit:
			more++
		default:
			effects = append(effects, line)
		}
	}
	if runs < 2 {
		return nil
	}
	if more > 0 {
		effects = append(effects, fmt.Sprintf("no rule allows %d more of its commands", more))
	}
	return effects
}

// Decide shows the approval and waits for the decision. If the turn is stopped meanwhile, the error is
// the cause.
func (w *Waiting) Decide(ctx context.Context) (gate.Decision, error) {
	w.turn.Log.Info("waiting for a decision", "approval", w.Ask.ID, "action", w.Ask.Summary, "reason", w.Ask.Reason)
	decision, err := w.await(ctx)
	if still, ok := errors.AsType[gate.StillWaitingError](err); ok {
		return gate.Decision{}, still.Cause
	}
	if err != nil {
		return gate.Decision{}, err
	}
	return gate.Decision{Denied: decision.Decision == protocol.Deny, Reason: decision.Comment, Edited: decision.edited}, nil
}

// usable checks an action that a person wrote to replace a proposal.
func (d *Desk) usable(edited action.Proposed) (action.Proposed, error) {
	usable, err := d.config.Usable(edited)
	if err != nil {
		return edited, protocol.Errorf(protocol.CodeInvalidParams, "the edited action cannot be used: %v", err)
	}
	return usable, nil
}

// readEdited parses such an action from a row of the journal; "" is none.
func (d *Desk) readEdited(text string) (action.Proposed, error) {
	if text == "" {
		return action.Proposed{}, nil
	}
	edited, err := action.Read(text)
	if err != nil {
		return edited, fmt.Errorf("read the edited action: %w", err)
	}
	return d.usable(edited)
}
