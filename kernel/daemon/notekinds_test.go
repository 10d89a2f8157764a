package daemon_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// doorNote is a note of the person that defines an action.
const doorNote = `#+TITLE: The door

#+begin_src lisp
(defun knock (fields)
  (format nil "somebody said ~a ~a times" (getf fields :text) (getf fields :times)))

(defaction :door :knock
  :does "to knock at the door"
  :fields ((:text :text :required t) (:times :integer :example 2))
  :perform #'knock)
#+end_src
`

const knockTwice = `(:type :request :target :door :action :knock :text "ho" :times 2)`

// newDoor is an instance with the note, whose model wants to knock and first writes it wrongly.
func newDoor(t *testing.T, times int) (*instance, *llmtest.Server) {
	in, model := newInstanceAndModel(t,
		llmtest.Exchange{Match: "^knock", Reply: `(:type :request :target :door :action :knock :text "ho" :time 2)`},
		llmtest.Exchange{Match: "has no field :time; did you mean :times", Reply: knockTwice},
		llmtest.Exchange{Match: `somebody said ho 2 times`, Reply: insertion("* They heard it"), Times: times})
	if err := os.MkdirAll(in.paths.Skills, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(in.paths.Skills, "door.org"), []byte(doorNote), 0o644); err != nil {
		t.Fatal(err)
	}
	return in, model
}

// TestKindOfANote: an action that a note defines is offered to the model and held against its spec.
// A person is asked, the note performs it, and the trace tells all of it.
func TestKindOfANote(t *testing.T) {
	in, model := newDoor(t, 1)
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	turn, approval := asked(t, e, "q1", "knock")
	if told, _ := systems(model); !strings.Contains(told[0], `- to knock at the door: (:type :request :target :door :action :knock :text "<text>" :times 2)`) {
		t.Errorf("it is not offered in\n%s", told[0])
	}
	if approval.Summary != "Do :door :knock, to knock at the door" || strings.Contains(approval.Text, "digest") || !strings.Contains(approval.Text, `:text "ho"`) ||
		!strings.Contains(strings.Join(approval.Effects, "\n"), "door.org does it, which can reach no files and no servers") || !strings.Contains(approval.Reason, "door.org defines") {
		t.Errorf("it is shown as %+v", approval)
	}
	if err := decide(t, e, protocol.AskDecideParams{ID: approval.ID, Decision: protocol.AllowOnce}); err != nil {
		t.Fatal(err)
	}
	if finished, err := e.WaitTurn(within(t), turn); err != nil || finished.State != protocol.TurnAnswered {
		t.Fatalf("the turn ended %+v, %v", finished, err)
	}
	var changes protocol.TurnChangesResult
	if err := e.Call(within(t), protocol.MethodTurnChanges, protocol.TurnChangesParams{ID: turn}, &changes); err != nil {
		t.Fatal(err)
	}
	if len(changes.Changes) != 0 || len(changes.Stays) != 1 || changes.Stays[0] != "Do :door :knock, to knock at the door" {
		t.Errorf("it is taken back by %+v", changes)
	}
	why, err := traceOf(t, in, turn)
	if err != nil {
		t.Fatal(err)
	}
	wantInOrder(t, why.Outline, "did you mean :times", "A person was asked: it does :door :knock", "Action performed", "What :: Do :door :knock, to knock at the door", "somebody said ho 2 times")
	var list protocol.SkillListResult
	if err := e.Call(within(t), protocol.MethodSkillList, protocol.Empty{}, &list); err != nil {
		t.Fatal(err)
	}
	for _, s := range list.Skills {
		if strings.HasSuffix(s.File, "door.org") {
			if len(s.Actions) != 1 || s.Actions[0].Key != ":door :knock" || s.Actions[0].Does != "to knock at the door" {
				t.Errorf("the note is listed with %+v", s.Actions)
			}
			return
		}
	}
	t.Errorf("the note is not listed: %+v", list.Skills)
}

// TestRowAboutANote: a row of policy.org allows what a note defines, so that nobody is asked.
func TestRowAboutANote(t *testing.T) {
	in, _ := newDoor(t, 1)
	in.write(t, "policy.org", "* Rules\n\n| rule | matches | verdict | why | since |\n|------+---------+---------+-----+-------|\n| action :door :knock | | allow | my door | |\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	sent, err := e.Send(within(t), "q1", "knock")
	if err != nil {
		t.Fatal(err)
	}
	if finished, err := e.WaitTurn(within(t), sent.Turn); err != nil || finished.State != protocol.TurnAnswered {
		t.Fatalf("the turn ended %+v, %v", finished, err)
	}
	if len(e.Approvals()) != 0 {
		t.Errorf("a person was asked: %+v", e.Approvals())
	}
}

// TestTurnKeepsItsKinds: a turn that waits keeps the version of the note that it began with, also when
// the note is gone from the home.
func TestTurnKeepsItsKinds(t *testing.T) {
	in, _ := newDoor(t, 1)
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	turn, approval := asked(t, e, "q1", "knock")
	if err := os.Remove(filepath.Join(in.paths.Skills, "door.org")); err != nil {
		t.Fatal(err)
	}
	if err := e.Call(within(t), protocol.MethodSkillReload, protocol.Empty{}, &protocol.SkillListResult{}); err != nil {
		t.Fatal(err)
	}
	if err := decide(t, e, protocol.AskDecideParams{ID: approval.ID, Decision: protocol.AllowOnce}); err != nil {
		t.Fatal(err)
	}
	if finished, err := e.WaitTurn(within(t), turn); err != nil || finished.State != protocol.TurnAnswered {
		t.Fatalf("the turn ended %+v, %v", finished, err)
	}
}

// TestHookOfANotesAction checks that a hook on the action of another note is called with the fields
// that the note declared, and that nobody is told that it would never be.
func TestHookOfANotesAction(t *testing.T) {
	in, _ := newDoor(t, 1)
	in.write(t, "skills/guard.org", "#+begin_src lisp\n"+`(defhook porter :on (before-tool "door-knock" "door-knok")
  :function (lambda (event) (list :refuse (format nil "~(~s~)" (getf event :arguments)))))`+"\n#+end_src\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	sent, err := e.Send(within(t), "q1", "knock")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.WaitTurn(within(t), sent.Turn); err != nil {
		t.Fatal(err)
	}
	why, err := traceOf(t, in, sent.Turn)
	if err != nil {
		t.Fatal(err)
	}
	wantInOrder(t, why.Outline, `(:text "ho" :times 2)`)
	log, err := os.ReadFile(in.paths.Log)
	if err != nil {
		t.Fatal(err)
	}
	if text := string(log); strings.Count(text, "a hook is never called") != 1 || !strings.Contains(text, `no tool is named \"door-knok\" now; did you mean \"door-knock\"?`) {
		t.Errorf("the log has\n%s", text)
	}
}
