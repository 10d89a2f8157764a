package service_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"org-agent/kernel/action"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/service"
)

// desk is what waits for a person, and what they decided.
type desk struct {
	approvals []protocol.Approval
	decided   []string
	judged    []policy.Where
}

func (d *desk) Pending(context.Context) ([]protocol.Approval, error) { return d.approvals, nil }

func (d *desk) Approval(_ context.Context, id string) (journal.Approval, error) {
	for _, a := range d.approvals {
		if a.ID == id {
			return journal.Approval{Approval: a}, nil
		}
	}
	return journal.Approval{}, protocol.Errorf(protocol.CodeNotFound, "there is no approval %s", id)
}

func (d *desk) Decide(_ context.Context, p protocol.ApprovalDecideParams, client string) (protocol.ApprovalDecideResult, error) {
	d.decided = append(d.decided, string(p.Decision)+" by "+client)
	return protocol.ApprovalDecideResult{}, nil
}

// Judge allows everything.
func (d *desk) Judge(_ context.Context, _ action.Action, where policy.Where) policy.Verdict {
	d.judged = append(d.judged, where)
	return policy.Verdict{Kind: policy.Allow}
}

// CheckClient finds that no text is what it was.
func (d *desk) CheckClient(_ context.Context, order kind.Order, _ action.Action) error {
	return errors.New("its text is another")
}

// edit is an action that changes a text.
const edit = `(:type :request :target :emacs :payload (:action :edit :file "notes.org" :old "a" :new "b"))`

func (d *desk) OpenQuestions(context.Context) ([]journal.Question, error) {
	return []journal.Question{{Question: protocol.Question{ID: "q"}}}, nil
}

func (d *desk) Answer(_ context.Context, p protocol.QuestionAnswerParams, client string) (protocol.QuestionAnswerResult, error) {
	d.decided = append(d.decided, p.ID+" answered by "+client)
	return protocol.QuestionAnswerResult{}, nil
}

func TestApprovals(t *testing.T) {
	long := strings.Repeat("ä", 600_000)
	d := &desk{approvals: []protocol.Approval{{ID: "a", Text: "short"}, {ID: "b", Text: long}, {ID: "c", Text: "short", Action: edit}}}
	conn := served(t, service.Approvals{Store: d, Decider: d, Judge: d, Kinds: d}.Methods(), service.Questions{Store: d, Answerer: d}.Methods())("a shell")

	var list protocol.ApprovalListResult
	if err := conn.Call(within(t), protocol.MethodApprovalList, protocol.Empty{}, &list); err != nil || len(list.Approvals) != 3 {
		t.Fatalf("%d wait, %v", len(list.Approvals), err)
	}
	size := 0
	for _, a := range list.Approvals {
		if size += len(a.Text); a.ID == "b" && a.Cut == 0 {
			t.Errorf("what is left out of %s is not told", a.ID)
		}
	}
	if size > 1<<20 {
		t.Errorf("the list has %d bytes of texts", size)
	}

	var whole strings.Builder
	for from := 0; ; {
		var part protocol.ApprovalGetResult
		if err := conn.Call(within(t), protocol.MethodApprovalGet, protocol.ApprovalGetParams{ID: "b", From: from}, &part); err != nil || part.Total != len(long) {
			t.Fatalf("%d bytes, %v", part.Total, err)
		}
		whole.WriteString(part.Text)
		if from = part.Next; from == 0 {
			break
		}
	}
	if whole.String() != long {
		t.Errorf("the parts are %d bytes together", whole.Len())
	}
	for _, from := range []int{-1, 1, len(long) + 1} {
		err := conn.Call(within(t), protocol.MethodApprovalGet, protocol.ApprovalGetParams{ID: "b", From: from}, nil)
		refused(t, "a part inside of a character", err, protocol.CodeInvalidParams, "is not where a character")
	}

	if err := conn.Call(within(t), protocol.MethodApprovalDecide, protocol.ApprovalDecideParams{ID: "a", Decision: protocol.Deny}, nil); err != nil {
		t.Error(err)
	}
	err := conn.Call(within(t), protocol.MethodApprovalDecide, protocol.ApprovalDecideParams{ID: "c", Decision: protocol.AllowOnce}, nil)
	refused(t, "what could not be done", err, protocol.CodeStale, "its text is another")
	var check protocol.ApprovalCheckResult
	if err := conn.Call(within(t), protocol.MethodApprovalCheck, protocol.ApprovalCheckParams{ID: "c"}, &check); err != nil || check.Stale != "its text is another" || len(d.judged) != 2 {
		t.Errorf("%+v, %v, judged %d times", check, err, len(d.judged))
	}
	var questions protocol.QuestionListResult
	if err := conn.Call(within(t), protocol.MethodQuestionList, protocol.Empty{}, &questions); err != nil || len(questions.Questions) != 1 {
		t.Errorf("%+v, %v", questions, err)
	}
	if err := conn.Call(within(t), protocol.MethodQuestionAnswer, protocol.QuestionAnswerParams{ID: "q"}, nil); err != nil {
		t.Error(err)
	}
	if got := strings.Join(d.decided, ", "); got != "deny by a shell, q answered by a shell" {
		t.Errorf("decided is %q", got)
	}
}
