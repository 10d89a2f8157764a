package daemon_test

import (
	"context"
	"strings"
	"testing"

	"org-agent/kernel/act"
	"org-agent/kernel/action"
	"org-agent/kernel/daemon"
	"org-agent/kernel/describe"
	"org-agent/kernel/kind"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// shelve is a kind of action that nothing but this value knows.
func shelve(d act.Deps) kind.Kind {
	return act.InEditor(d, kind.Kind{
		Spec: action.Spec{Target: "emacs", Name: "shelve", Does: "to put a book on a shelf", Fields: []action.Field{
			{Name: "book", Kind: action.Text, Required: true, Example: plist.String("<title>")}, {Name: "shelf", Kind: action.Integer}}},
		Judge: func(_ context.Context, _ *policy.Turn, a action.Action) policy.Verdict {
			if a.Text("book") == "Necronomicon" {
				return policy.Refused("that book stays shut")
			}
			return policy.Verdict{Kind: policy.Ask, Reason: "it moves a book"}
		},
		Describe: func(a action.Action, _ describe.Deps) describe.Description {
			return describe.Description{Summary: "Shelve " + a.Text("book"), Language: "text", Text: a.Text("book") + "\n", Effects: []string{"it stands elsewhere then"}}
		},
		Undo: func(a action.Action, receipt protocol.Receipt) ([]protocol.Change, []string) {
			return []protocol.Change{{File: receipt.File, Old: "the desk", New: a.Text("book")}}, nil
		},
	}, false)
}

// TestAnotherKind: a kind of action is one value in one list, and a performer that a client
// announces. It is offered, checked, judged, described, approved, performed by that client, taken
// back and explained; nothing else knows of it.
func TestAnotherKind(t *testing.T) {
	const proposal = `(:type :request :target :emacs :action :shelve :book "Moby-Dick" :shelf 3)`
	in, model := newInstanceAndModel(t,
		llmtest.Exchange{Match: "^shelve it", Reply: `(:type :request :target :emacs :action :shelve :shelf "high")`},
		llmtest.Exchange{Match: "needs :book", Reply: `(:type :request :target :emacs :action :shelve :book "Necronomicon")`},
		llmtest.Exchange{Match: "stays shut", Reply: proposal},
		llmtest.Exchange{Match: `:verdict :performed`, Reply: insertion("* Done")})
	in.startWith(t, daemon.Config{Kinds: func(d act.Deps) []kind.Kind { return []kind.Kind{shelve(d)} }})
	var performed []protocol.Act
	e := in.editor(t, rpctest.Config{Actions: []string{"shelve"}, Perform: func(a protocol.Act) (protocol.Receipt, error) {
		performed = append(performed, a)
		return protocol.Receipt{Done: true, File: "/shelves/3"}, nil
	}})
	other := in.editor(t, rpctest.Config{Actions: []string{"edit"}, Perform: func(a protocol.Act) (protocol.Receipt, error) {
		t.Errorf("a client that does not announce it is to perform %v", a.Payload)
		return protocol.Receipt{}, nil
	}})
	turn, approval := asked(t, e, "q1", "shelve it")
	if told, _ := systems(model); !strings.Contains(told[0], `- to put a book on a shelf: (:type :REQUEST :target :emacs :action :shelve :book "<title>")`) {
		t.Errorf("it is not offered in\n%s", told[0])
	}
	if approval.Summary != "Shelve Moby-Dick" || approval.Text != "Moby-Dick\n" || approval.Reason != "it moves a book" || len(approval.Effects) == 0 {
		t.Errorf("it is shown as %+v", approval)
	}
	if err := decide(t, other, protocol.AskDecideParams{ID: approval.ID, Decision: protocol.AllowOnce}); err != nil {
		t.Fatal(err)
	}
	if finished, err := e.WaitTurn(within(t), turn); err != nil || finished.State != protocol.TurnAnswered {
		t.Fatalf("the turn ended %+v, %v", finished, err)
	}
	if len(performed) != 1 || performed[0].Payload.Text("book") != "Moby-Dick" || performed[0].Payload.Get("shelf") != int64(3) {
		t.Fatalf("performed was %+v", performed)
	}
	var told protocol.TurnChangesResult
	if err := e.Call(within(t), protocol.MethodTurnChanges, protocol.TurnChangesParams{ID: turn}, &told); err != nil {
		t.Fatal(err)
	}
	if len(told.Changes) != 1 || told.Changes[0].File != "/shelves/3" || told.Changes[0].New != "Moby-Dick" || told.Changes[0].Act != performed[0].ID || told.Changes[0].Unsure || len(told.Stays) != 0 {
		t.Errorf("it is taken back by %+v", told)
	}
	if err := e.Call(within(t), protocol.MethodTurnUndone, protocol.TurnUndoneParams{Turn: turn, Acts: []string{performed[0].ID}}, &protocol.Empty{}); err != nil {
		t.Fatal(err)
	}
	why, err := traceOf(t, in, performed[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	wantInOrder(t, why.Outline, "needs :book", "Verdict of the policy: refuse", "that book stays shut", "A person was asked: it moves a book", "What :: Shelve Moby-Dick",
		"Action performed", "What :: Shelve Moby-Dick", "Receipt of", "/shelves/3", "Taken back by a person")
}
