package service_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/action"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/service"
)

// fakeDesk holds asks, and records the decisions and the judged actions.
type fakeDesk struct {
	asks    []protocol.Ask
	decided []string
	judged  []policy.Where
}

func (d *fakeDesk) OpenAsks(context.Context) ([]protocol.Ask, error) { return d.asks, nil }

func (d *fakeDesk) Ask(_ context.Context, id string) (protocol.Ask, error) {
	for _, a := range d.asks {
		if a.ID == id {
			return a, nil
		}
	}
	return protocol.Ask{}, protocol.Errorf(protocol.CodeNotFound, "there is no approval %s", id)
}

func (d *fakeDesk) Decide(_ context.Context, p protocol.AskDecideParams, edited action.Proposed, client string) (protocol.AskDecideResult, error) {
	d.decided = append(d.decided, strings.TrimSpace(string(p.Decision)+" by "+client+" "+edited.String()))
	return protocol.AskDecideResult{}, nil
}

// Judge allows everything.
func (d *fakeDesk) Judge(_ context.Context, a action.Action, where policy.Where) policy.Verdict {
	d.judged = append(d.judged, where)
	return policy.Verdict{Kind: policy.Allow, Action: a}
}

// CheckClient reports for every action of Emacs that its text has changed.
func (d *fakeDesk) CheckClient(_ context.Context, order kind.Order, a action.Action) error {
	if a.Target() != "emacs" {
		return nil
	}
	return errors.New("its text is another")
}

// Stale reports of every call of edit that its file has changed.
func (d *fakeDesk) Stale(_ context.Context, name string, arguments protocol.Object) error {
	if name != "edit" {
		return nil
	}
	return fmt.Errorf("%s has changed", arguments.Text("path"))
}

// callEdit is a call of a tool that changes a text.
const callEdit = `(:type :request :target :tool :payload (:action :call :tool "edit" :args (:path "/a" :old "a" :new "b")))`

// edit is an action that changes a text.
const edit = `(:type :request :target :emacs :payload (:action :edit :file "notes.org" :old "a" :new "b"))`

func TestAsks(t *testing.T) {
	long := strings.Repeat("ä", 600_000)
	approval := func(id, text, action string) protocol.Ask {
		return protocol.Ask{ID: id, Sort: protocol.AskApproval, PendingAction: protocol.PendingAction{Text: text, Action: action}}
	}
	d := &fakeDesk{asks: []protocol.Ask{approval("a", "short", ""), approval("b", long, ""), approval("c", "short", edit), approval("t", "short", callEdit),
		{ID: "q", Sort: protocol.AskQuestion, Act: "act", PendingAction: protocol.PendingAction{Action: edit}}}}
	conn := serve(t, service.Asks{Store: d, Decider: d, Judge: d, Kinds: d, Tools: d}.Methods())("a shell")

	var list protocol.AskListResult
	if err := conn.Call(within(t), protocol.MethodAskList, protocol.Empty{}, &list); err != nil || len(list.Asks) != 5 {
		t.Fatalf("%d wait, %v", len(list.Asks), err)
	}
	size := 0
	for _, a := range list.Asks {
		if size += len(a.Text); a.ID == "b" && a.Cut == 0 {
			t.Errorf("the list does not show how much of %s it omits", a.ID)
		}
	}
	if size > 1<<20 {
		t.Errorf("the list has %d bytes of texts", size)
	}

	var whole strings.Builder
	for from := 0; ; {
		var part protocol.AskGetResult
		if err := conn.Call(within(t), protocol.MethodAskGet, protocol.AskGetParams{ID: "b", From: from}, &part); err != nil || part.Total != len(long) {
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
		err := conn.Call(within(t), protocol.MethodAskGet, protocol.AskGetParams{ID: "b", From: from}, nil)
		wantError(t, "a part inside of a character", err, protocol.CodeInvalidParams, "no character begins at byte")
	}

	if err := conn.Call(within(t), protocol.MethodAskDecide, protocol.AskDecideParams{ID: "a", Decision: protocol.Deny}, nil); err != nil {
		t.Error(err)
	}
	err := conn.Call(within(t), protocol.MethodAskDecide, protocol.AskDecideParams{ID: "c", Decision: protocol.AllowOnce}, nil)
	wantError(t, "what could not be done", err, protocol.CodeStale, "its text is another")
	var check protocol.AskCheckResult
	if err := conn.Call(within(t), protocol.MethodAskCheck, protocol.AskCheckParams{ID: "c"}, &check); err != nil || check.Stale != "its text is another" || len(d.judged) != 2 {
		t.Errorf("%+v, %v, judged %d times", check, err, len(d.judged))
	}
	err = conn.Call(within(t), protocol.MethodAskDecide, protocol.AskDecideParams{ID: "t", Decision: protocol.AllowOnce}, nil)
	wantError(t, "a call of a tool that would change nothing", err, protocol.CodeStale, "/a has changed")
	if err := conn.Call(within(t), protocol.MethodAskCheck, protocol.AskCheckParams{ID: "t"}, &check); err != nil || check.Stale != "/a has changed" {
		t.Errorf("%+v, %v", check, err)
	}
	if q := list.Asks[4]; q.ID != "q" || q.Action != "" || q.Act != "" {
		t.Errorf("the question is sent as %+v", q)
	}
	if err := conn.Call(within(t), protocol.MethodAskDecide, protocol.AskDecideParams{ID: "q", Decision: protocol.Answered}, nil); err != nil {
		t.Error(err)
	}
	err = conn.Call(within(t), protocol.MethodAskDecide, protocol.AskDecideParams{ID: "a", Decision: protocol.AllowOnce, Edited: "(:type"}, nil)
	wantError(t, "what cannot be read", err, protocol.CodeInvalidParams, "the edited action cannot be read")
	if err := conn.Call(within(t), protocol.MethodAskDecide, protocol.AskDecideParams{ID: "a", Decision: protocol.Deny, Edited: "(:type :log :text \"x\")"}, nil); err != nil {
		t.Error(err)
	}
	if got := strings.Join(d.decided, ", "); got != `deny by cli nil, answered by cli nil, deny by cli (:type :log :text "x")` {
		t.Errorf("decided is %q", got)
	}
}
