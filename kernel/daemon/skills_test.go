package daemon_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/act"
	"org-agent/kernel/agent"
	"org-agent/kernel/daemon"
	"org-agent/kernel/kind"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
	"org-agent/kernel/skill"
)

// deciding is a skill that wins chat, with these functions.
func deciding(functions string) string {
	return lisp(`(defun chosen (context) (eq (getf (getf context :payload) :sensor) :chat-message))
(defun words (context) (getf (getf context :payload) :text))
` + functions)
}

const story = `* Story\nIt was a dark and stormy night, and the rain fell in torrents, except at intervals.`

// slowly streams a reply over a second: between two words of it there are batches.
func slowly(text string) llmtest.Exchange {
	return llmtest.Exchange{Reply: insertion(text), Chunk: 2, Delay: llmtest.Duration(12 * time.Millisecond), Times: -1}
}

// What a neuro function may return, and what becomes of its faults.
func TestSkills(t *testing.T) {
	const skill = `(defskill :mine :priority 90 :trigger #'chosen :neuro #'think`
	tests := []struct{ name, note, state, want, notice string }{
		{"a string is a prompt", `(defun think (c) (format nil "Say: ~a" (words c)))` + skill + ")", "answered", "* hi\n** Say: hi\n* ", ""},
		{"a reply it asked for", `(defun think (c) (ask-neuro (words c)))` + skill + ")", "answered", "* hi\n** hi\n* ", ""},
		{"a proposal without a model", `(defun think (c) (list :type :response :text "Mine"))` + skill + ")", "answered", "* hi\n** Mine\n* ", ""},
		{"nothing", `(defun think (c) nil)` + skill + ")", "failed", "", "nothing to say"},
		{"an error", `(defun think (c) (error "Boom"))` + skill + ")", "failed", "", "Boom"},
		{"an endless loop", `(defun think (c) (loop))` + skill + ")", "failed", "", "mine"},
		{"a proposal that is none", `(defun think (c) (list :type :request :target :nowhere))` + skill + ")", "failed", "", "no action"},
		{"symbolic refuses", `(defun think (c) (words c)) (defun check (a c) nil)` + skill + " :symbolic #'check)", "failed", "", "refused"},
		{"symbolic fails", `(defun think (c) (words c)) (defun check (a c) (error "Odd"))` + skill + " :symbolic #'check)", "failed", "", "could not check"},
		{"symbolic rewrites", `(defun think (c) (words c)) (defun check (a c) (list :type :response :text "Other"))` + skill + " :symbolic #'check)", "answered", "* hi\n** Other\n* ", ""},
		{"symbolic approves for itself", `(defun think (c) (words c)) (defun check (a c) (list :type :request :target :shell :cmd "touch mine" :approved t))` + skill + " :symbolic #'check)", "failed", "", ""},
		{"a trigger that never ends", `(defun forever (c) (loop)) (defskill :mine :priority 90 :trigger #'forever)`, "answered", "* hi\n** hi\n* ", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			in := newInstance(t, llmtest.Exchange{Echo: true, Times: -1})
			in.write(t, "skills/mine.org", deciding(test.note))
			in.start(t)
			e := in.editor(t, rpctest.Config{})
			got := ask(t, e, "q1", "hi")
			if got.state != test.state || !strings.Contains(got.notice, test.notice) {
				t.Errorf("the turn ended %+v; the buffer is\n%s", got, e.Text())
			}
			if test.want != "" {
				wantBare(t, e, test.want)
			} else if text := bare(e.Text()); !strings.Contains(text, "** No answer\n") || strings.Contains(text, "(:type") {
				t.Errorf("the buffer is\n%s", text)
			}
		})
	}
}

// What is shown while a reply streams is the beginning of what is kept, or is
// taken back; what a skill would refuse is never shown.
func TestPreviews(t *testing.T) {
	tests := []struct {
		name, check string
		shown       bool
		never       string // in no preview
	}{
		{"passes", "a", true, ""},
		{"refuses from the beginning", "nil", false, "dark"},
		{"rewrites from the beginning", `(list :type :response :text "* No\nnight")`, false, "dark"},
		{"refuses midway", `(if (search "stormy" (getf a :text)) nil a)`, true, "stormy"},
		{"rewrites midway", `(if (search "stormy" (getf a :text)) (list :type :response :text "* No\nnight") a)`, true, "stormy"},
		{"fails midway", `(if (search "stormy" (getf a :text)) (error "Odd") a)`, true, "stormy"},
	}
	plain := slowly(story)
	plain.Reply = strings.ReplaceAll(story, `\n`, "\n")
	for form, reply := range map[string]llmtest.Exchange{"action": slowly(story), "plain text": plain} {
		for _, test := range tests {
			t.Run(form+" "+test.name, func(t *testing.T) {
				t.Parallel()
				in := newInstance(t, reply)
				in.write(t, "skills/mine.org", deciding(`(defun think (c) (ask-neuro (words c))) (defun check (a c) `+test.check+`)
(defskill :mine :priority 90 :trigger #'chosen :neuro #'think :symbolic #'check)`))
				in.start(t)
				e := in.editor(t, rpctest.Config{})
				ask(t, e, "q1", "hi")
				var shown string
				for _, d := range e.Deltas() {
					if d.Offset == 0 {
						shown = ""
					}
					shown = string([]rune(shown)[:d.Offset]) + d.Text
					if test.never != "" && strings.Contains(shown, test.never) {
						t.Errorf("%q was shown", shown)
					}
				}
				if (len(e.Deltas()) > 0) != test.shown {
					t.Errorf("there were %d previews", len(e.Deltas()))
				}
				if e.Previewing() || len(e.Problems()) > 0 {
					t.Errorf("the buffer is\n%s\nproblems %q", e.Text(), e.Problems())
				}
				if test.name == "passes" && !strings.HasPrefix(bare(e.Acts()[0].Payload.Text("text")), bare(shown)) {
					t.Errorf("%q was shown", shown)
				}
			})
		}
	}
}

// A second question to the model in one turn takes the first one's preview back.
func TestSecondQuestionTakesThePreviewBack(t *testing.T) {
	first, second := slowly(`* First\nthe first answer, which nobody is to keep`), slowly(`* Second\nthe answer`)
	first.Match, second.Match = "^one", "^two"
	in := newInstance(t, first, second)
	in.write(t, "skills/mine.org", deciding(`(defun think (c) (ask-neuro "one") (ask-neuro "two"))
(defskill :mine :priority 90 :trigger #'chosen :neuro #'think)`))
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	ask(t, e, "q1", "hi")
	back := false
	for _, d := range e.Deltas() {
		back = back || d.Offset == 0 && d.Text == ""
	}
	if !back {
		t.Error("the first preview was not taken back")
	}
	wantBare(t, e, "* hi\n** Second\nthe answer\n* ")
}

// A saved note counts from the next message on; a broken one changes nothing.
func TestNotesAreLive(t *testing.T) {
	answering := func(text string) string {
		return deciding(`(defun think (c) (list :type :response :text "` + text + `")) (defskill :chat :priority 90 :trigger #'chosen :neuro #'think)`)
	}
	in := newInstance(t, llmtest.Exchange{Reply: insertion("Model"), Times: -1})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	n := 0
	answer := func() string {
		n++
		id := "q" + strings.Repeat("i", n)
		ask(t, e, id, id)
		return strings.TrimSpace(answers(e.Text(), id))
	}
	if got := answer(); got != "** Model" {
		t.Errorf("the shipped note says %q", got)
	}
	// A home note of the shipped one's name shadows it.
	in.write(t, "skills/chat.org", answering("Mine"))
	until(t, "the home's note", func() bool { return answer() == "** Mine" })
	in.write(t, "skills/chat.org", answering("Better"))
	until(t, "the saved note", func() bool { return answer() == "** Better" })
	in.write(t, "skills/chat.org", answering("Broken")+"#+begin_src lisp\n(defun (\n#+end_src\n")
	in.write(t, "skills/marker.org", lisp(`(defun mark (c) (eq (getf (getf c :payload) :text) "x")) (defskill :marker :trigger #'mark)`))
	until(t, "the notes being read", func() bool {
		var status protocol.StatusResult
		err := e.Call(within(t), protocol.MethodStatus, protocol.Empty{}, &status)
		return err == nil && status.Skills >= 3
	})
	if got := answer(); got != "** Better" {
		t.Errorf("after the broken note was saved the answer is %q", got)
	}
}

// A turn that was really answered can be replayed by a test: with a reply that was sent
// back as unusable, and answered a second time.
func TestReplay(t *testing.T) {
	in := newInstance(t,
		llmtest.Exchange{Reply: "(:type :request"},
		llmtest.Exchange{Reply: "Plain *prose*."},
		llmtest.Exchange{Reply: insertion("* Yes\nIt is.")})
	const mine = `(defun think (c) (ask-neuro (words c)))
(defun check (a c) (declare (ignore c)) a)
(defskill :mine :priority 90 :trigger #'chosen :neuro #'think :symbolic #'check)`
	in.write(t, "skills/mine.org", deciding(mine))
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	j := in.journal(t)
	defer j.Close()
	for _, id := range []string{"q1", "q2"} {
		ask(t, e, id, "Is it?")
		turn, err := j.Turns.TurnOfEvent(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		source := deciding(mine) + "\n#+begin_src lisp :test yes\n(deftest again (:turn \"" + turn.ID + "\"))\n#+end_src\n"
		recorded := agent.Recordings{Turns: j.Turns, Rows: j.Records, Acts: j.Acts}.Recording
		for _, change := range []string{"", "(defun check (a c) (declare (ignore a c)) '(:type :response :text \"No\"))"} {
			changed := strings.Replace(source, "(defskill", change+"\n(defskill", 1)
			proofs, _, err := skill.Prove(t.Context(), "mine.org", []byte(changed), skill.Options{Recorded: recorded, Specs: kind.New(daemon.Kinds(act.Deps{})...).Specs})
			if err != nil || len(proofs) != 1 || (proofs[0].Result == skill.Pass) != (change == "") {
				t.Errorf("%s, %q: %+v, error %v", id, change, proofs, err)
			}
		}
	}
}

// What Emacs asks about a note: of the text in a buffer, whether it is saved or not.
func TestSkillMethods(t *testing.T) {
	in := newInstance(t, llmtest.Exchange{Echo: true, Times: -1})
	in.write(t, "skills/mine.org", deciding(`(defskill :mine :priority 90 :trigger #'chosen :neuro #'words)`))
	in.start(t)
	conn := in.editor(t, rpctest.Config{})
	ask := func(method string, params, result any) {
		t.Helper()
		if err := conn.Call(t.Context(), method, params, result); err != nil {
			t.Fatalf("%s: %v", method, err)
		}
	}
	var list protocol.SkillListResult
	ask(protocol.MethodSkillList, protocol.Empty{}, &list)
	if len(list.Skills) < 3 || list.Skills[0].Skill != "mine" || list.Skills[0].State != "live" || list.Skills[0].Shipped {
		t.Errorf("list %+v", list)
	}
	text := func(s string) *string { return &s }
	var check protocol.SkillCheckResult
	ask(protocol.MethodSkillCheck, protocol.SkillParams{File: "x.org", Text: text("#+begin_src lisp\n(defun f ()\n  (no-such 1))\n#+end_src\n")}, &check)
	if len(check.Diagnostics) != 1 || check.Diagnostics[0].Line != 3 || check.Diagnostics[0].Column != 3 || check.Diagnostics[0].File != "x.org" {
		t.Errorf("check %+v", check)
	}
	const tested = "* Success Criteria\n** TODO Adds\n* Build\n#+begin_src lisp\n(defvar *n* 1)\n(defun add (x) (format t \"adding~%\") (+ *n* x))\n#+end_src\n#+name: Adds\n#+begin_src lisp :test yes\n(deftest adds (is (= 3 (add 2))))\n#+end_src\n"
	var proof protocol.SkillTestResult
	ask(protocol.MethodSkillTest, protocol.SkillParams{File: "x.org", Text: text(tested)}, &proof)
	if len(proof.Proofs) != 1 || proof.Proofs[0].Result != protocol.ProofPass || proof.Proofs[0].Line != 2 || len(proof.Hash) != 64 {
		t.Errorf("test %+v", proof)
	}
	var value protocol.SkillEvaluateResult
	ask(protocol.MethodSkillEvaluate, protocol.SkillEvaluateParams{File: "x.org", Text: text(tested), Code: "(setf *n* 5)\n(add 2)\n(car 1)", Line: 7}, &value)
	if !slices.Equal(value.Values, []string{"5", "7"}) || value.Output != "adding\n" || len(value.Diagnostics) != 1 || value.Diagnostics[0].Line != 9 {
		t.Errorf("evaluate %+v", value)
	}
	ask(protocol.MethodSkillEvaluate, protocol.SkillEvaluateParams{File: "x.org", Text: text("#+begin_src lisp\n(\n#+end_src"), Code: "1"}, &value)
	if len(value.Diagnostics) == 0 {
		t.Errorf("evaluate in a faulty note: %+v", value)
	}
	var symbols protocol.SkillSymbolsResult
	ask(protocol.MethodSkillSymbols, protocol.Empty{}, &symbols)
	if !slices.ContainsFunc(symbols.Symbols, func(s protocol.SkillSymbol) bool {
		return s.Name == "mapcar" && s.Kind == "function" && s.List != "" && s.Doc != ""
	}) {
		t.Error("mapcar is not among the symbols")
	}
	ask(protocol.MethodSkillReload, protocol.Empty{}, &list)
	var missing protocol.SkillCheckResult
	if err := conn.Call(t.Context(), protocol.MethodSkillCheck, protocol.SkillParams{File: "/nowhere.org"}, &missing); protocol.ErrorCode(err) != protocol.CodeNotFound {
		t.Errorf("a note that is not there: %v", err)
	}
}
