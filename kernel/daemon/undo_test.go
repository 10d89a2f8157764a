package daemon_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// stepping is a skill that does one thing after the other and then answers.
func stepping(steps ...string) string {
	return deciding(fmt.Sprintf(`(defparameter *steps* '(%s))
(defun step-on (c) (or (nth (length (getf c :results)) *steps*) '(:type :response :text "Done")))
(defskill :stepper :priority 90 :trigger #'chosen :neuro #'step-on)`, strings.Join(steps, "\n")))
}

const editNotes = `(:type :request :target :emacs :action :edit :file "notes.org" :old "one" :new "two")`

// What a turn changed is told from its acts and receipts, also by the next kernel.
func TestTurnChanges(t *testing.T) {
	t.Parallel()
	in := newInstance(t)
	in.write(t, "skills/stepper.org", stepping(
		editNotes,
		`(:type :request :target :emacs :action :edit :file "notes.org" :old "refused" :new "x")`,
		`(:type :request :target :emacs :action :edit :file "notes.org" :old "stale" :new "x")`,
		`(:type :request :target :emacs :action :set-properties :id "e1" :properties (:effort "1:00" :note 5))`,
		`(:type :request :target :emacs :action :message :text "hi")`,
		elsewhere,
	))
	in.write(t, "notes.org", "one\n")
	in.start(t)
	stale := func(a protocol.Act) error {
		if a.Payload.Text("old") == "stale" { // nobody is asked about it
			return protocol.Errorf(protocol.CodeForbidden, "not there")
		}
		return nil
	}
	e := in.editor(t, rpctest.Config{Actions: []string{"edit", "set-properties", "message"}, Check: stale, Perform: func(a protocol.Act) (protocol.Receipt, error) {
		switch {
		case a.Payload.Text("old") == "refused":
			return protocol.Receipt{}, protocol.Errorf(protocol.CodeForbidden, "not there")
		case a.Payload.Text("action") == "set-properties":
			if a.Payload.Text("id") != "e1" {
				t.Errorf("the entry is not named in %v", a.Payload)
			}
			return protocol.Receipt{Done: true, File: "/n.org", Former: []protocol.FormerProperty{{Name: "EFFORT", Line: ":Effort: 2"}, {Name: "NOTE"}}}, nil
		}
		return protocol.Receipt{Done: true, Before: "a", After: "b"}, nil
	}})
	sent, err := e.Send(within(t), "q1", "go")
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		see(t, e, "an approval", func() bool { return len(e.Approvals()) == 1 })
		id := e.Approvals()[0].ID
		if err := decide(t, e, protocol.AskDecideParams{ID: id, Decision: protocol.AllowOnce}); err != nil {
			t.Fatal(err)
		}
		see(t, e, "it to be closed", func() bool { return len(e.Approvals()) == 0 || e.Approvals()[0].ID != id })
	}
	if _, err := e.WaitTurn(within(t), sent.Turn); err != nil {
		t.Fatal(err)
	}
	var told protocol.TurnChangesResult
	changes := func(id string) {
		t.Helper()
		told = protocol.TurnChangesResult{}
		if err := e.Call(within(t), protocol.MethodTurnChanges, protocol.TurnChangesParams{ID: id}, &told); err != nil {
			t.Fatal(err)
		}
	}
	changes("q1")
	if len(told.Changes) != 2 || told.Turn != sent.Turn || len(told.Stays) != 1 || !strings.Contains(told.Stays[0], "other") {
		t.Fatalf("%+v", told)
	}
	edit, set := told.Changes[0], told.Changes[1]
	if edit.Old != "one" || edit.New != "two" || edit.Before != "a" || edit.After != "b" || edit.File != in.paths.Home+"/notes.org" || edit.Unsure {
		t.Errorf("the edit is %+v", edit)
	}
	if set.Entry != "e1" || set.File != "/n.org" || len(set.Former) != 2 || set.Former[0].Line != ":Effort: 2" ||
		len(set.Properties) != 2 || set.Properties[1] != (protocol.Setting{Name: "NOTE", Value: "5"}) {
		t.Errorf("the setting is %+v", set)
	}
	undone := protocol.TurnUndoneParams{Turn: told.Turn, Acts: []string{set.Act}}
	if err := e.Call(within(t), protocol.MethodTurnUndone, undone, &protocol.Empty{}); err != nil {
		t.Fatal(err)
	}
	undone.Acts = []string{"nothing"}
	if err := e.Call(within(t), protocol.MethodTurnUndone, undone, &protocol.Empty{}); protocol.ErrorCode(err) != protocol.CodeNotFound {
		t.Errorf("an act that is none: %v", err)
	}
	changes(set.Act)
	if told.Changes[1].Undone == "" || told.Changes[0].Undone != "" {
		t.Errorf("after it was taken back: %+v", told.Changes)
	}
	idle(t, e)
	says := func(name, text string) {
		t.Helper()
		if strings.Count(text, "DONE Approved once, undone: ") != 1 || strings.Count(text, "DONE Approved once: ") != 3 {
			t.Errorf("the %s does not say what was undone:\n%s", name, text)
		}
	}
	// The record changes after the call was answered.
	until(t, "the record of what was undone", func() bool {
		return strings.Contains(e.Text(), "DONE Approved once, undone: ") &&
			strings.Contains(in.conversation(t, "main"), "DONE Approved once, undone: ")
	})
	says("buffer", e.Text())
	says("file", in.conversation(t, "main"))
	late := in.editor(t, rpctest.Config{})
	see(t, late, "everything", func() bool { return strings.Contains(late.Text(), "** Done") })
	says("buffer that is opened later", late.Text())
}

// What could not be done as things are is not taken as decided, whoever decides.
func TestStaleApprovalsWaitOn(t *testing.T) {
	t.Parallel()
	in := newInstance(t)
	in.write(t, "skills/stepper.org", stepping(editNotes))
	in.write(t, "notes.org", "one\n")
	in.start(t)
	var inTheWay error
	performed := 0
	e := in.editor(t, rpctest.Config{
		Actions: []string{"edit"},
		Check: func(a protocol.Act) error {
			if !strings.HasPrefix(a.Payload.Text("old"), "one") {
				t.Errorf("checked %v", a.Payload)
			}
			if inTheWay == nil {
				return nil
			}
			return protocol.Errorf(protocol.CodeForbidden, "%v\u202e", inTheWay)
		},
		Perform: func(protocol.Act) (protocol.Receipt, error) { performed++; return protocol.Receipt{Done: true}, nil },
	})
	if _, err := e.Send(within(t), "q1", "go"); err != nil {
		t.Fatal(err)
	}
	see(t, e, "the approval", func() bool { return len(e.Approvals()) == 1 })
	id := e.Approvals()[0].ID
	inTheWay = errors.New("-one\n+eins")
	for _, p := range []protocol.AskDecideParams{
		{ID: id, Decision: protocol.AllowOnce},
		{ID: id, Decision: protocol.AllowAlways},
		{ID: id, Decision: protocol.AllowOnce, Edited: strings.Replace(editNotes, `"two"`, `"three"`, 1)},
	} {
		err := decide(t, e, p)
		if protocol.ErrorCode(err) != protocol.CodeStale || !strings.Contains(err.Error(), "-one\n+eins⟨U+202E⟩") {
			t.Errorf("%+v: %v", p, err)
		}
	}
	var check protocol.AskCheckResult
	if err := e.Call(within(t), protocol.MethodAskCheck, protocol.AskCheckParams{ID: id}, &check); err != nil || check.Stale == "" {
		t.Errorf("checked: %q, %v", check.Stale, err)
	}
	if performed > 0 || len(e.Approvals()) != 1 {
		t.Fatalf("performed %d times, %d wait", performed, len(e.Approvals()))
	}
	inTheWay = nil
	if err := decide(t, e, protocol.AskDecideParams{ID: id, Decision: protocol.AllowOnce}); err != nil {
		t.Fatal(err)
	}
	see(t, e, "the answer", func() bool { return strings.Contains(e.Text(), "Done") })
	if performed != 1 {
		t.Errorf("performed %d times", performed)
	}
}

// Without an Emacs a change waits for one; it can be refused.
func TestChangesWaitForAnEmacs(t *testing.T) {
	t.Parallel()
	in := newInstance(t)
	in.write(t, "skills/stepper.org", stepping(editNotes))
	in.write(t, "notes.org", "one\n")
	in.start(t)
	e := in.editor(t, rpctest.Config{Actions: []string{"edit"}})
	if _, err := e.Send(within(t), "q1", "go"); err != nil {
		t.Fatal(err)
	}
	see(t, e, "the approval", func() bool { return len(e.Approvals()) == 1 })
	id := e.Approvals()[0].ID
	e.Close()
	shell := in.editor(t, rpctest.Config{Name: "cli"})
	until(t, "the Emacs being gone", func() bool {
		var status protocol.StatusResult
		return shell.Call(within(t), protocol.MethodStatus, protocol.Empty{}, &status) == nil && len(status.Connected) == 1
	})
	err := decide(t, shell, protocol.AskDecideParams{ID: id, Decision: protocol.AllowOnce})
	if protocol.ErrorCode(err) != protocol.CodeStale || !strings.Contains(err.Error(), "open one") {
		t.Errorf("allowed without an Emacs: %v", err)
	}
	if err := decide(t, shell, protocol.AskDecideParams{ID: id, Decision: protocol.Deny}); err != nil {
		t.Error(err)
	}
}
