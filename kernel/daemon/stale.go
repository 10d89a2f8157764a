package daemon

import (
	"context"
	"slices"

	"github.com/chewxy/sexp"

	"org-agent/kernel/act"
	"org-agent/kernel/journal"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

// checkApproval tells whether what waits could be done as things are.
func (d *daemon) checkApproval(ctx context.Context, _ *rpc.Client, p *protocol.ApprovalCheckParams) (protocol.ApprovalCheckResult, error) {
	approval, err := d.journal.Approval(ctx, p.ID)
	if err != nil {
		return protocol.ApprovalCheckResult{}, err
	}
	stale, err := d.stale(ctx, approval, approval.Action)
	return protocol.ApprovalCheckResult{Stale: stale}, err
}

// checkFresh refuses a decision to do what could not be done, which then waits on: what a
// person allowed would only fail.
func (d *daemon) checkFresh(ctx context.Context, p protocol.ApprovalDecideParams) error {
	if p.Decision == protocol.Deny {
		return nil
	}
	approval, err := d.journal.Approval(ctx, p.ID)
	if err != nil || approval.Decision != "" || !approval.Closed.IsZero() {
		return nil // the decision itself says so
	}
	action := approval.Action
	if p.Edited != "" {
		action = p.Edited
	}
	stale, err := d.stale(ctx, approval, action)
	if err != nil || stale == "" {
		return err
	}
	return protocol.Errorf(protocol.CodeStale, "it cannot be done as things are, and waits on: %s", stale)
}

// stale asks the Emacs that would change a text whether it could. The answer is what is in
// the way, "" when nothing is, when nobody says, and for what changes no text.
func (d *daemon) stale(ctx context.Context, approval journal.Approval, text string) (string, error) {
	read, err := plist.Read(text)
	action, isList := read.(sexp.List)
	if err != nil || !isList {
		return "", nil // whoever carries it out says so
	}
	judged := d.policy.Judge(ctx, action, policy.Where{Session: approval.Session, Turn: approval.Turn})
	target, name := judged.Target()
	if target == "tool" && judged.Kind == policy.Refuse && judged.Failure != nil && judged.Failure.Code == protocol.ToolChanged {
		return judged.Failure.Message, nil
	}
	if target != "emacs" || !slices.Contains(settled[:], name) || judged.Kind == policy.Refuse {
		return "", nil
	}
	if d.editors.choose(approval.Event, name) == nil {
		return "no Emacs is connected that could make the change: open one, and decide then", nil
	}
	order := act.Order{ID: approval.ID, Session: approval.Session, Turn: approval.Turn, Event: approval.Event}
	if inTheWay := act.Emacs(&d.editors).Check(ctx, order, judged.Action); inTheWay != nil {
		return inTheWay.Error(), nil
	}
	return "", nil
}
