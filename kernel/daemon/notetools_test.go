package daemon_test

import (
	"os"
	"strings"
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// lettersNote is a note of the person whose tool reads the files that the note was granted.
const lettersNote = `#+TITLE: Letters
#+CAPABILITIES: read:letters

#+begin_src lisp
(def-cognitive-tool :read-letter "Reads a letter."
  ((:name :type :string :description "Whose letter" :required t))
  :guard (lambda (args context)
           (if (search "/" (getf args :name)) (list :refuse (format nil "no paths in ~a" (getf context :session))) t))
  :body (lambda (args)
          (uiop:read-file-string (format nil "letters/~a.txt" (getf args :name)))))

(def-cognitive-tool :count-letters "Counts the letters of a word." ((:word :type :string :required t))
  :body (lambda (args) (length (getf args :word))))
#+end_src
`

func toolCall(name, arguments string) string {
	return `(:type :request :target :tool :action :call :tool "` + name + `" :args ` + arguments + `)`
}

// TestToolOfANote checks that a tool which a note defines is offered to the model, that the person is
// asked because the note was granted files, that the note performs the call and the model gets the
// result, and that the guard refuses what it does not want without asking anybody.
func TestToolOfANote(t *testing.T) {
	in, model := newInstanceAndModel(t,
		llmtest.Exchange{Match: "^read", Reply: toolCall("read-letter", `(:name "../ada")`)},
		llmtest.Exchange{Match: "no paths in main", Reply: toolCall("Read_Letter", `(:nme "ada")`)},
		llmtest.Exchange{Match: "did you mean :name", Reply: toolCall("read_letter", `(:name "ada")`)},
		llmtest.Exchange{Match: "dear all", Reply: insertion("* It says: dear all")})
	in.write(t, "skills/mine.org", lettersNote)
	in.write(t, "letters/ada.txt", "dear all")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	(&person{t: t, in: in, editor: e}).grant()
	turn, approval := asked(t, e, "q1", "read")
	if told, _ := systems(model); !strings.Contains(told[0], `read-letter (:name S): Reads a letter.`) {
		t.Errorf("it is not offered in\n%s", told[0])
	}
	if !strings.HasPrefix(approval.Summary, "Use the tool read-letter of ") || strings.Contains(approval.Text, "digest") || !strings.Contains(approval.Text, `:name "ada"`) ||
		!strings.Contains(strings.Join(approval.Effects, "\n"), "which was granted read:") || !strings.Contains(approval.Reason, "mine.org, which was granted") {
		t.Errorf("it is shown as %+v", approval)
	}
	if err := decide(t, e, protocol.AskDecideParams{ID: approval.ID, Decision: protocol.AllowSession}); err != nil {
		t.Fatal(err)
	}
	if finished, err := e.WaitTurn(within(t), turn); err != nil || finished.State != protocol.TurnAnswered {
		t.Fatalf("the turn ended %+v, %v", finished, err)
	}
	why, err := traceOf(t, in, turn)
	if err != nil {
		t.Fatal(err)
	}
	wantInOrder(t, why.Outline, "no paths in main", "did you mean :name", "A person was asked", "Action performed", "dear all")
	if n := strings.Count(why.Outline, "A person was asked"); n != 1 {
		t.Errorf("a person was asked %d times", n)
	}
	var list protocol.SkillListResult
	if err := e.Call(within(t), protocol.MethodSkillList, protocol.Empty{}, &list); err != nil {
		t.Fatal(err)
	}
	for _, s := range list.Skills {
		if strings.HasSuffix(s.File, "mine.org") && (len(s.Tools) != 2 || s.Tools[0].Name != "read-letter") {
			t.Errorf("the note is listed with %+v", s.Tools)
		}
	}
}

// TestToolOfAChangedNote checks that what the person allowed for a conversation holds until the note
// changes, and that nobody is asked about a tool of a note without grants.
func TestToolOfAChangedNote(t *testing.T) {
	call := toolCall("read-letter", `(:name "ada")`)
	in, _ := newInstanceAndModel(t,
		llmtest.Exchange{Match: "^read", Reply: call, Times: 3},
		llmtest.Exchange{Match: "^count", Reply: toolCall("count-letters", `(:word "seven")`)},
		llmtest.Exchange{Match: "dear (all|nobody)", Reply: insertion("* Read"), Times: 3},
		llmtest.Exchange{Match: `"5"|:text "5|\b5\b`, Reply: insertion("* Five")})
	in.write(t, "skills/mine.org", lettersNote)
	in.write(t, "letters/ada.txt", "dear all")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	sent, err := e.Send(within(t), "q0", "count")
	if err != nil {
		t.Fatal(err)
	}
	if finished, err := e.WaitTurn(within(t), sent.Turn); err != nil || finished.State != protocol.TurnAnswered || len(e.Approvals()) != 0 {
		t.Fatalf("without a grant the turn ended %+v, %v, asked %v", finished, err, e.Approvals())
	}
	(&person{t: t, in: in, editor: e}).grant()
	turn, approval := asked(t, e, "q1", "read")
	if err := decide(t, e, protocol.AskDecideParams{ID: approval.ID, Decision: protocol.AllowSession}); err != nil {
		t.Fatal(err)
	}
	if finished, err := e.WaitTurn(within(t), turn); err != nil || finished.State != protocol.TurnAnswered {
		t.Fatalf("the turn ended %+v, %v", finished, err)
	}
	if sent, err = e.Send(within(t), "q2", "read"); err != nil {
		t.Fatal(err)
	}
	if finished, err := e.WaitTurn(within(t), sent.Turn); err != nil || finished.State != protocol.TurnAnswered {
		t.Fatalf("allowed for the session: %+v, %v", finished, err)
	}
	in.write(t, "skills/mine.org", strings.Replace(lettersNote, "Reads a letter.", "Reads one letter.", 1))
	if err := e.Call(within(t), protocol.MethodSkillReload, protocol.Empty{}, &protocol.SkillListResult{}); err != nil {
		t.Fatal(err)
	}
	(&person{t: t, in: in, editor: e}).grant()
	turn, approval = asked(t, e, "q3", "read")
	if err := decide(t, e, protocol.AskDecideParams{ID: approval.ID, Decision: protocol.AllowOnce}); err != nil {
		t.Fatal(err)
	}
	if finished, err := e.WaitTurn(within(t), turn); err != nil || finished.State != protocol.TurnAnswered {
		t.Fatalf("the turn ended %+v, %v", finished, err)
	}
}

// TestActuatorOfANote checks that a function that a note registered performs the actions of its target
// after a person allowed it, and that its guard refuses others.
func TestActuatorOfANote(t *testing.T) {
	in, _ := newInstanceAndModel(t,
		llmtest.Exchange{Match: "^light", Reply: `(:type :request :target :lamp :action :on :room "cellar")`},
		llmtest.Exchange{Match: "its guard refuses it", Reply: `(:type :request :target :lamp :payload (:action :on :room "hall"))`},
		llmtest.Exchange{Match: "ON in hall", Reply: insertion("* It is light")})
	in.write(t, "skills/lamp.org", `#+TITLE: Lamp
#+begin_src lisp
(defun switch-lamp (action context)
  (declare (ignore context))
  (let ((payload (getf action :payload)))
    (inject-stimulus (list :sensor :lamp :text (getf payload :room)))
    (format nil "~a in ~a" (getf payload :action) (getf payload :room))))
(register-actuator :lamp #'switch-lamp :guard (lambda (action) (string= "hall" (getf (getf action :payload) :room))))
(defskill :lamp-watcher
  :trigger (lambda (context) (eq :lamp (getf (getf context :payload) :sensor)))
  :neuro (lambda (context) (kernel-log "the lamp of ~a" (getf (getf context :payload) :text)) nil))
#+end_src
`)
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	turn, approval := asked(t, e, "q1", "light")
	if !strings.Contains(approval.Text, ":room \"hall\"") || !strings.Contains(approval.Text, ":action :on") {
		t.Errorf("it is shown as %+v", approval)
	}
	if err := decide(t, e, protocol.AskDecideParams{ID: approval.ID, Decision: protocol.AllowOnce}); err != nil {
		t.Fatal(err)
	}
	if finished, err := e.WaitTurn(within(t), turn); err != nil || finished.State != protocol.TurnAnswered {
		t.Fatalf("the turn ended %+v, %v", finished, err)
	}
	until(t, "the lamp being heard", func() bool {
		log, err := os.ReadFile(in.paths.Log)
		return err == nil && strings.Contains(string(log), "the lamp of hall")
	})
}
