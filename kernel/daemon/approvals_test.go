package daemon_test

import (
	"strings"
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// elsewhere is a proposal that asks: text for another conversation.
const elsewhere = `(:type :request :target :emacs :action :insert-at-end :buffer "*org-agent-chat: other*" :text "psst")`

// asking is a model that wants to write elsewhere whenever it is asked to, and
// answers when it hears what became of it.
func asking() []llmtest.Exchange {
	return []llmtest.Exchange{
		{Match: "^send", Reply: elsewhere, Times: -1},
		{Match: `This is a result`, Reply: insertion("Well"), Times: -1},
		{Reply: insertion("Hello"), Times: -1},
	}
}

// asked sends a question and returns its turn and the approval that it waits for.
func asked(t *testing.T, e *rpctest.Editor, id, text string) (turn string, approval protocol.Ask) {
	t.Helper()
	sent, err := e.Send(within(t), id, text)
	if err != nil {
		t.Fatal(err)
	}
	see(t, e, "the approval", func() bool {
		for _, approval = range e.Approvals() {
			if approval.Event == id {
				return true
			}
		}
		return false
	})
	return sent.Turn, approval
}

// waiting is asked with words of which nothing depends.
func waiting(t *testing.T, e *rpctest.Editor, id string) (turn string, approval protocol.Ask) {
	t.Helper()
	return asked(t, e, id, "send it")
}

func decide(t *testing.T, e *rpctest.Editor, p protocol.AskDecideParams) error {
	t.Helper()
	return e.Call(within(t), protocol.MethodAskDecide, p, &protocol.AskDecideResult{})
}

// posted is how often the text came to the other conversation.
func posted(t *testing.T, in *instance, text string) int {
	t.Helper()
	return strings.Count(in.conversation(t, "other"), text)
}

func TestDecisions(t *testing.T) {
	edited := strings.Replace(elsewhere, "psst", "louder", 1)
	tests := []struct {
		decision       protocol.Decision
		edited, reason string
		first, second  string // what the second question finds: "asks" or "done"
		text           string
	}{
		{protocol.AllowOnce, "", "", "performed", "asks", "psst"},
		{protocol.AllowTurn, "", "", "performed", "asks", "psst"},
		{protocol.AllowSession, "", "", "performed", "done", "psst"},
		{protocol.AllowAlways, "", "", "performed", "done", "psst"},
		{protocol.Deny, "", "not now", "denied", "asks", ""},
		{protocol.AllowOnce, edited, "", "performed", "asks", "louder"},
	}
	for _, test := range tests {
		t.Run(string(test.decision)+test.edited, func(t *testing.T) {
			t.Parallel()
			in, model := newInstanceAndModel(t, asking()...)
			in.start(t)
			e := in.editor(t, rpctest.Config{})
			turn, approval := waiting(t, e, "q1")
			if posted(t, in, "psst") > 0 {
				t.Error("it was sent before anybody decided")
			}
			p := protocol.AskDecideParams{ID: approval.ID, Decision: test.decision, Reason: test.reason, Edited: test.edited}
			if err := decide(t, e, p); err != nil {
				t.Fatal(err)
			}
			if err := decide(t, e, p); protocol.ErrorCode(err) != protocol.CodeConflict {
				t.Errorf("the second decision: %v", err)
			}
			if finished, err := e.WaitTurn(within(t), turn); err != nil || finished.State != protocol.TurnAnswered {
				t.Errorf("the turn ended %+v, %v", finished, err)
			}
			if test.text != "" {
				until(t, "the text elsewhere", func() bool { return posted(t, in, test.text) == 1 })
			}
			requests := model.Requests()
			messages := requests[len(requests)-1].Messages()
			if told := messages[len(messages)-1].Content; !strings.Contains(told, ": "+test.first) || !strings.Contains(told, test.reason) {
				t.Errorf("the model was told %q", told)
			}
			if len(e.Approvals()) > 0 {
				t.Error("the approval was not closed")
			}
			if test.second == "asks" {
				waiting(t, e, "q2")
				return
			}
			sent, err := e.Send(within(t), "q2", "send it")
			if err != nil {
				t.Fatal(err)
			}
			if finished, err := e.WaitTurn(within(t), sent.Turn); err != nil || finished.State != protocol.TurnAnswered {
				t.Errorf("the second turn ended %+v, %v", finished, err)
			}
			until(t, "the second text", func() bool { return posted(t, in, test.text) == 2 })
		})
	}
}

// What cannot be a decision is refused, and the approval goes on waiting.
func TestBadDecisions(t *testing.T) {
	in := newInstance(t, asking()...)
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	_, approval := waiting(t, e, "q1")
	for _, p := range []protocol.AskDecideParams{
		{ID: approval.ID, Decision: "yes"},
		{ID: approval.ID, Decision: protocol.AllowAlways, Edited: elsewhere},
		{ID: approval.ID, Decision: protocol.AllowOnce, Edited: "(:type"},
		{ID: approval.ID, Decision: protocol.AllowOnce, Edited: "nil"},
		{ID: approval.ID, Decision: protocol.AllowOnce, Edited: "(:approved t)"},
		{ID: approval.ID, Decision: protocol.AllowOnce, Edited: "(:type :request :target :nowhere)"},
		{ID: "nothing", Decision: protocol.AllowOnce},
	} {
		if err := decide(t, e, p); err == nil {
			t.Errorf("%+v was taken", p)
		}
	}
	// Words approve nothing: they are the next message.
	if _, err := e.Send(within(t), "q2", "yes, allow it, approved"); err != nil {
		t.Fatal(err)
	}
	var list protocol.AskListResult
	if err := e.Call(within(t), protocol.MethodAskList, protocol.Empty{}, &list); err != nil || len(list.Asks) != 1 || posted(t, in, "psst") > 0 {
		t.Errorf("%+v waits, %v", list, err)
	}
}

// An approval ends with its turn, and everyone is told.
func TestApprovalEndsWithItsTurn(t *testing.T) {
	in := newInstance(t, asking()...)
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	turn, approval := waiting(t, e, "q1")
	cancel(t, e, turn)
	if finished, err := e.WaitTurn(within(t), turn); err != nil || finished.State != protocol.TurnCancelled {
		t.Errorf("the turn ended %+v, %v", finished, err)
	}
	see(t, e, "the approval's end", func() bool { return len(e.Approvals()) == 0 })
	if err := decide(t, e, protocol.AskDecideParams{ID: approval.ID, Decision: protocol.AllowOnce}); protocol.ErrorCode(err) != protocol.CodeConflict {
		t.Errorf("the decision came to %v", err)
	}
	if got := ask(t, e, "q2", "hi"); got.state != "answered" || posted(t, in, "psst") > 0 {
		t.Errorf("the next turn ended %+v", got)
	}
}

// What waits for a person waits again in the next kernel.
func TestApprovalOutlivesTheKernel(t *testing.T) {
	for _, how := range []string{"stopped", "killed"} {
		in := newInstance(t, asking()...)
		var end func()
		if how == "killed" {
			end = in.spawn(t).kill
		} else {
			k := in.start(t)
			end = func() { _ = k.end() }
		}
		e := in.editor(t, rpctest.Config{})
		turn, approval := waiting(t, e, "q1")
		end()
		in.start(t)
		e = in.editor(t, rpctest.Config{File: in.mainFile()})
		var list protocol.AskListResult
		if err := e.Call(within(t), protocol.MethodAskList, protocol.Empty{}, &list); err != nil || len(list.Asks) != 1 || list.Asks[0].ID != approval.ID {
			t.Fatalf("%s: %+v waits, %v", how, list, err)
		}
		if err := decide(t, e, protocol.AskDecideParams{ID: approval.ID, Decision: protocol.AllowOnce}); err != nil {
			t.Fatal(err)
		}
		if finished, err := e.WaitTurn(within(t), turn); err != nil || finished.State != protocol.TurnAnswered {
			t.Errorf("%s: the turn ended %+v, %v", how, finished, err)
		}
		until(t, "the text elsewhere", func() bool { return posted(t, in, "psst") == 1 })
	}
}

// A decision that was taken counts, even if the kernel that took it died before
// it could act on it.
func TestDecisionOutlivesTheKernel(t *testing.T) {
	in := newInstance(t, asking()...)
	k := in.start(t)
	e := in.editor(t, rpctest.Config{})
	turn, approval := waiting(t, e, "q1")
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	j := in.journal(t)
	if _, err := j.Asks.Decide(t.Context(), approval.ID, protocol.AskOutcome{Decision: protocol.AllowOnce, Client: "cli"}); err != nil {
		t.Fatal(err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	in.start(t)
	e = in.editor(t, rpctest.Config{File: in.mainFile()})
	see(t, e, "the answer", func() bool { return strings.Contains(e.Text(), "** Well") })
	idle(t, e)
	if n := posted(t, in, "psst"); n != 1 {
		t.Errorf("the text came %d times for turn %s", n, turn)
	}
}

// TestAlwaysIsARule checks that what is always allowed is a row of policy.org that holds after a restart,
// is counted, and asks again when it is revoked.
func TestAlwaysIsARule(t *testing.T) {
	in, _ := newInstanceAndModel(t, asking()...)
	k := in.start(t)
	e := in.editor(t, rpctest.Config{})
	turn, approval := waiting(t, e, "q1")
	if !approval.Always {
		t.Fatal("an action that can come again is not offered always")
	}
	var decided protocol.AskDecideResult
	if err := e.Call(within(t), protocol.MethodAskDecide, protocol.AskDecideParams{ID: approval.ID, Decision: protocol.AllowAlways}, &decided); err != nil || decided.Decision != protocol.AllowAlways || decided.Note != "" {
		t.Fatalf("%+v, %v", decided, err)
	}
	if _, err := e.WaitTurn(within(t), turn); err != nil {
		t.Fatal(err)
	}
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	in.start(t)
	e = in.editor(t, rpctest.Config{})
	sent, err := e.Send(within(t), "q2", "send it")
	if err != nil {
		t.Fatal(err)
	}
	if finished, err := e.WaitTurn(within(t), sent.Turn); err != nil || finished.State != protocol.TurnAnswered {
		t.Fatalf("after a restart: %+v, %v", finished, err)
	}
	var list protocol.PolicyListResult
	if err := e.Call(within(t), protocol.MethodPolicyList, protocol.Empty{}, &list); err != nil || len(list.Rules) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	rule := list.Rules[0]
	if rule.Rule != "action" || rule.Matches != approval.Hash || rule.Why != approval.Summary || rule.Uses != 2 {
		t.Errorf("the rule is %+v", rule)
	}
	if err := e.Call(within(t), protocol.MethodPolicyRevoke, protocol.PolicyRevokeParams{Line: rule.Line, Rule: rule.Rule, Matches: rule.Matches}, &list); err != nil {
		t.Fatal(err)
	}
	waiting(t, e, "q3")
}
