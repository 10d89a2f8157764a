package skill_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"org-agent/kernel/skill"
)

// parrot is a skill that asks the model and checks the reply, and the beginning of a test of it.
var parrot = []string{
	`(defun trigger-parrot (context) (eq (getf (getf context :payload) :sensor) :chat-message))`,
	`(defun neuro-parrot (context)
  (let ((text (getf (getf context :payload) :text)))
    (cond ((string= text "quiet") nil)
          ((string= text "direct") '(:type :response :text "direct"))
          ((string= text "prompt") "what the kernel is to ask")
          ((string= text "broken") (car text))
          (t (ask-neuro (format nil "Say ~a" text) :system-prompt "You are a parrot.")))))`,
	`(defun check-parrot (action context)
  (declare (ignore context))
  (case (getf action :target)
    (:shell nil)
    (:system (error "never"))
    (:telegram '(:type :response :text "not there"))
    (t action)))`,
	`(defskill :parrot :trigger #'trigger-parrot :neuro #'neuro-parrot :symbolic #'check-parrot)`,
}

func TestLanguageOfProposals(t *testing.T) {
	for name, c := range map[string]struct{ form, fault string }{
		"a string is a chat message":      {`(proposes "hi" '(:type :response :text "hi back") :reply "(:type :response :text \"hi back\")" :asked "Say hi")`, ""},
		"what the model is told besides":  {`(proposes "hi" '(:type :response) :reply '(:type :response :text "x") :asked '("Say hi" "You are a parrot."))`, ""},
		"prose is an answer":              {`(proposes "hi" '(:type :request :target :emacs :action :insert-at-end :text "Hello.") :reply "Hello.")`, ""},
		"an answer where the event is":    {`(proposes '(:payload (:sensor :chat-message :text "hi" :channel :matrix :room-id "!r")) '(:target :matrix :room-id "!r") :reply "Hello.")`, ""},
		"the payload alone":               {`(proposes '(:sensor :chat-message :text "direct") '(:text "direct"))`, ""},
		"nothing":                         {`(proposes "quiet" nil)`, ""},
		"a prompt is asked by the kernel": {`(proposes "prompt" '(:text "yes") :reply '(:type :response :text "yes") :asked "the kernel is to ask")`, ""},
		"fields in any order":             {`(proposes "direct" '(:text "direct" :type :response))`, ""},
		"another value":                   {`(proposes "direct" '(:text "other"))`, `for "direct" the proposal has :text "direct", not "other"`},
		"a field that is not there":       {`(proposes "direct" '(:buffer "x"))`, `has no :buffer`},
		"nothing was expected":            {`(proposes "direct" nil)`, `none was expected`},
		"nothing came":                    {`(proposes "quiet" '(:type :response))`, `for "quiet" there is no proposal`},
		"no skill takes it":               {`(proposes '(:sensor :heartbeat) nil)`, ""},
		"no skill takes it, but should":   {`(proposes '(:sensor :heartbeat) '(:type :log))`, `no skill of the note takes it`},
		"no reply for the question":       {`(proposes "hi" '(:type :response))`, `the model was asked "Say hi", and the test has no :reply`},
		"asked something else":            {`(proposes "hi" '(:type :response) :reply '(:type :response :text "x") :asked "Say ho")`, `was asked "Say hi", and not "Say ho"`},
		"a reply that is none":            {`(proposes "hi" '(:type :response) :reply "")`, `the reply is empty`},
		"the skill fails":                 {`(proposes "broken" nil)`, `is not of type LIST`},
		"an unknown keyword":              {`(proposes "direct" nil :replies "x")`, `there is no :replies here`},
		"allowed":                         {`(allows '(:type :response :text "x"))`, ""},
		"not allowed":                     {`(allows '(:type :request :target :shell :cmd "x"))`, `became nil`},
		"refused":                         {`(refuses '(:type :request :target :shell :cmd "x"))`, ""},
		"refused by an error":             {`(refuses '(:type :request :target :system))`, ""},
		"not refused":                     {`(refuses '(:type :response :text "x"))`, `was not refused`},
		"rewritten":                       {`(rewrites '(:type :request :target :telegram) '(:type :response :text "not there"))`, ""},
		"rewritten otherwise":             {`(rewrites '(:type :request :target :telegram) '(:text "there"))`, `not "there"`},
		"not rewritten":                   {`(rewrites '(:type :response :text "x") '(:text "x"))`, `was returned as it is`},
		"for an event":                    {`(refuses '(:type :request :target :shell) "hi")`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			n := loaded(t, skill.Options{}, append(parrot, "#+end_src", "", "#+begin_src lisp :test yes", "(deftest it "+c.form+")")...)
			wantFault(t, n, c.fault)
		})
	}
}

// wantFault checks that the note's only test fails with that fault, or passes if it is "".
func wantFault(t *testing.T, n *skill.Note, fault string) {
	t.Helper()
	results, err := n.Test(t.Context())
	if err != nil || len(results) != 1 {
		t.Fatalf("results %v, error %v", results, err)
	}
	switch faults := results[0].Faults; {
	case fault == "" && len(faults) > 0:
		t.Errorf("it failed: %v", faults)
	case fault != "" && (len(faults) == 0 || !strings.Contains(faults[0].Message, fault)):
		t.Errorf("faults %v, want %q", faults, fault)
	}
}

// TestProposesOutsideATest checks that the test language exists only in tests.
func TestProposesOutsideATest(t *testing.T) {
	k := theSkill(t, skill.Options{}, `(defun n (c) (proposes "x" nil))`, `(defskill :x :trigger (lambda (c) t) :neuro #'n)`)
	if _, err := k.Neuro(t.Context(), chatMessage(t, "x"), nil); err == nil || !strings.Contains(err.Error(), "belongs in a test") {
		t.Errorf("error %v", err)
	}
}

// TestProposesChoosesTheSkill checks that the note's skill that accepts the event is tested, by
// priority.
func TestProposesChoosesTheSkill(t *testing.T) {
	n := loaded(t, skill.Options{},
		`(defun any (c) t)`, `(defun shouts (c) (search "!" (getf (getf c :payload) :text)))`,
		`(defun low (c) '(:type :response :text "low"))`, `(defun high (c) '(:type :response :text "high"))`,
		`(defskill :low :priority 90 :trigger #'any :neuro #'low)`, `(defskill :high :trigger #'shouts :neuro #'high)`,
		"#+end_src", "#+begin_src lisp :test yes",
		`(deftest it (proposes "hey!" '(:text "high")) (proposes "hey" '(:text "low")))`)
	results, err := n.Test(t.Context())
	if err != nil || len(results) != 1 || len(results[0].Faults) > 0 {
		t.Errorf("results %v, error %v", results, err)
	}
}

func TestReplay(t *testing.T) {
	recording := skill.Recording{
		Event: chatMessage(t, "hi"), Replies: []string{`(:type :response :text "hi back")`},
		Action: list(t, `(:type :response :text "hi back")`),
	}
	options := skill.Options{Specs: kernelSpecs, Recorded: func(_ context.Context, turn string) (skill.Recording, error) {
		if turn != "T1" {
			return skill.Recording{}, errors.New("there is no turn " + turn)
		}
		return recording, nil
	}}
	for _, c := range []struct {
		name, test, fault string
		options           skill.Options
	}{
		{"the same comes out", `(deftest again (:turn "T1"))`, "", options},
		{"with forms of its own", `(deftest again (:turn "T1") (is (equal (first replies) "(:type :response :text \"hi back\")")) (proposes event '(:text "hi back") :reply replies) (allows action))`, "", options},
		{"something else comes out", `(deftest again (:turn "T1") (proposes event action :reply "Other."))`, "has :type :request, not :response", options},
		{"no such turn", `(deftest again (:turn "T2"))`, "there is no turn T2", options},
		{"no journal", `(deftest again (:turn "T1"))`, "there is no journal here", skill.Options{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := loaded(t, c.options, append(parrot, "#+end_src", "#+begin_src lisp :test yes", c.test)...)
			wantFault(t, n, c.fault)
		})
	}
	faulty := append(parrot, "#+end_src", "#+begin_src lisp :test yes", `(deftest again (:turns "T1"))`)
	if results, err := loaded(t, options, faulty...).Test(t.Context()); err != nil || !strings.Contains(results[0].Faults[0].Message, `(:turn "ID")`) {
		t.Errorf("a wrong option: %v, %v", results, err)
	}
}

// TestProve checks that headings under Success Criteria are proven by the blocks that name them.
func TestProve(t *testing.T) {
	source := []byte(`* Success Criteria
** TODO It holds
** DONE It fails
** Nobody looks
** TODO A group
*** TODO One of it
** COMMENT TODO Not yet
* Build
#+name: It holds
#+begin_src lisp :test yes
(deftest holds (is t))
#+end_src
#+begin_src lisp :test yes :criterion It fails
(deftest one (is t))
(deftest fails (is (= 1 2)))
#+end_src
#+begin_src lisp :test yes
(deftest other (is t))
#+end_src
`)
	proofs, hash, err := skill.Prove(t.Context(), "a.org", source, skill.Options{Specs: kernelSpecs})
	if err != nil || hash == "" {
		t.Fatalf("hash %q, error %v", hash, err)
	}
	var got []string
	for _, p := range proofs {
		got = append(got, string(p.Result)+" "+p.Criterion)
	}
	want := "PASS It holds;FAIL It fails;NONE Nobody looks;NONE A group;NONE One of it;PASS other"
	if strings.Join(got, ";") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ";"), want)
	}
	if proofs[1].Line != 3 || len(proofs[1].Faults) != 1 || !proofs[1].Heading || proofs[5].Heading || proofs[5].Line == 0 {
		t.Errorf("proofs %+v", proofs)
	}
	if _, _, err := skill.Prove(t.Context(), "a.org", note(`(car`), skill.Options{}); skill.FaultsOf(err) == nil {
		t.Errorf("a note that does not load: %v", err)
	}
}
