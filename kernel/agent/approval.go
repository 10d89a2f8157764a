package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"org-agent/kernel/action"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// decided is what a person decided, with what they wrote in place of the proposal.
type decided struct {
	protocol.ApprovalDecideParams
	edited action.Proposed
}

// Decide records a person's decision, made with that kind of client, and lets the turn go on. Only a client
// with the token may call it. The error of a second decision has
// [protocol.CodeConflict].
func (a *Agent) Decide(ctx context.Context, p protocol.ApprovalDecideParams, client string) (protocol.ApprovalDecideResult, error) {
	var none protocol.ApprovalDecideResult
	switch p.Decision {
	case protocol.AllowOnce, protocol.Deny:
	case protocol.AllowTurn, protocol.AllowSession, protocol.AllowAlways:
		if p.Edited != "" {
			return none, protocol.Errorf(protocol.CodeInvalidParams, "an edited action is a new one: it can be allowed once only")
		}
	default:
		return none, protocol.Errorf(protocol.CodeInvalidParams,
			"the decision %q is not one of allow-once, allow-turn, allow-session, allow-always, deny", p.Decision)
	}
	said := decided{ApprovalDecideParams: p}
	if p.Edited != "" {
		edited, err := action.Read(p.Edited)
		if err != nil {
			return none, protocol.Errorf(protocol.CodeInvalidParams, "the edited action cannot be read: %v", err)
		}
		if said.edited, err = a.config.Policy.Usable(edited); err != nil {
			return none, protocol.Errorf(protocol.CodeInvalidParams, "the edited action cannot be used: %v", err)
		}
	}
	if _, err := a.config.Journal.Decide(ctx, p, client); err != nil {
		return none, err
	}
	a.approvals.say(p.ID, said)
	return protocol.ApprovalDecideResult{ID: p.ID, Decision: p.Decision}, nil
}

// ask puts the action before a person and waits for the decision.
func (r *run) ask(ctx context.Context, ruled ruling) (bool, error) {
	record := r.turn.Record
	approval := protocol.Approval{
		ID: r.agent.config.NewID(), Session: record.Session, Turn: record.ID, Event: record.Event,
		Action: ruled.Action.Canonical(), Hash: ruled.hash, Reason: ruled.Reason, Asked: time.Now().UTC().Format(time.RFC3339),
		Once: ruled.OnceOnly,
	}
	approval.Subagent, approval.Parent = r.program.label, r.program.parent
	r.describeApproval(ctx, &approval, ruled.Action)
	said := r.agent.approvals.wait(approval.ID)
	defer r.agent.approvals.forget(approval.ID)
	if err := r.agent.config.Journal.Ask(ctx, approval); err != nil {
		return false, err
	}
	return r.await(ctx, approval, ruled.Action, said)
}

// resume waits again for what was asked before the kernel was started anew.
func (r *run) resume(ctx context.Context) (bool, error) {
	rows, err := r.agent.config.Journal.Entries(ctx, journal.Query{
		Turn: r.turn.Record.ID, Kinds: []journal.Kind{journal.KindApproval, journal.KindQuestion}, Latest: true, Limit: 1})
	switch {
	case err != nil:
		return false, err
	case len(rows) == 0:
		return false, interruptedWaiting()
	case rows[0].Kind == journal.KindQuestion:
		return false, questioner{r}.resume(ctx, rows[0].ID)
	}
	return r.resumeApproval(ctx, rows[0].ID)
}

// interruptedWaiting is how a turn ends whose question or approval the last kernel closed.
func interruptedWaiting() error {
	return ended{protocol.TurnInterrupted, "the kernel ended while this waited for you"}
}

// resumeApproval waits again for the decision on an approval. One that the last kernel did
// not come to carry out counts.
func (r *run) resumeApproval(ctx context.Context, id string) (bool, error) {
	said := r.agent.approvals.wait(id)
	defer r.agent.approvals.forget(id)
	approval, err := r.agent.config.Journal.Approval(ctx, id) // after wait: no decision falls between
	switch {
	case err != nil:
		return false, err
	case approval.Decision != "":
		edited, err := action.Read(approval.Edited)
		if approval.Edited != "" && err != nil {
			return false, fmt.Errorf("read what a person wrote in place of the action: %w", err)
		}
		r.agent.approvals.say(approval.ID, decided{edited: edited, ApprovalDecideParams: protocol.ApprovalDecideParams{
			ID: approval.ID, Decision: approval.Decision, Reason: approval.Comment, Edited: approval.Edited}})
	case !approval.Closed.IsZero():
		return false, interruptedWaiting()
	}
	if err := r.pick(ctx); err != nil {
		return false, err
	}
	if err := r.recordUntold(ctx, approval.ID); err != nil {
		return false, err
	}
	asked, err := action.Read(approval.Action)
	if err != nil {
		return false, fmt.Errorf("read the action that waits: %w", err)
	}
	return r.await(ctx, approval.Approval, asked.Action(), said)
}

// await waits for the decision on the approval of an action and does what it says; policy
// judges the action again before it runs.
func (r *run) await(ctx context.Context, approval protocol.Approval, a action.Action, said <-chan decided) (bool, error) {
	r.log.Info("waiting for a decision", "approval", approval.ID, "action", approval.Summary, "reason", approval.Reason)
	decision, err := personSays(ctx, r, approval.ID, func() error { return r.turn.Ask(ctx, approval) }, said)
	if still, ok := errors.AsType[stillAsking](err); ok {
		return false, still.cause
	}
	if err != nil {
		return false, err
	}
	if decision.Decision == protocol.Deny {
		reason := "a person refused it"
		if decision.Reason != "" {
			reason += ": " + decision.Reason
		}
		r.recordStep(ctx, a, result{verdict: "denied", text: reason})
		return false, nil
	}
	if decision.Edited != "" {
		return r.edited(ctx, decision.edited)
	}
	return r.decide(ctx, a, approval.Hash, action.Action{})
}

// edited does what a person wrote in place of a proposal: it is a new one, which
// the skill sees as well. What the skill rewrites is asked about again.
func (r *run) edited(ctx context.Context, proposed action.Proposed) (bool, error) {
	r.record(ctx, journal.KindProposal, map[string]any{"edited": true, "action": proposed.String()})
	checked, refused, err := r.gate(ctx).checked(ctx, proposed, r.event())
	switch {
	case err != nil:
		return false, failf("the skill %s %v", r.skill.Name, err)
	case refused != nil:
		return r.refused(ctx, proposed.Action(), r.ofSkill(refused), action.Action{})
	}
	return r.decide(ctx, checked.Action(), r.agent.config.Policy.Judge(ctx, proposed.Action(), r.where()).Action.Hash(), action.Action{})
}
