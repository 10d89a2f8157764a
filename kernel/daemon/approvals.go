package daemon

import (
	"context"

	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/text"
)

// approvals answers what waits, oldest first.
func (d *daemon) approvals(ctx context.Context, _ *rpc.Client, _ *protocol.Empty) (protocol.ApprovalListResult, error) {
	pending, err := d.journal.Pending(ctx)
	var result protocol.ApprovalListResult
	size := 0
	for _, approval := range pending {
		approval = approval.Shown()
		if size += len(approval.Action) + len(approval.Text); size > approvalsLimit {
			approval.Cut += len(approval.Action) + len(approval.Text)
			approval.Action, approval.Text = "", ""
		}
		result.Approvals = append(result.Approvals, approval)
	}
	return result, err
}

// How many bytes of actions and texts one list has, and one part of an approval.
const (
	approvalsLimit = 1 << 20
	approvalPart   = 1 << 20
)

// approvalPart answers a part of an approval, pending or not, so that all of it can be seen.
func (d *daemon) approvalPart(ctx context.Context, _ *rpc.Client, p *protocol.ApprovalGetParams) (protocol.ApprovalGetResult, error) {
	approval, err := d.journal.Approval(ctx, p.ID)
	if err != nil {
		return protocol.ApprovalGetResult{}, err
	}
	whole := approval.Text
	if p.Action {
		whole = approval.Action
	}
	if p.From < 0 || p.From > len(whole) || p.From < len(whole) && whole[p.From]&0xc0 == 0x80 {
		return protocol.ApprovalGetResult{}, protocol.Errorf(protocol.CodeInvalidParams,
			"byte %d is not where a character of %d bytes begins: go on from the :next of the part before", p.From, len(whole))
	}
	part := text.Prefix(whole[p.From:], approvalPart)
	result := protocol.ApprovalGetResult{Text: part, Total: len(whole)}
	if next := p.From + len(part); next < len(whole) {
		result.Next = next
	}
	return result, nil
}

// decide takes a person's decision.
func (d *daemon) decide(ctx context.Context, client *rpc.Client, p *protocol.ApprovalDecideParams) (protocol.ApprovalDecideResult, error) {
	if err := d.checkFresh(ctx, *p); err != nil {
		return protocol.ApprovalDecideResult{}, err
	}
	return d.agent.Decide(ctx, *p, client.Info().Name)
}
