package agent

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/chewxy/sexp"

	"org-agent/kernel/act"
	"org-agent/kernel/action"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/skill"
)

// gateOf is a gate with the built-in kinds and a skill with that symbolic function.
func gateOf(t *testing.T, symbolic string) (gate, *[]string) {
	t.Helper()
	note, err := skill.LoadNote(t.Context(), "gate.org", []byte("#+begin_src lisp\n(defun check (action context) "+symbolic+
		")\n(defskill :gate :trigger (lambda (c) t) :neuro (lambda (c) nil) :symbolic #'check)\n#+end_src\n"), skill.Options{})
	if err != nil {
		t.Fatal(err)
	}
	kinds := kind.New(act.Kinds(act.Deps{})...)
	noted := &[]string{}
	return gate{
		policy: &policy.Policy{Home: t.TempDir(), Kinds: kinds}, kinds: kinds, skill: note.Skills()[0],
		beyond: func(action.Action) string { return "" }, hide: func(x sexp.Sexp) sexp.Sexp { return x },
		note: func(verdict map[string]any) {
			*noted = append(*noted, fmt.Sprint(verdict["gate"], " ", verdict["verdict"]))
		},
	}, noted
}

func usable(t *testing.T, g gate, text string) action.Proposed {
	t.Helper()
	p, err := action.Read(text)
	if err == nil {
		p, err = g.policy.Usable(p)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p
}

const answers = `(:type :response :text "yes" :note "mine")`

// What a skill says of a proposal: it passes as it is, as another one, or not.
func TestSkillAtTheGate(t *testing.T) {
	for _, c := range []struct{ symbolic, checked, refused, err, noted string }{
		{`context action`, answers, "", "", ""},
		{`context (append action '(:policy t))`, answers, "", "", "skill rewritten"},
		{`action context '(:type :response :text "no")`, `(:type :response :text "no")`, "", "", "skill rewritten"},
		{`action context nil`, "", "refused it", "", "skill refused"},
		{`action context '(:type :request)`, "", "rewrote it to what is no action: a :request needs :target", "", "skill rewritten"},
		{`action context (error "broken")`, "", "", "broken", "skill error"},
	} {
		g, noted := gateOf(t, c.symbolic)
		checked, refused, err := g.checked(t.Context(), usable(t, g, answers), sexp.List{})
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v", c.symbolic, err)
			}
		case c.refused != "":
			if refused == nil || err != nil || !strings.Contains(refused.Error(), c.refused) {
				t.Errorf("%s: refused %v, %v", c.symbolic, refused, err)
			}
		case refused != nil || err != nil || checked.String() != c.checked:
			t.Errorf("%s: %s, %v, %v", c.symbolic, checked, refused, err)
		}
		if got := strings.Join(*noted, ", "); got != c.noted {
			t.Errorf("%s: noted is %q, want %q", c.symbolic, got, c.noted)
		}
	}
}

// What the gate rules: to be performed, to be asked about, or refused with the reason. What is
// beyond a turn the policy does not see.
func TestRulings(t *testing.T) {
	g, noted := gateOf(t, `context action`)
	const edit = `(:type :request :target :emacs :action :edit :id "e1" :old "a" :new "b")`
	for _, c := range []struct {
		proposal, granted string
		beyond            bool
		is, says, noted   string
	}{
		{proposal: answers, is: "performed", noted: "policy allow"},
		{proposal: edit, is: "asked", noted: "policy ask"},
		{proposal: edit, granted: edit, is: "performed", noted: "policy allow"},
		{proposal: edit, beyond: true, is: "refused", says: "not for you", noted: "subagent refused"},
		{proposal: `(:type :request :target :emacs :action :eval)`, is: "refused", says: "org-agent-allow-eval", noted: "policy refuse"},
	} {
		*noted = nil
		g.beyond = func(action.Action) string { return map[bool]string{true: "it is not for you"}[c.beyond] }
		where := policy.Where{Session: "main"}
		if c.granted != "" {
			where.Granted = usable(t, g, c.granted).Action().Hash()
		}
		ruled, err := g.rule(t.Context(), usable(t, g, c.proposal).Action(), where)
		if err != nil {
			t.Fatal(err)
		}
		is := "asked"
		if ruled.refused != nil {
			is = "refused"
		} else if ruled.verified.Valid() {
			is = "performed"
		}
		if is != c.is || c.says != "" && !strings.Contains(ruled.refused.Error(), c.says) || strings.Join(*noted, ", ") != c.noted {
			t.Errorf("%s: %s, %v, noted %q", c.proposal, is, ruled.refused, *noted)
		}
	}
	if err := g.inTheWay(t.Context(), kind.Order{}, usable(t, g, `(:type :request :target :telegram :chat-id 5 :text "x")`).Action()); !errors.Is(err, kind.ErrNoPerformer) {
		t.Errorf("nothing is in the way of what nobody performs: %v", err)
	}
}
