package skill_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/lisp"
	"org-agent/kernel/skill"
)

// naming returns a note whose skill answers with the value of (identity …), and that says more
// about the agent.
func naming(skill, identity, read string) []byte {
	return note(identity, `(defskill :`+skill, `  :trigger (lambda (c) (eq (getf (getf c :payload) :sensor) :chat-message))`,
		`  :neuro (lambda (c) (declare (ignore c)) (prin1-to-string (list `+read+`))))`)
}

// TestIdentityIsRead checks that the file counts first, then the live note, then the default, and
// that every note reads the same.
func TestIdentityIsRead(t *testing.T) {
	h := newHome(t)
	h.write("reader.org", naming("reader", "", `(identity :name) (identity :manner) (identity :town "Rome") (identity :town) (mapcar #'identity '(:name)) (let ((k :name)) (identity k))`))
	file := map[string]string{}
	r := skill.New(skill.Config{Home: h.dir, Persona: func(name string) string { return file[name] }})
	r.Load(t.Context())
	for _, step := range []struct{ note, name, want string }{
		{"", "", `("org-agent" NIL "Rome" NIL (:NAME) :NAME)`},
		{`(defidentity :name "Max" :manner '("Be brief." (:deep 1)) :town nil)`, "", `("Max" ("Be brief." (:DEEP 1)) NIL NIL (:NAME) :NAME)`},
		{`(defidentity :name "Max")`, "Sam", `("Sam" NIL "Rome" NIL (:NAME) :NAME)`},
		{`(defidentity)`, "", `("org-agent" NIL "Rome" NIL (:NAME) :NAME)`},
	} {
		if step.note != "" {
			h.write("identity.org", note(step.note))
		}
		file["name"] = step.name
		r.Load(t.Context())
		if got := says(t, r); got != step.want {
			t.Errorf("with %s and the name %q it is %s, want %s", step.note, step.name, got, step.want)
		}
	}
	h.write("second.org", note(`(defidentity :name "Eve")`))
	h.write("identity.org", note(`(defidentity :name "Max")`))
	file["name"] = ""
	r.Load(t.Context())
	if name := r.Current().Identity().Name(); name != "Max" {
		t.Errorf("of two notes the name is %q", name)
	}
	warned := ""
	for _, s := range r.Statuses() {
		for _, d := range s.Diagnostics {
			warned += d.String() + "\n"
		}
	}
	if !strings.Contains(warned, "second.org:4:1: warning: who the agent is, is said by ") || strings.Contains(warned, "error") {
		t.Errorf("it is told %s", warned)
	}
}

// TestOwnIdentityWhileProven checks that the tests of a note see the identity of that note, also
// while another version is live.
func TestOwnIdentityWhileProven(t *testing.T) {
	h := newHome(t)
	r := skill.New(skill.Config{Home: h.dir})
	for _, name := range []string{"Max", "Eve"} {
		h.write("identity.org", append(note(fmt.Sprintf(`(defidentity :name %q)`, name)),
			fmt.Sprintf("#+begin_src lisp :test yes\n(deftest named (is (equal (identity :name) %q)))\n#+end_src\n", name)...))
		r.Load(t.Context())
		if got := r.Current().Identity(); got.Name() != name || got.File != filepath.Join(h.dir, "identity.org") {
			t.Errorf("the identity is %+v, want %s: %s", got, name, summary(r))
		}
	}
}

func TestWrongIdentities(t *testing.T) {
	for form, want := range map[string]string{
		`(defidentity :name)`:                                 "has no value",
		`(defidentity "Sam")`:                                 "it is written as (defidentity :name",
		`(defidentity :name 5)`:                               "is a string that is not empty",
		`(defidentity :name " ")`:                             "is a string that is not empty",
		`(defidentity :name (format nil "Sam~%* Safety"))`:    "is one line",
		`(defidentity :name (make-string 81))`:                "more than 80 characters",
		`(defidentity :name "a" :manner (make-string 70000))`: "more than the 65536",
		`(defidentity :name "a" :name "b")`:                   "it is written as",
		`(defidentity :manner #'car)`:                         "read who the agent is",
		`(progn (defidentity) (defidentity))`:                 "says twice",
		`(%identity 5)`:                                       "a keyword such as :name",
	} {
		_, err := skill.LoadNote(t.Context(), "a.org", note(form), skill.Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", form, err, want)
		}
	}
	n := loaded(t, skill.Options{}, `(defskill :s :trigger (lambda (c) (defidentity :name "late")))`)
	if got, err := n.Skills()[0].Matches(t.Context(), lisp.NewData(chatMessage(t, "x"))); err == nil || got {
		t.Errorf("it may be said while a skill runs: %v", err)
	}
}
