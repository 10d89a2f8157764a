package skill_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/action"
	"org-agent/kernel/skill"
)

// knocks is a note that defines an action.
const knocks = `(defun knock (fields)
  (if (equal (getf fields :text) "boom")
      (error "nobody opens")
      (format nil "~a, ~a times" (getf fields :text) (getf fields :times))))
(defaction :door :knock
  :does "to knock at a door"
  :fields ((:text :text :required t :limit 20 :example "who is there") (:times :integer) (:how :name))
  :perform #'knock)`

// TestDefaction checks that a note defines an action: its spec is data, and its function performs
// it.
func TestDefaction(t *testing.T) {
	n := loaded(t, skill.Options{}, knocks)
	actions := n.Actions()
	if len(actions) != 1 {
		t.Fatalf("the note defines %v", actions)
	}
	a := actions[0]
	if a.Key() != (action.Key{Target: "door", Name: "knock"}) || a.Does != "to knock at a door" || !a.Closed || a.Line != 8 || a.Digest != n.Hash {
		t.Errorf("it is %+v", a)
	}
	if want := `to knock at a door: (:type :request :target :door :action :knock :text "who is there" :times 1 :how "<how>")`; a.Form().String() != want {
		t.Errorf("it is shown as %s", a.Form())
	}
	for fields, want := range map[string]string{
		`(:text "ho" :times 3)`: "ho, 3 times", `(:text "ho")`: "ho, NIL times", `(:text "boom")`: "a.org:6:7: nobody opens",
	} {
		text, err := a.Perform(t.Context(), list(t, fields), "main")
		if err != nil {
			text = err.Error()
		}
		if text != want {
			t.Errorf("%s is done with %q, want %q", fields, text, want)
		}
	}
}

// TestDefactionWithTests checks that a note with an action may have tests, which run the function
// in an environment of their own.
func TestDefactionWithTests(t *testing.T) {
	h := newHome(t)
	h.write("a.org", note(knocks, "#+end_src", "", "#+begin_src lisp :test yes",
		`(deftest says-so (is (equal "ho, 2 times" (knock '(:text "ho" :times 2)))))`,
		`(deftest names-no-chat (is (eq :no-chat (action-delivery '(:type :request :target :door :action :knock :text "ho") nil))))`))
	r := skill.New(skill.Config{Home: h.dir, Specs: kernelSpecs})
	if s := r.Load(t.Context()); len(s) != 1 || s[0].State != skill.Live || s[0].Tests != 2 || len(s[0].Actions) != 1 {
		t.Errorf("the note is %+v", s)
	}
}

// TestDefactionFaults checks that an invalid action is reported at its definition, with what to
// write instead.
func TestDefactionFaults(t *testing.T) {
	for form, want := range map[string]string{
		`(defaction :knock :does "to knock" :perform #'car)`:                                       "the action :knock has no name",
		`(defaction :door :knock :perform #'car)`:                                                  "has no :does",
		`(defaction :door :knock :does "to knock")`:                                                "has no :perform",
		`(defaction :door :knock :dose "to knock" :perform #'car)`:                                 "did you mean :does?",
		`(defaction :door :knock :does "" :perform #'car)`:                                         "its :does is a string",
		`(defaction :door :knock :does "x" :does "y" :perform #'car)`:                              "two values for :does",
		`(defaction :door :knock :does "x" :perform 5)`:                                            "its :perform is no function",
		`(defaction :door "no name" :does "x" :perform #'car)`:                                     "small letters, digits and hyphens",
		`(defaction :door :knock :does "x" :perform #'car :fields ((text)))`:                       "each of its :fields is a row",
		`(defaction :door :knock :does "x" :perform #'car :fields ((:text :txt)))`:                 "did you mean :text?",
		`(defaction :door :knock :does "x" :perform #'car :fields ((:text :text :require t)))`:     "did you mean :required?",
		`(defaction :door :knock :does "x" :perform #'car :fields ((:text :text) (:text :text)))`:  "it has the field :text twice",
		`(defaction :door :knock :does "x" :perform #'car :fields ((:id :text)))`:                  "give it another name",
		`(defaction :door :knock :does "x" :perform #'car :fields ((:n :integer :example "one")))`: "is not a positive integer",
		`(defaction :door :knock :does "x" :perform #'car :fields ((:t :text :limit 0)))`:          "its :limit is a number",
		`(defaction :emacs :shout :does "x" :perform #'car)`:                                       "the target :emacs belongs to the kernel; give the action :emacs :shout a target of its own, such as :a",
		`(defaction :emacs :open :does "x" :perform #'car)`:                                        "the target :emacs belongs to the kernel",
		`(defaction :telegram :send :does "x" :perform #'car)`:                                     "belongs to the kernel",
		knocks + "\n" + knocks: "defines the action :door :knock twice",
		`(defskill :s :trigger (lambda (c) (defaction :door :knock :does "x" :perform #'car)))`: "defaction was called by a trigger; it belongs outside any function",
	} {
		n, err := skill.LoadNote(t.Context(), "a.org", note(form), skill.Options{Specs: kernelSpecs})
		faults := ""
		if err != nil {
			faults = err.Error()
		} else {
			for _, d := range n.Diagnostics {
				faults += d.String()
			}
		}
		if !strings.Contains(faults, want) {
			t.Errorf("%s: %q, want %q", form, faults, want)
		}
	}
}

// TestActionsOfTheSet checks that the actions of live notes are in the set. If two notes define the
// same action, the second is not live and says what to do. Without the first it is.
func TestActionsOfTheSet(t *testing.T) {
	h := newHome(t)
	h.write("a.org", note(knocks))
	h.write("b.org", note(knocks))
	r := skill.New(skill.Config{Home: h.dir, Specs: kernelSpecs})
	statuses := r.Load(t.Context())
	if len(statuses) != 2 || statuses[0].State != skill.Live || statuses[1].State != skill.Duplicate {
		t.Fatalf("the notes are %+v", statuses)
	}
	if d := statuses[1].Diagnostics; len(d) != 1 || d[0].Line != 8 || !strings.Contains(d[0].Message, "the action :door :knock is defined by") || !strings.Contains(d[0].Message, "give this one another name") {
		t.Errorf("the second is told %v", d)
	}
	if got := statuses[0].Actions; len(got) != 1 || got[0].Key != ":door :knock" || got[0].Does != "to knock at a door" || !strings.HasPrefix(got[0].Form, "(:type :request :target :door") {
		t.Errorf("the first has %+v", got)
	}
	before := r.Current()
	if err := os.Remove(filepath.Join(h.dir, "a.org")); err != nil {
		t.Fatal(err)
	}
	r.Load(t.Context())
	files := func(s *skill.Set) (names []string) {
		for _, a := range s.Actions() {
			names = append(names, a.File[len(h.dir)+1:])
		}
		return names
	}
	if got := files(r.Current()); !slices.Equal(got, []string{"b.org"}) {
		t.Errorf("then the actions are those of %v", got)
	}
	if got := files(before); !slices.Equal(got, []string{"a.org"}) {
		t.Errorf("the set from before has those of %v", got)
	}
}

// TestActionDelivery checks that a note learns for which chat an action is, as the kinds of actions
// say.
func TestActionDelivery(t *testing.T) {
	n := loaded(t, skill.Options{}, knocks)
	const here = `'(:payload (:sensor :chat-message :channel :telegram :chat-id 42))`
	const there = `'(:payload (:sensor :chat-message :channel :matrix :room-id "!r" :chat-id "x"))`
	for call, want := range map[string]string{
		`'(:type :request :target :telegram :chat-id "42" :text "hi") ` + here:            ":OWN-CHAT",
		`'(:type :request :target :telegram :payload (:chat-id 42 :text "hi")) ` + here:   ":OWN-CHAT",
		`'(:type :request :target :telegram :chat-id "43" :text "hi") ` + here:            ":OTHER-CHAT",
		`'(:type :request :target :signal :chat-id "42" :text "hi") ` + here:              ":OTHER-CHAT",
		`'(:type :request :target :telegram) ` + here:                                     ":OTHER-CHAT",
		`'(:type :request :target :matrix :room-id "!r" :text "hi") ` + there:             ":OWN-CHAT",
		`'(:type :request :target :matrix :room-id "x" :text "hi") ` + there:              ":OTHER-CHAT",
		`'(:type :request :target :shell :cmd "date") ` + here:                            ":NO-CHAT",
		`'(:type :response :text "hi") ` + here:                                           ":NO-CHAT",
		`'(:type :request :target :door :action :knock :text "hi") ` + here:               ":NO-CHAT",
		`'(:type :request :target :peer :act "x") ` + here:                                "NIL",
		`'(:type :request :target :nowhere) ` + here:                                      "NIL",
		`'(:type :request . :target) ` + here:                                             "NIL",
		`nil nil`:                                                                         "NIL",
		`'(:type :request :target :telegram :chat-id "42") '(:payload (:channel :emacs))`: ":OTHER-CHAT",
	} {
		var got string
		err := n.Environment().Eval(t.Context(), "(action-delivery "+call+")", "typed", 1, func(text string) { got = text })
		if err != nil || got != want {
			t.Errorf("%s is %s, %v, want %s", call, got, err, want)
		}
	}
}
