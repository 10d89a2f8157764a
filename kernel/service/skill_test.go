package service_test

import (
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/protocol"
)

const counting = `#+TITLE: Counting
#+DESCRIPTION: Counts.
* It counts
#+begin_src lisp
(defun twice (n) (format t "asked ~a" n) (* 2 n))
(defskill :counting :priority 5 :trigger (lambda (c) (declare (ignore c)) nil) :neuro (lambda (c) (declare (ignore c)) '(:type :response :text "one")))
#+end_src
#+begin_src lisp :test yes
(deftest counts (assert (= (twice 2) 4)))
#+end_src
`

// The skills of both forms are listed with their commands, found by their names, and described for the
// guide.
func TestSkills(t *testing.T) {
	s := newSkills(t)
	conn := serve(t, s.Methods())("a shell")
	for _, method := range []string{protocol.MethodSkillList, protocol.MethodSkillReload} {
		var list protocol.SkillListResult
		if err := conn.Call(within(t), method, protocol.Empty{}, &list); err != nil {
			t.Fatal(err)
		}
		has := func(name string) bool {
			return slices.ContainsFunc(list.Skills, func(k protocol.SkillStatus) bool { return k.Skill == name })
		}
		offers := slices.ContainsFunc(list.Commands, func(c protocol.SkillCommand) bool { return c.Name == "tea-time" && c.Skill == "tea-time" })
		if !has("chat") || !has("tea-time") || !offers || list.Left != 0 {
			t.Errorf("%s: %+v", method, list)
		}
	}
	if !s.Has("chat") || !s.Has("tea-time") || s.Has("none") || !slices.Contains(s.Names(), "tea-time") || !slices.Contains(s.Names(), "chat") {
		t.Errorf("they are %v", s.Names())
	}
	about := s.About(newTools(t))
	if len(about.Skills) == 0 || len(about.Texts) != 1 || !strings.Contains(about.Texts[0].Does, "How tea is made") || len(about.Tools) == 0 || about.Skills[0].Does == "" {
		t.Errorf("the guide knows %+v", about)
	}
	var symbols protocol.SkillSymbolsResult
	if err := conn.Call(within(t), protocol.MethodSkillSymbols, protocol.Empty{}, &symbols); err != nil || !slices.ContainsFunc(symbols.Symbols, func(s protocol.SkillSymbol) bool { return s.Name == "defskill" || s.Name == "DEFSKILL" }) {
		t.Errorf("%d symbols, %v", len(symbols.Symbols), err)
	}
}

// The text of a note in a buffer is checked, tested and evaluated. Faults are reported with their lines,
// and the code has no effects.
func TestCheckedNotes(t *testing.T) {
	conn := serve(t, newSkills(t).Methods())("a shell")
	broken := strings.Replace(counting, "(* 2 n)", "(* 2 n", 1)
	check := func(p protocol.SkillParams) (result protocol.SkillCheckResult, err error) {
		err = conn.Call(within(t), protocol.MethodSkillCheck, p, &result)
		return result, err
	}
	text := func(s string) *string { return &s }
	if result, err := check(protocol.SkillParams{File: "/n/counting.org", Text: text(counting)}); err != nil || len(result.Diagnostics) > 0 {
		t.Errorf("a note that is right: %+v, %v", result, err)
	}
	if result, err := check(protocol.SkillParams{File: "/n/counting.org", Text: text(broken)}); err != nil || len(result.Diagnostics) == 0 || result.Diagnostics[0].Line < 4 {
		t.Errorf("a note that is broken: %+v, %v", result, err)
	}
	if result, err := check(protocol.SkillParams{File: "/n/tea/SKILL.md", Text: text("Boil water.")}); err != nil || len(result.Diagnostics) == 0 {
		t.Errorf("a text without front matter: %+v, %v", result, err)
	}
	_, err := check(protocol.SkillParams{File: "/none/counting.org"})
	wantError(t, "a file that is none", err, protocol.CodeNotFound, "read the note")
	_, err = check(protocol.SkillParams{File: t.TempDir()})
	wantError(t, "a directory", err, protocol.CodeInvalidParams, "is no note")

	var tested protocol.SkillTestResult
	if err := conn.Call(within(t), protocol.MethodSkillTest, protocol.SkillParams{File: "/n/counting.org", Text: text(counting)}, &tested); err != nil || len(tested.Proofs) != 1 || tested.Proofs[0].Result != "pass" || tested.Hash == "" {
		t.Errorf("tested: %+v, %v", tested, err)
	}
	if err := conn.Call(within(t), protocol.MethodSkillTest, protocol.SkillParams{File: "/n/counting.org", Text: text(broken)}, &tested); err != nil || len(tested.Diagnostics) == 0 {
		t.Errorf("tested: %+v, %v", tested, err)
	}

	evaluate := func(p protocol.SkillEvaluateParams) (result protocol.SkillEvaluateResult) {
		t.Helper()
		p.File = "/n/counting.org"
		if err := conn.Call(within(t), protocol.MethodSkillEvaluate, p, &result); err != nil {
			t.Fatal(err)
		}
		return result
	}
	if got := evaluate(protocol.SkillEvaluateParams{Text: text(counting), Code: "(twice 21) (ask-neuro \"hm\")"}); len(got.Values) != 2 || got.Values[0] != "42" || !strings.Contains(got.Values[1], `"hm"`) || !strings.Contains(got.Output, "asked 21") {
		t.Errorf("tried: %+v", got)
	}
	if got := evaluate(protocol.SkillEvaluateParams{Text: text(counting), Code: "(twice", Line: 7}); len(got.Diagnostics) != 1 || got.Diagnostics[0].Line != 7 {
		t.Errorf("code that is broken: %+v", got)
	}
	if got := evaluate(protocol.SkillEvaluateParams{Text: text(broken), Code: "1"}); len(got.Diagnostics) == 0 || len(got.Values) > 0 {
		t.Errorf("in a note that is broken: %+v", got)
	}
}

// Nothing can be granted to a note that does not exist, or revoked from it.
func TestGrants(t *testing.T) {
	s := newSkills(t)
	conn := serve(t, s.Methods())("a shell")
	var result protocol.SkillGrantResult
	wantError(t, "a note that is none", conn.Call(within(t), protocol.MethodSkillGrant, protocol.SkillGrantParams{File: "/none.org"}, &result), protocol.CodeNotFound, "")
	wantError(t, "revoked of none", conn.Call(within(t), protocol.MethodSkillGrant, protocol.SkillGrantParams{File: "/none.org", Revoke: true}, &result), protocol.CodeNotFound, "")
}
