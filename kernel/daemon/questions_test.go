package daemon_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/rpc/rpctest"
)

// printing is what a model asks before it prints.
const printing = `:title "Printing" :questions (
  (:question "Which printer?" :options ("laser" "ink") :own t :name :printer)
  (:question "How many?" :kind :number :min 1 :max 9 :default "1" :name "copies")
  (:question "What along?" :kind :choices :options ("cover" "index" "notes") :optional t :name "along")
  (:question "Both sides?" :kind :yes-no :name "both")
  (:question "Anything else?" :optional t :name "else"))`

// questioner is a model that asks when it is told to print, and answers when it hears what
// became of it.
func questioner(arguments string) []llmtest.Exchange {
	asks := calling("ask_user", arguments)
	asks.Match, asks.Times = "^print", -1
	return []llmtest.Exchange{
		asks,
		{Match: `This is a result`, Reply: insertion("Printed"), Times: -1},
		{Reply: insertion("Hello"), Times: -1},
	}
}

// questioned sends a message and returns its turn and the question that it waits for.
func questioned(t *testing.T, e *rpctest.Editor, id string) (turn string, question protocol.Ask) {
	t.Helper()
	sent, err := e.Send(within(t), id, "print it")
	if err != nil {
		t.Fatal(err)
	}
	see(t, e, "the question", func() bool {
		i := slices.IndexFunc(e.Questions(), func(q protocol.Ask) bool { return q.Event == id })
		if i >= 0 {
			question = e.Questions()[i]
		}
		return i >= 0
	})
	return sent.Turn, question
}

func answer(t *testing.T, e *rpctest.Editor, id string, pairs ...string) error {
	t.Helper()
	p := protocol.AskDecideParams{ID: id, Decision: protocol.Answered}
	for i := 0; i < len(pairs); i += 2 {
		p.Answers = append(p.Answers, protocol.FieldAnswer{Name: pairs[i], Values: strings.Split(pairs[i+1], "|")})
	}
	return e.Call(within(t), protocol.MethodAskDecide, p, &protocol.AskDecideResult{})
}

// lastTold is the last message that the model was sent.
func lastTold(model *llmtest.Server) string {
	_, lasts := systems(model)
	return lasts[len(lasts)-1]
}

// A form is asked, checked and answered; the answer is data for the model, and stands in
// the conversation.
func TestQuestionIsAnswered(t *testing.T) {
	in, model := newInstanceAndModel(t, questioner(printing)...)
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	turn, question := questioned(t, e, "q1")
	if question.Form.Title != "Printing" || len(question.Form.Fields) != 5 || question.Skill != "chat" {
		t.Errorf("asked is %+v", question)
	}
	waits := "** TODO Answer: Printing                                              :agent:\n:PROPERTIES:\n:ID:       " + question.ID + "\n:ASKS:     question\n:END:\n"
	form := "1. Which printer? (choose one)\n   - [ ] laser\n   - [ ] ink\n   - [ ] other:\n2. How many? (a number 1 to 9)\n   Answer: 1\n" +
		"3. What along? (choose any; may be left out)\n   - [ ] cover\n   - [ ] index\n   - [ ] notes\n4. Both sides?\n   - [ ] yes\n   - [ ] no\n" +
		"5. Anything else? (may be left out)\n   Answer:\n"
	if text := e.Text(); !strings.Contains(text, waits) || !strings.Contains(text, form) || !strings.Contains(text, question.Subtree) {
		t.Errorf("the buffer has\n%s", text)
	}
	for _, c := range []struct {
		says  string
		pairs []string
	}{
		{"printer (Which printer?) has no answer yet", []string{"copies", "1"}},
		{"the names are printer, copies", []string{"printer", "ink", "papers", "1"}},
		{"copies (How many?): \"many\" is not a number", []string{"printer", "ink", "copies", "many", "both", "no"}},
		{"1 to 9, not 10", []string{"printer", "ink", "copies", "10", "both", "no"}},
		{"it takes one answer, not 2", []string{"printer", "ink|laser", "copies", "1", "both", "no"}},
		{"\"tea\" is not one of the options: cover, index, notes", []string{"printer", "ink", "copies", "1", "both", "no", "along", "tea"}},
		{"\"cover\" is chosen twice", []string{"printer", "ink", "copies", "1", "both", "no", "along", "cover|Cover"}},
		{"yes or no", []string{"printer", "ink", "copies", "1", "both", "perhaps"}},
		{"copies is answered twice", []string{"copies", "1", "copies", "1"}},
	} {
		if err := answer(t, e, question.ID, c.pairs...); protocol.ErrorCode(err) != protocol.CodeInvalidParams || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%v: %v", c.pairs, err)
		}
	}
	if err := answer(t, e, question.ID, "else", strings.Repeat("x", protocol.AnswersLimit+1)); protocol.ErrorCode(err) != protocol.CodeTooLarge {
		t.Errorf("too much: %v", err)
	}
	if err := answer(t, e, question.ID, "printer", " the \"old\" one ", "copies", "3", "along", "NOTES|cover", "both", "Y", "else", "  \n "); err != nil {
		t.Fatal(err)
	}
	if finished, err := e.WaitTurn(within(t), turn); err != nil || finished.State != protocol.TurnAnswered {
		t.Errorf("the turn ended %+v, %v", finished, err)
	}
	told := ": performed ---\n" + `(:printer "the \"old\" one" :copies 3 :along ("notes" "cover") :both t)` + "\n---"
	if got := lastTold(model); !strings.Contains(got, told) {
		t.Errorf("the model was told %s", got)
	}
	idle(t, e)
	done := "** DONE Answered: Printing  "
	answers := "- Which printer? :: the \"old\" one\n- How many? :: 3\n- What along? :: notes, cover\n- Both sides? :: yes\n- Anything else? :: no answer\n"
	for name, text := range map[string]string{"buffer": e.Text(), "file": in.conversation(t, "main")} {
		if strings.Contains(text, "TODO") || strings.Count(text, done) != 1 || !strings.Contains(text, answers) || strings.Index(text, done) > strings.Index(text, "** Printed") {
			t.Errorf("the %s has\n%s", name, text)
		}
	}
	err := answer(t, e, question.ID, "printer", "ink", "copies", "1", "both", "no")
	if protocol.ErrorCode(err) != protocol.CodeConflict || !strings.Contains(err.Error(), "answered already") {
		t.Errorf("the second answer: %v", err)
	}
	if err := answer(t, e, "nothing", "a", "b"); protocol.ErrorCode(err) != protocol.CodeNotFound {
		t.Errorf("an answer to nothing: %v", err)
	}
}

// Declining is an answer, with a reason for the model.
func TestQuestionIsDeclined(t *testing.T) {
	in, model := newInstanceAndModel(t, questioner(printing)...)
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	turn, question := questioned(t, e, "q1")
	for _, p := range []protocol.AskDecideParams{
		{ID: question.ID, Decision: protocol.Declined, Answers: []protocol.FieldAnswer{{Name: "copies", Values: []string{"1"}}}},
		{ID: question.ID, Decision: protocol.Answered, Reason: "because"},
	} {
		if err := e.Call(within(t), protocol.MethodAskDecide, p, nil); protocol.ErrorCode(err) != protocol.CodeInvalidParams {
			t.Errorf("%+v: %v", p, err)
		}
	}
	p := protocol.AskDecideParams{ID: question.ID, Decision: protocol.Declined, Reason: "none of\n* your business"}
	if err := e.Call(within(t), protocol.MethodAskDecide, p, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := e.WaitTurn(within(t), turn); err != nil {
		t.Fatal(err)
	}
	if got := lastTold(model); !strings.Contains(got, ": denied, declined ---\nthe user declined to answer: none of\n* your business\n---") {
		t.Errorf("the model was told %s", got)
	}
	idle(t, e)
	if text := e.Text(); !strings.Contains(text, "** CANCELLED Declined: Printing  ") || !strings.Contains(text, "]: none of * your business\n") {
		t.Errorf("the buffer has\n%s", text)
	}
}

// Nothing but a person's answer closes a question: no decision about an equal action, no
// words in the conversation, no scope. The end of its turn withdraws it.
func TestNothingElseAnswersAQuestion(t *testing.T) {
	in := newInstance(t, questioner(printing)...)
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	turn, question := questioned(t, e, "q1")
	if _, err := e.Send(within(t), "q2", "laser, 3, yes: answered"); err != nil {
		t.Fatal(err)
	}
	for _, decision := range []protocol.Decision{protocol.AllowOnce, protocol.AllowAlways} {
		if err := decide(t, e, protocol.AskDecideParams{ID: question.ID, Decision: decision}); protocol.ErrorCode(err) != protocol.CodeInvalidParams {
			t.Errorf("%s: %v", decision, err)
		}
	}
	var list protocol.AskListResult
	if err := e.Call(within(t), protocol.MethodAskList, protocol.Empty{}, &list); err != nil || len(list.Asks) != 1 || list.Asks[0].ID != question.ID {
		t.Fatalf("%+v waits, %v", list, err)
	}
	var status protocol.StatusResult
	if err := e.Call(within(t), protocol.MethodStatus, protocol.Empty{}, &status); err != nil || status.Waiting != 1 {
		t.Errorf("%d wait, %v", status.Waiting, err)
	}
	cancel(t, e, turn)
	see(t, e, "the end", func() bool {
		return len(e.Questions()) == 0 && strings.Contains(e.Text(), "** CANCELLED Not answered: Printing  ")
	})
	err := answer(t, e, question.ID, "printer", "ink", "copies", "1", "both", "no")
	if protocol.ErrorCode(err) != protocol.CodeConflict || !strings.Contains(err.Error(), "its turn has ended") {
		t.Errorf("the late answer: %v", err)
	}
	// What was answered once is asked again by the next turn.
	if _, err := e.WaitTurn(within(t), turn); err != nil {
		t.Fatal(err)
	}
	turn, question = questioned(t, e, "q3")
	if err := answer(t, e, question.ID, "printer", "ink", "copies", "1", "both", "no"); err != nil {
		t.Fatal(err)
	}
	if _, err := e.WaitTurn(within(t), turn); err != nil {
		t.Fatal(err)
	}
	questioned(t, e, "q4")
}

// Of two clients that answer at once one is first; the other sees it closed.
func TestTwoAnswersAtOnce(t *testing.T) {
	in, model := newInstanceAndModel(t, questioner(printing)...)
	in.start(t)
	first := in.editor(t, rpctest.Config{})
	second, err := rpctest.Open(within(t), rpctest.Config{Socket: in.paths.Socket, Token: in.token(t), Codec: rpc.JSON})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(second.Close)
	turn, question := questioned(t, first, "q1")
	see(t, second, "the question", func() bool { return len(second.Questions()) == 1 })
	var taken atomic.Int32
	var group sync.WaitGroup
	for i, e := range []*rpctest.Editor{first, second} {
		group.Go(func() {
			err := answer(t, e, question.ID, "printer", []string{"laser", "ink"}[i], "copies", "2", "both", "no")
			if err == nil {
				taken.Add(1)
			} else if protocol.ErrorCode(err) != protocol.CodeConflict {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if taken.Load() != 1 {
		t.Errorf("%d answers were taken", taken.Load())
	}
	if _, err := first.WaitTurn(within(t), turn); err != nil {
		t.Fatal(err)
	}
	for _, e := range []*rpctest.Editor{first, second} {
		see(t, e, "the end", func() bool {
			return len(e.Questions()) == 0 && strings.Contains(e.Text(), "** DONE Answered: Printing")
		})
	}
	if n := strings.Count(lastTold(model), "(:printer"); n != 1 {
		t.Errorf("the model was told %d answers", n)
	}
}

// What is asked wrongly goes back to the model with what would be right.
func TestWrongQuestions(t *testing.T) {
	for says, arguments := range map[string]string{
		"the argument :questions is missing":                         ``,
		"did you mean :questions?":                                   `:question (:question "x")`,
		"number 1 of :questions: the argument :question is missing":  `:questions ((:kind :text))`,
		"number 2 of :questions: there is no argument :optoins; did": `:questions ((:question "x") (:question "y" :optoins ("a" "b")))`,
		"did you mean :choices?":                                     `:questions ((:question "x" :kind :choises))`,
		"a list of plists, and number 1 of it is none":               `:questions ("Which?")`,
		"question 1: a :choice has 2 to 20 :options, not 1":          `:questions (:question "x" :options ("a"))`,
		"the option \"a\" stands twice":                              `:questions ((:question "x" :options ("a" " a ")))`,
		":options and :own are for a :choice":                        `:questions ((:question "x" :kind :text :options ("a" "b")))`,
		"no number is at least 5 and at most 1":                      `:questions ((:question "x" :kind :number :min 5 :max 1))`,
		"the :default is no answer":                                  `:questions ((:question "x" :kind :number :default "soon"))`,
		"a :secret has no :default":                                  `:questions ((:question "x" :kind :secret :default "y"))`,
		"two answers are named":                                      `:questions ((:question "x" :name "a") (:question "y" :name "A"))`,
		"no name for an answer":                                      `:questions ((:question "x" :name "a b"))`,
		"1 to 8 questions, not 9":                                    `:questions (` + strings.Repeat(`(:question "x")`, 9) + `)`,
		"it may have 500 characters":                                 `:questions ((:question "` + strings.Repeat("x", 501) + `"))`,
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			in, model := newInstanceAndModel(t, questioner(arguments)...)
			in.start(t)
			e := in.editor(t, rpctest.Config{})
			sent, err := e.Send(within(t), "q1", "print it")
			if err != nil {
				t.Fatal(err)
			}
			if finished, err := e.WaitTurn(within(t), sent.Turn); err != nil || finished.State != protocol.TurnAnswered || len(e.Questions()) > 0 {
				t.Errorf("the turn ended %+v, %v, %d questions", finished, err, len(e.Questions()))
			}
			if got := lastTold(model); !strings.Contains(got, says) || !strings.Contains(got, ": failed") {
				t.Errorf("the model was told %s", got)
			}
		})
	}
}

// A question, and its answer, outlive the kernel and the Emacs, however they end.
func TestQuestionOutlivesTheKernel(t *testing.T) {
	for _, step := range []string{"before the answer", "after the answer", "answered between"} {
		t.Run(step, func(t *testing.T) {
			t.Parallel()
			in, model := newInstanceAndModel(t, questioner(printing)...)
			k := in.spawn(t)
			e := in.editor(t, rpctest.Config{File: in.mainFile()})
			turn, question := questioned(t, e, "q1")
			e.Kill()
			k.kill()
			if step == "answered between" { // as if it had been killed before it could tell
				j := in.journal(t)
				answers := []protocol.FieldAnswer{{Name: "printer", Values: []string{"ink"}}, {Name: "copies", Values: []string{"2"}}, {Name: "both", Values: []string{"no"}}}
				if _, err := j.Asks.Decide(t.Context(), question.ID, protocol.AskOutcome{Decision: protocol.Answered, Answers: answers, Client: "emacs"}); err != nil {
					t.Fatal(err)
				}
				if err := j.Close(); err != nil {
					t.Fatal(err)
				}
			}
			k = in.spawn(t)
			e = in.editor(t, rpctest.Config{File: in.mainFile()})
			if step != "answered between" {
				see(t, e, "the question again", func() bool { return len(e.Questions()) == 1 && e.Questions()[0].ID == question.ID })
				if n := strings.Count(e.Text(), "TODO Answer: Printing"); n != 1 {
					t.Errorf("it stands there %d times:\n%s", n, e.Text())
				}
				if err := answer(t, e, question.ID, "printer", "ink", "copies", "2", "both", "no"); err != nil {
					t.Fatal(err)
				}
			}
			if step == "after the answer" {
				k.kill()
				in.spawn(t)
				e = in.editor(t, rpctest.Config{File: in.mainFile()})
			}
			see(t, e, "the end", func() bool {
				return strings.Contains(e.Text(), "** Printed") || strings.Contains(e.Text(), "** Interrupted")
			})
			if strings.Contains(e.Text(), "** Interrupted") { // it was killed while the model was asked: once more
				retry(t, e, turn)
				see(t, e, "the answer", func() bool { return strings.Contains(e.Text(), "** Printed") })
			}
			idle(t, e)
			if got := lastTold(model); !strings.Contains(got, `(:printer "ink" :copies 2 :both nil)`) {
				t.Errorf("the model was told %s", got)
			}
			if text := e.Text(); strings.Count(text, "** DONE Answered: Printing") != 1 || strings.Contains(text, "TODO") || len(e.Questions()) > 0 {
				t.Errorf("the buffer has\n%s", text)
			}
			if n := len(in.rows(t, journal.Query{Turn: turn, Kinds: []journal.Kind{journal.KindQuestion}})); n != 1 {
				t.Errorf("the person was asked %d times", n)
			}
		})
	}
}

func retry(t *testing.T, e *rpctest.Editor, turn string) {
	t.Helper()
	if err := e.Call(within(t), protocol.MethodTurnRetry, protocol.TurnRetryParams{Turn: turn}, nil); err != nil {
		t.Fatal(err)
	}
}

// safe is a note that asks for a secret, uses it, and would like to have it everywhere.
const safe = `#+TITLE: Safe
#+begin_src lisp
(defskill :skill-safe
  :priority 90
  :trigger (lambda (context) (search "open" (getf (getf context :payload) :text)))
  :neuro (lambda (context)
           (let ((results (getf context :results)))
             (if (null results)
                 '(:type :request :target :tool :action :call :tool "ask_user"
                   :args (:questions ((:question "The word?" :kind :secret :name "word") (:question "For whom?" :name "whom"))))
                 (let ((answers (getf (first results) :answers)))
                   (kernel-log "it is ~a" (getf answers :word))
                   (ask-neuro (format nil "use ~a of ~a" (getf answers :word) (length (getf answers :word)))))))))
#+end_src
`

// What is secret is the skill's alone: it is in no buffer, file, journal, log or request.
func TestSecretIsKeptNowhere(t *testing.T) {
	const word = "Sesam\"öffne\\dich"
	in, model := newInstanceAndModel(t, llmtest.Exchange{Reply: insertion("Opened"), Times: -1})
	in.write(t, "skills/safe.org", safe)
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	sent, err := e.Send(within(t), "q1", "open it")
	if err != nil {
		t.Fatal(err)
	}
	see(t, e, "the question", func() bool { return len(e.Questions()) == 1 })
	if err := answer(t, e, e.Questions()[0].ID, "word", word, "whom", "me"); err != nil {
		t.Fatal(err)
	}
	if finished, err := e.WaitTurn(within(t), sent.Turn); err != nil || finished.State != protocol.TurnAnswered {
		t.Fatalf("the turn ended %+v, %v", finished, err)
	}
	idle(t, e)
	if got := lastTold(model); !strings.Contains(got, "given; it is secret") || !strings.Contains(got, `:whom "me"`) {
		t.Errorf("the model was told %s", got)
	}
	used := false
	for _, request := range model.Requests() {
		for _, m := range request.Messages() {
			used = used || strings.Contains(m.Content, "use REDACTED of 16")
			if strings.Contains(m.Content, "Sesam") {
				t.Errorf("the model was sent %s", m.Content)
			}
		}
	}
	if !used {
		t.Error("the skill did not get the secret")
	}
	if text := e.Text(); strings.Contains(text, "Sesam") || !strings.Contains(text, "- The word? :: given, and kept nowhere\n- For whom? :: me\n") {
		t.Errorf("the buffer has\n%s", text)
	}
	quoted, err := json.Marshal("Sesam")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(filepath.Dir(in.paths.Home), func(path string, entry os.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		text, err := os.ReadFile(path)
		if bytes.Contains(text, quoted[1:len(quoted)-1]) {
			t.Errorf("%s has it", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.ReadFile(in.paths.Log)
	if err != nil || !bytes.Contains(log, []byte("it is REDACTED")) {
		t.Errorf("the log says nothing of it, %v", err)
	}
}
