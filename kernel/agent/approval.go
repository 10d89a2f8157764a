package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/chewxy/sexp"

	"org-agent/kernel/journal"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

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
	if p.Edited != "" {
		action, err := readAction(p.Edited)
		if err != nil {
			return none, protocol.Errorf(protocol.CodeInvalidParams, "the edited action cannot be read: %v", err)
		}
		if err := a.config.Policy.Usable(action); err != nil {
			return none, protocol.Errorf(protocol.CodeInvalidParams, "the edited action cannot be used: %v", err)
		}
	}
	if _, err := a.config.Journal.Decide(ctx, p, client); err != nil {
		return none, err
	}
	a.approvals.say(p.ID, p)
	return protocol.ApprovalDecideResult{ID: p.ID, Decision: p.Decision}, nil
}

func readAction(text string) (sexp.List, error) {
	x, err := plist.Read(text)
	if err != nil {
		return nil, err
	}
	action, ok := x.(sexp.List)
	if !ok {
		return nil, fmt.Errorf("it is not a property list")
	}
	return action, nil
}

// ask puts the action before a person and waits for the decision.
func (r *run) ask(ctx context.Context, verdict policy.Verdict, canonical string) (bool, error) {
	record := r.turn.Record
	approval := protocol.Approval{
		ID: r.agent.config.NewID(), Session: record.Session, Turn: record.ID, Event: record.Event,
		Action: canonical, Hash: verdict.Hash, Reason: verdict.Reason, Asked: time.Now().UTC().Format(time.RFC3339),
		Once: verdict.OnceOnly,
	}
	if r.handed != nil {
		approval.Subagent, approval.Parent = r.handed.Label, r.handed.Session
	}
	r.describeApproval(ctx, &approval, verdict.Action)
	decided := r.agent.approvals.wait(approval.ID)
	defer r.agent.approvals.forget(approval.ID)
	if err := r.agent.config.Journal.Ask(ctx, approval); err != nil {
		return false, err
	}
	return r.await(ctx, approval, decided)
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
		return false, r.resumeQuestion(ctx, rows[0].ID)
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
	decided := r.agent.approvals.wait(id)
	defer r.agent.approvals.forget(id)
	approval, err := r.agent.config.Journal.Approval(ctx, id) // after wait: no decision falls between
	switch {
	case err != nil:
		return false, err
	case approval.Decision != "":
		r.agent.approvals.say(approval.ID, protocol.ApprovalDecideParams{
			ID: approval.ID, Decision: approval.Decision, Reason: approval.Comment, Edited: approval.Edited})
	case !approval.Closed.IsZero():
		return false, interruptedWaiting()
	}
	if err := r.pick(ctx); err != nil {
		return false, err
	}
	if err := r.tellUntold(ctx, approval.ID); err != nil {
		return false, err
	}
	return r.await(ctx, approval.Approval, decided)
}

// await waits for the decision on an approval and does what it says; policy
// judges the action again before it runs.
func (r *run) await(ctx context.Context, approval protocol.Approval, decided <-chan protocol.ApprovalDecideParams) (bool, error) {
	r.budget.pause()
	if err := r.waits(ctx, true); err != nil {
		return false, err
	}
	if err := r.turn.Ask(ctx, approval); err != nil {
		return false, err
	}
	r.log.Info("waiting for a decision", "approval", approval.ID, "reason", approval.Reason)
	var decision protocol.ApprovalDecideParams
	select {
	case decision = <-decided:
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
	r.turn.Asked(ctx, approval.ID)
	r.doing = time.Now() // what a person takes is not its time
	r.budget.resume()
	if err := r.waits(ctx, false); err != nil {
		return false, err
	}
	if decision.Decision == protocol.Deny {
		reason := "a person refused it"
		if decision.Reason != "" {
			reason += ": " + decision.Reason
		}
		r.goOn(ctx, approval.Action, result{verdict: "denied", text: reason})
		return false, nil
	}
	if decision.Edited != "" {
		return r.edited(ctx, decision.Edited)
	}
	action, err := readAction(approval.Action)
	if err != nil {
		return false, err
	}
	return r.decide(ctx, action, approval.Hash, false)
}

// edited does what a person wrote in place of a proposal: it is a new one, which
// the skill sees as well. What the skill rewrites is asked about again.
func (r *run) edited(ctx context.Context, text string) (bool, error) {
	proposal, err := readAction(text)
	if err != nil {
		return false, err
	}
	proposal, _ = policy.Strip(proposal)
	r.record(ctx, journal.KindProposal, map[string]any{"edited": true, "action": plist.Print(proposal)})
	action, refusal, err := r.symbolic(ctx, proposal)
	if err != nil {
		return false, err
	}
	if refusal != "" {
		return r.refused(ctx, plist.Print(proposal), errRefused(refusal), false)
	}
	return r.decide(ctx, action, r.agent.config.Policy.Judge(ctx, proposal, r.where()).Hash, false)
}
