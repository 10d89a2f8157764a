package agent

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// waiting is the turns that wait for a person, by the approval's id. The zero
// value is ready.
type waiting struct {
	mu    sync.Mutex
	turns map[string]chan protocol.ApprovalDecideParams
}

// wait registers an approval; the channel gets the one decision.
func (w *waiting) wait(id string) <-chan protocol.ApprovalDecideParams {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.turns == nil {
		w.turns = map[string]chan protocol.ApprovalDecideParams{}
	}
	decided := make(chan protocol.ApprovalDecideParams, 1)
	w.turns[id] = decided
	return decided
}

func (w *waiting) forget(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.turns, id)
}

func (w *waiting) decide(p protocol.ApprovalDecideParams) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if decided := w.turns[p.ID]; decided != nil {
		decided <- p // has room: an approval is decided once
	}
}

// Decide records a person's decision and lets the turn go on. Only a client
// with the token may call it. The error of a second decision has
// [protocol.CodeConflict].
func (a *Agent) Decide(ctx context.Context, p protocol.ApprovalDecideParams) (protocol.ApprovalDecideResult, error) {
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
		if _, err := readAction(p.Edited); err != nil {
			return none, protocol.Errorf(protocol.CodeInvalidParams, "the edited action cannot be read: %v", err)
		}
	}
	if _, err := a.config.Journal.Decide(ctx, p.ID, p.Decision, p.Reason, p.Edited); err != nil {
		return none, err
	}
	a.approvals.decide(p)
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
	}
	decided := r.agent.approvals.wait(approval.ID)
	defer r.agent.approvals.forget(approval.ID)
	if err := r.agent.config.Journal.Ask(ctx, approval); err != nil {
		return false, err
	}
	return r.await(ctx, approval, decided)
}

// resume waits again for what was asked before the kernel was started anew.
func (r *run) resume(ctx context.Context) (bool, error) {
	pending, err := r.agent.config.Journal.Pending(ctx)
	if err != nil {
		return false, err
	}
	for _, approval := range pending {
		if approval.Turn != r.turn.Record.ID {
			continue
		}
		if err := r.pick(ctx); err != nil {
			return false, err
		}
		decided := r.agent.approvals.wait(approval.ID)
		defer r.agent.approvals.forget(approval.ID)
		return r.await(ctx, approval, decided)
	}
	return false, ended{protocol.TurnInterrupted, "the kernel ended while this waited for your decision"}
}

// await waits for the decision on an approval and does what it says; policy
// judges the action again before it runs.
func (r *run) await(ctx context.Context, approval protocol.Approval, decided <-chan protocol.ApprovalDecideParams) (bool, error) {
	if err := r.turn.Waiting(ctx, true); err != nil {
		return false, err
	}
	r.turn.Notify(protocol.MethodApprovalAsked, approval)
	r.log.Info("waiting for a decision", "approval", approval.ID, "reason", approval.Reason)
	var decision protocol.ApprovalDecideParams
	select {
	case decision = <-decided:
	case <-ctx.Done():
		return false, context.Cause(ctx)
	}
	r.turn.Notify(protocol.MethodApprovalClosed, protocol.ApprovalClosed{ID: approval.ID, Session: approval.Session, Decision: decision.Decision})
	if err := r.turn.Waiting(ctx, false); err != nil {
		return false, err
	}
	if decision.Decision == protocol.Deny {
		reason := "a person refused it"
		if decision.Reason != "" {
			reason += ": " + decision.Reason
		}
		r.goOn(approval.Action, result{verdict: "denied", text: reason})
		return false, nil
	}
	text, granted := approval.Action, approval.Hash
	if decision.Edited != "" {
		text = decision.Edited
	}
	action, err := readAction(text)
	if err != nil {
		return false, err
	}
	if decision.Edited != "" {
		granted = r.agent.config.Policy.Judge(action, r.where()).Hash
	}
	return r.decide(ctx, action, granted, false)
}
