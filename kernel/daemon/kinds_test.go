package daemon_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
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

// shelve is a kind of action that nothing but this value knows: it writes a book into a list.
func shelve(d act.Deps, key action.Key) kind.Kind {
	return act.InEditor(d, kind.Kind{
		Spec: action.Spec{Target: key.Target, Name: key.Name, Does: "to put a book on a shelf", Fields: []action.Field{
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
			return []protocol.Change{{File: receipt.File, Old: "nothing", New: a.Text("book")}}, nil
		},
	}, false)
}

// TestAnotherKind: a kind of action is one value in one list, and a performer that a client
// announces. It is offered, checked, judged, described, approved, performed by that client, taken
// back and explained; nothing else knows of it. It is of Emacs, or has a target of its own.
func TestAnotherKind(t *testing.T) {
	for _, key := range []action.Key{{Target: "emacs", Name: "shelve"}, {Target: "library", Name: "shelve"}, {Target: "library"}} {
		t.Run(key.String(), func(t *testing.T) { anotherKind(t, key) })
	}
}

func anotherKind(t *testing.T, key action.Key) {
	head := "(:type :request :target :" + key.Target
	if key.Name != "" {
		head += " :action :" + key.Name
	}
	in, model := newInstanceAndModel(t,
		llmtest.Exchange{Match: "^shelve it", Reply: head + ` :shelf "high")`},
		llmtest.Exchange{Match: "needs :book", Reply: head + ` :book "Necronomicon")`},
		llmtest.Exchange{Match: "stays shut", Reply: head + ` :book "Moby-Dick" :shelf 3)`},
		llmtest.Exchange{Match: `result of .*: performed`, Reply: insertion("* Done")})
	in.startWith(t, daemon.Config{Kinds: func(d act.Deps) []kind.Kind { return []kind.Kind{shelve(d, key)} }})
	shelf := filepath.Join(t.TempDir(), "shelf")
	exchange := func(old, new string) error {
		text, err := os.ReadFile(shelf)
		if err != nil || strings.Count(string(text), old) != 1 {
			return fmt.Errorf("%q is not there once: %s, %v", old, text, err)
		}
		return os.WriteFile(shelf, []byte(strings.Replace(string(text), old, new, 1)), 0o644)
	}
	if err := os.WriteFile(shelf, []byte("3: nothing\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	var performed []protocol.Act
	e := in.editor(t, rpctest.Config{Actions: []string{cmp.Or(key.Name, key.Target)}, Perform: func(a protocol.Act) (protocol.Receipt, error) {
		performed = append(performed, a)
		return protocol.Receipt{Done: true, File: shelf}, exchange("nothing", a.Payload.Text("book"))
	}})
	other := in.editor(t, rpctest.Config{Actions: []string{"edit"}, Perform: func(a protocol.Act) (protocol.Receipt, error) {
		t.Errorf("a client that does not announce it is to perform %v", a.Payload)
		return protocol.Receipt{}, nil
	}})
	turn, approval := asked(t, e, "q1", "shelve it")
	if told, _ := systems(model); !strings.Contains(told[0], "- to put a book on a shelf: "+head+` :book "<title>")`) {
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
	if len(performed) != 1 || performed[0].Payload.Text("book") != "Moby-Dick" || performed[0].Payload.Get("shelf") != int64(3) || string(performed[0].Target) != key.Target {
		t.Fatalf("performed was %+v", performed)
	}
	var told protocol.TurnChangesResult
	if err := e.Call(within(t), protocol.MethodTurnChanges, protocol.TurnChangesParams{ID: turn}, &told); err != nil {
		t.Fatal(err)
	}
	if len(told.Changes) != 1 || told.Changes[0].File != shelf || told.Changes[0].Act != performed[0].ID || told.Changes[0].Unsure || len(told.Stays) != 0 {
		t.Fatalf("it is taken back by %+v", told)
	}
	if err := exchange(told.Changes[0].New, told.Changes[0].Old); err != nil { // as a client takes it back
		t.Error(err)
	}
	if text, err := os.ReadFile(shelf); string(text) != "3: nothing\n" {
		t.Errorf("when it is taken back, the shelf has %q, %v", text, err)
	}
	if err := e.Call(within(t), protocol.MethodTurnUndone, protocol.TurnUndoneParams{Turn: turn, Acts: []string{performed[0].ID}}, &protocol.Empty{}); err != nil {
		t.Fatal(err)
	}
	why, err := traceOf(t, in, performed[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	wantInOrder(t, why.Outline, "needs :book", "Verdict of the policy: refuse", "that book stays shut", "A person was asked: it moves a book", "What :: Shelve Moby-Dick",
		"Action performed", "What :: Shelve Moby-Dick", "Receipt of", shelf, "Undone by a person")
}
