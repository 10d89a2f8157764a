package kind_test

import (
	"context"
	"errors"
	"testing"

	"org-agent/kernel/action"
	"org-agent/kernel/describe"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

func read(t *testing.T, text string) action.Action {
	t.Helper()
	p, err := action.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	return p.Action()
}

const knock = `(:type :request :target :door :action :knock :text "who is there")`

// TestBareKind checks a kind that has only a spec: a person is asked, it is described, nothing
// performs it, no subagent may do it, and it cannot be undone.
func TestBareKind(t *testing.T) {
	bare := kind.Kind{Spec: action.Spec{Target: "door", Name: "knock", Fields: []action.Field{{Name: "text", Kind: action.Text, Required: true}}}}
	none := kind.New()
	kinds := none.With(bare)
	p := policy.Policy{Kinds: kinds}
	a := read(t, knock)
	if v := p.Judge(t.Context(), a, policy.Where{}); v.Kind != policy.Ask {
		t.Errorf("it is judged %v: %s", v.Kind, v.Reason)
	}
	if v := (&policy.Policy{Kinds: none}).Judge(t.Context(), a, policy.Where{}); v.Kind != policy.Refuse {
		t.Errorf("a set that was there before knows it: %v", v)
	}
	if d := kinds.Describe(a, describe.Deps{}); d.Summary != "Do :door :knock" || d.Text == "" || len(d.Effects) == 0 {
		t.Errorf("it is described as %+v", d)
	}
	if err := kinds.Available(a.Key()); !errors.Is(err, kind.ErrNoPerformer) {
		t.Errorf("it is available: %v", err)
	}
	if _, refused := kinds.Subagent(a); refused == "" {
		t.Error("a subagent may do it")
	}
	if from := none.Outside(a); from != "what :door :knock returned" { // the note that defined it is gone, and its result is still shown
		t.Errorf("where there is no such kind its result is from %q", from)
	}
	changes, stays := kinds.Undo(a, protocol.Receipt{Done: true})
	if len(changes) != 0 || len(stays) != 1 || kinds.Ends(a, policy.Where{}) || kinds.Reads(a) || kinds.Silent(a) || kinds.Outside(a) != "" {
		t.Errorf("of it is said too much: %v %v", changes, stays)
	}
	if calls := kinds.Calls(a); len(calls) != 1 || calls[0].Line() != `door-knock (:text "who is there")` {
		t.Errorf("hooks are told of %v", calls)
	}
}

// TestPerform checks that an unverified action is not performed, that the kind reconciles an action
// with a lost receipt without repeating it, and that the first of two kinds for the same action
// counts.
func TestPerform(t *testing.T) {
	performed, reconciled := 0, 0
	lost := kind.Kind{
		Spec: action.Spec{Target: "door", Name: "knock", Fields: []action.Field{{Name: "text", Kind: action.Text, Required: true}}},
		Judge: func(context.Context, *policy.Turn, action.Action) policy.Verdict {
			return policy.Verdict{Kind: policy.Allow}
		},
		Perform: func(context.Context, kind.Order) (kind.Result, error) {
			performed++
			return kind.Result{}, kind.ErrOutcomeUnknown
		},
		Reconcile: func(_ context.Context, _ kind.Order, lost error) (kind.Result, error) {
			reconciled++
			if !errors.Is(lost, kind.ErrOutcomeUnknown) {
				t.Errorf("it is reconciled because of %v", lost)
			}
			return kind.Result{Text: "it was done"}, nil
		},
	}
	kinds := kind.New(lost, kind.Kind{Spec: lost.Spec})
	if _, err := kinds.Perform(t.Context(), kind.Order{ID: "a"}); !errors.Is(err, kind.ErrUnverified) || performed > 0 {
		t.Fatalf("what is not verified: %v", err)
	}
	verified, _, err := (&policy.Policy{Kinds: kinds}).Verify(t.Context(), read(t, knock), policy.Where{})
	if err != nil || !verified.Valid() {
		t.Fatal(err)
	}
	result, err := kinds.Perform(t.Context(), kind.Order{ID: "a", Action: verified})
	if err != nil || result.Text != "it was done" || performed != 1 || reconciled != 1 {
		t.Errorf("%+v, %v, performed %d times, reconciled %d", result, err, performed, reconciled)
	}
}
