package action_test

import (
	"strings"
	"testing"

	"github.com/chewxy/sexp"
	"pgregory.net/rapid"

	"org-agent/kernel/action"
	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
)

func read(t *testing.T, text string) action.Proposed {
	t.Helper()
	p, err := action.Read(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

// TestProposedAndAction checks that a proposal keeps its shape but loses the forbidden fields, and
// that the action is the same for every shape and order of the fields.
func TestProposedAndAction(t *testing.T) {
	flat := read(t, `(:type :request :id "n1" :target :emacs :action :open :approved t :file "a.org" :line 3)`)
	nested := read(t, `(:payload (:line 3 :file "a.org" :action :open) :target :emacs :id "n1" :type :request)`)
	if got := flat.String(); got != `(:type :request :id "n1" :target :emacs :action :open :file "a.org" :line 3)` || !flat.Stripped() || nested.Stripped() {
		t.Errorf("the proposal is %s", got)
	}
	a := flat.Action()
	if got := a.Canonical(); got != `(:type :request :id "n1" :target :emacs :payload (:action :open :file "a.org" :line 3))` {
		t.Errorf("the action is %s", got)
	}
	if a.Hash() != nested.Action().Hash() {
		t.Error("the order of the fields makes another action")
	}
	if a.Key() != (action.Key{Target: "emacs", Name: "open"}) || a.Key().String() != ":emacs :open" || a.Type() != protocol.TypeRequest || a.ID() != "n1" || a.Text("file") != "a.org" {
		t.Errorf("%s is read as %v %q", a.Canonical(), a.Key(), a.Text("file"))
	}
	changed := a.With("file", plist.String("/b.org"))
	if changed.Hash() == a.Hash() || a.Text("file") != "a.org" || changed.Text("file") != "/b.org" {
		t.Errorf("with another file: %s, and before %s", changed.Canonical(), a.Canonical())
	}
	object, err := a.WithoutID().Object()
	if err != nil || object.Text("file") != "a.org" || object.Get("id") != nil {
		t.Errorf("for the wire: %v, %v", object, err)
	}
	if key := read(t, `(:type :response :target :emacs :text "x")`).Action().Key(); key.String() != ":response" {
		t.Errorf("a response is a %v", key)
	}
}

// TestIllFormed checks that an ill-formed proposal has no action, and that the error says why.
func TestIllFormed(t *testing.T) {
	for text, says := range map[string]string{
		`(1 2 3)`: "element 1 is 1", `(:type)`: "has no value", `(:type :request :text "a" :payload (:text "b"))`: "different values", `nil`: "needs :type",
	} {
		p := read(t, text)
		if _, err := (action.Specs{}).Usable(p); err == nil || !strings.Contains(err.Error(), says) || !p.Action().IsZero() {
			t.Errorf("%s: %v, %s", text, err, p.Action().Canonical())
		}
	}
	for _, text := range []string{`"text"`, `(:type`, `5`} {
		if _, err := action.Read(text); err == nil {
			t.Errorf("%s was read", text)
		}
		if a := action.Recorded(text); !a.IsZero() {
			t.Errorf("%s was recorded as %s", text, a.Canonical())
		}
	}
}

// TestCalls checks that an action returns its calls, with their arguments as they were written.
func TestCalls(t *testing.T) {
	for _, c := range []struct{ text, line, calls string }{
		{`(:type :request :target :tool :action :call :tool "read" :args (:path "x"))`, `read (:path "x")`, `read (:path "x")`},
		{`(:type :request :target :tool :payload (:action :call :tool :read))`, `read`, `read`},
		{`(:type :request :target :tool :action :batch :calls ((:tool "a" :args nil) (:tool "b")))`, `(:type :request :target :tool :payload (:action :batch :calls ((:tool "a" :args nil) (:tool "b"))))`, `a nil; b`},
		{`(:type :log :text "x")`, `(:type :log :payload (:text "x"))`, ``},
	} {
		a := read(t, c.text).Action()
		var lines []string
		for _, call := range a.Calls() {
			lines = append(lines, call.Line())
		}
		if got := strings.Join(lines, "; "); got != c.calls || a.Line() != c.line {
			t.Errorf("%s: %s, calls %s", c.text, a.Line(), got)
		}
	}
}

// TestForbidden checks that a forbidden field is removed everywhere outside of :args, and that
// every list can be proposed and printed.
func TestForbidden(t *testing.T) {
	words := []string{"type", "target", "payload", "args", "text", "approved", "verified", "policy", "origin", "request", "tool"}
	atom := rapid.OneOf(
		rapid.Map(rapid.SampledFrom(words), func(w string) sexp.Sexp { return plist.Keyword(w) }),
		rapid.Map(rapid.SampledFrom([]string{"", "x"}), func(s string) sexp.Sexp { return plist.String(s) }))
	list := func(of *rapid.Generator[sexp.Sexp]) *rapid.Generator[sexp.Sexp] {
		return rapid.Map(rapid.SliceOfN(of, 0, 8), func(items []sexp.Sexp) sexp.Sexp { return sexp.List(items) })
	}
	rapid.Check(t, func(t *rapid.T) {
		p := action.Propose(list(rapid.OneOf(atom, atom, list(atom))).Draw(t, "list").(sexp.List))
		a := p.Action()
		for _, field := range []string{"approved", "verified", "policy", "origin"} {
			if _, there := a.Field(field); there {
				t.Fatalf("%s has :%s", a.Canonical(), field)
			}
			if _, there := plist.Get(a.List(), field); there {
				t.Fatalf("%s has :%s", a.Canonical(), field)
			}
		}
		if !a.IsZero() {
			again, err := action.Read(a.Canonical())
			if err != nil || again.Action().Hash() != a.Hash() {
				t.Fatalf("%s comes back as %s, %v", a.Canonical(), again, err)
			}
		}
	})
}
