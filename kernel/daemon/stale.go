package daemon

import (
	"context"

	"org-agent/kernel/action"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// checkApproval tells whether what waits could be done as things are.
func (d *daemon) checkApproval(ctx context.Context, p protocol.ApprovalCheckParams) (protocol.ApprovalCheckResult, error) {
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

// stale judges what waits as things are, and asks whoever would do it whether it could. The answer
// is what is in the way, "" when nothing is and when nobody says.
func (d *daemon) stale(ctx context.Context, approval journal.Approval, text string) (string, error) {
	waits, err := action.Read(text)
	if err != nil {
		return "", nil // whoever carries it out says so
	}
	judged := d.policy.Judge(ctx, waits.Action(), policy.Where{Session: approval.Session, Turn: approval.Turn})
	switch {
	case judged.Kind != policy.Refuse:
	case judged.Failure != nil && judged.Failure.Code == protocol.ToolChanged:
		return judged.Failure.Message, nil
	default:
		return "", nil // it is judged again when it is done
	}
	order := kind.Order{ID: approval.ID, Session: approval.Session, Turn: approval.Turn, Event: approval.Event}
	if inTheWay := d.kinds.CheckClient(ctx, order, judged.Action); inTheWay != nil {
		return inTheWay.Error(), nil
	}
	return "", nil
}
