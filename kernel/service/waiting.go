package service

import (
	"context"

	"org-agent/kernel/action"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/text"
)

// How many bytes of actions and texts one list of approvals has, and one part of an approval.
const (
	approvalsLimit = 1 << 20
	approvalPart   = 1 << 20
)

// Approvals answers what waits for a person's decision, and takes decisions.
type Approvals struct {
	Store   ApprovalStore
	Decider Decider
	Judge   Judge
	Kinds   ClientChecker
}

// ApprovalStore keeps approvals.
type ApprovalStore interface {
	Pending(ctx context.Context) ([]protocol.Approval, error)
	Approval(ctx context.Context, id string) (journal.Approval, error)
}

// Decider takes a decision of the client of that name.
type Decider interface {
	Decide(ctx context.Context, p protocol.ApprovalDecideParams, client string) (protocol.ApprovalDecideResult, error)
}

// Judge says what the policy does with an action now.
type Judge interface {
	Judge(ctx context.Context, a action.Action, where policy.Where) policy.Verdict
}

// ClientChecker asks whoever would do an action whether it could.
type ClientChecker interface {
	CheckClient(ctx context.Context, order kind.Order, a action.Action) error
}

// Methods lists what is answered.
func (a Approvals) Methods() []Method {
	return []Method{
		{protocol.MethodApprovalList, For(a.list)},
		{protocol.MethodApprovalGet, For(a.part)},
		{protocol.MethodApprovalCheck, For(a.check)},
		{protocol.MethodApprovalDecide, ForClient(a.decide)},
	}
}

// list is what waits, the oldest first. Behind a megabyte, actions and texts are left out.
func (a Approvals) list(ctx context.Context, _ protocol.Empty) (protocol.ApprovalListResult, error) {
	pending, err := a.Store.Pending(ctx)
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

// part is a part of an approval, pending or not, so that all of it can be seen.
func (a Approvals) part(ctx context.Context, p protocol.ApprovalGetParams) (protocol.ApprovalGetResult, error) {
	approval, err := a.Store.Approval(ctx, p.ID)
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

func (a Approvals) decide(ctx context.Context, client *rpc.Client, p protocol.ApprovalDecideParams) (protocol.ApprovalDecideResult, error) {
	if err := a.checkFresh(ctx, p); err != nil {
		return protocol.ApprovalDecideResult{}, err
	}
	return a.Decider.Decide(ctx, p, client.Info().Name)
}

// check tells whether what waits could be done as things are.
func (a Approvals) check(ctx context.Context, p protocol.ApprovalCheckParams) (protocol.ApprovalCheckResult, error) {
	approval, err := a.Store.Approval(ctx, p.ID)
	if err != nil {
		return protocol.ApprovalCheckResult{}, err
	}
	return protocol.ApprovalCheckResult{Stale: a.stale(ctx, approval, approval.Action)}, nil
}

// checkFresh refuses a decision to do what could not be done, which then waits on: what a
// person allowed would only fail.
func (a Approvals) checkFresh(ctx context.Context, p protocol.ApprovalDecideParams) error {
	if p.Decision == protocol.Deny {
		return nil
	}
	approval, err := a.Store.Approval(ctx, p.ID)
	if err != nil || approval.Decision != "" || !approval.Closed.IsZero() {
		return nil // the decision itself says so
	}
	action := approval.Action
	if p.Edited != "" {
		action = p.Edited
	}
	if stale := a.stale(ctx, approval, action); stale != "" {
		return protocol.Errorf(protocol.CodeStale, "it cannot be done as things are, and waits on: %s", stale)
	}
	return nil
}

// stale judges what waits as things are, and asks whoever would do it whether it could. The answer
// is what is in the way, "" when nothing is and when nobody says.
func (a Approvals) stale(ctx context.Context, approval journal.Approval, text string) string {
	waits, err := action.Read(text)
	if err != nil {
		return "" // whoever carries it out says so
	}
	judged := a.Judge.Judge(ctx, waits.Action(), policy.Where{Session: approval.Session, Turn: approval.Turn})
	switch {
	case judged.Kind != policy.Refuse:
	case judged.Failure != nil && judged.Failure.Code == protocol.ToolChanged:
		return judged.Failure.Message
	default:
		return "" // it is judged again when it is done
	}
	order := kind.Order{ID: approval.ID, Session: approval.Session, Turn: approval.Turn, Event: approval.Event}
	if inTheWay := a.Kinds.CheckClient(ctx, order, judged.Action); inTheWay != nil {
		return inTheWay.Error()
	}
	return ""
}

// Questions answers what waits for a person's answer, and takes answers.
type Questions struct {
	Store    QuestionStore
	Answerer Answerer
}

// QuestionStore keeps questions.
type QuestionStore interface {
	OpenQuestions(ctx context.Context) ([]journal.Question, error)
}

// Answerer takes an answer of the client of that name.
type Answerer interface {
	Answer(ctx context.Context, p protocol.QuestionAnswerParams, client string) (protocol.QuestionAnswerResult, error)
}

// Methods lists what is answered.
func (q Questions) Methods() []Method {
	return []Method{
		{protocol.MethodQuestionList, For(q.list)},
		{protocol.MethodQuestionAnswer, ForClient(q.answer)},
	}
}

// list is what waits, the oldest first.
func (q Questions) list(ctx context.Context, _ protocol.Empty) (protocol.QuestionListResult, error) {
	open, err := q.Store.OpenQuestions(ctx)
	var result protocol.QuestionListResult
	for _, question := range open {
		result.Questions = append(result.Questions, question.Question)
	}
	return result, err
}

func (q Questions) answer(ctx context.Context, client *rpc.Client, p protocol.QuestionAnswerParams) (protocol.QuestionAnswerResult, error) {
	return q.Answerer.Answer(ctx, p, client.Info().Name)
}
