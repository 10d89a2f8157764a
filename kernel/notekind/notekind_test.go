package notekind_test

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/act"
	"org-agent/kernel/action"
	"org-agent/kernel/kind"
	"org-agent/kernel/notekind"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
)

const door = `#+TITLE: Door
* Knocking
#+begin_src lisp
(defun knock (a) (let ((text (getf a :text))) (if (string= text "nobody") "" (format nil "~a was let in" text))))
(defaction :door :knock :does "to knock at a door" :fields ((:text :text :required t)) :perform #'knock)
(defskill :door :trigger (lambda (c) (declare (ignore c)) nil))
#+end_src
`

// notes returns skills in which the note is live, the fixed kinds, and the home of the note.
func notes(t *testing.T) (*skill.Registry, *kind.Set, string) {
	t.Helper()
	home := t.TempDir()
	write(t, home, door)
	fixed := kind.New(act.Kinds(act.Deps{})...)
	r := skill.New(skill.Config{Home: home, Specs: fixed.Specs, Logger: slog.New(slog.DiscardHandler)})
	for _, status := range r.Load(t.Context()) {
		if status.State != skill.Live {
			t.Fatalf("%+v", status)
		}
	}
	return r, fixed, home
}

func write(t *testing.T, home, source string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(home, "door.org"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
}

func knock(t *testing.T, who string) action.Action {
	t.Helper()
	proposed, err := action.Read(`(:type :request :target :door :action :knock :text "` + who + `")`)
	if err != nil {
		t.Fatal(err)
	}
	return proposed.Action()
}

// TestActionsOfNotes checks that an action that a note defines is offered, needs an approval each time,
// and is performed by the note. An approval holds only for the code that the note had then.
func TestActionsOfNotes(t *testing.T) {
	r, fixed, home := notes(t)
	live := notekind.Live(fixed, r)
	kinds := live()
	offered := ""
	for _, form := range kinds.Specs().Forms(protocol.LocalRoute(protocol.ChannelEmacs)) {
		if offered += form.Text; strings.Contains(form.Text, "digest") {
			t.Errorf("a model is shown %s", form.Text)
		}
	}
	if !strings.Contains(offered, ":target :door") {
		t.Errorf("it is not offered in %s", offered)
	}
	judge := (&policy.Policy{Home: t.TempDir()}).With(kinds)
	for who, want := range map[string]string{"Ada": "Ada was let in", "nobody": "done"} {
		a, where := knock(t, who), policy.Where{Session: "main"}
		verdict := judge.Judge(t.Context(), a, where)
		if verdict.Kind != policy.Ask || !strings.Contains(verdict.Reason, "door.org") {
			t.Fatalf("%+v", verdict)
		}
		where.Granted = verdict.Action.Hash()
		verified, _, err := judge.Verify(t.Context(), a, where)
		if err != nil || !verified.Valid() {
			t.Fatal(err)
		}
		if result, err := kinds.Perform(t.Context(), kind.Order{ID: "a", Session: "main", Action: verified}); err != nil || result.Text != want {
			t.Errorf("%s: %+v, %v", who, result, err)
		}
	}
	before := judge.Judge(t.Context(), knock(t, "Ada"), policy.Where{Session: "main"}).Action.Hash()
	write(t, home, strings.Replace(door, "was let in", "was sent away", 1))
	r.Load(t.Context())
	judge = (&policy.Policy{Home: t.TempDir()}).With(live())
	if now := judge.Judge(t.Context(), knock(t, "Ada"), policy.Where{Session: "main"}).Action.Hash(); now == before {
		t.Error("an approval of the note holds for its new code")
	}
	write(t, home, strings.Replace(door, "(defaction", "#+(or) (defaction", 1))
	r.Load(t.Context())
	if err := live().Available(knock(t, "Ada").Key()); err == nil {
		t.Error("an action that no note defines any more is there")
	}
	if err := kinds.Available(knock(t, "Ada").Key()); err != nil {
		t.Errorf("a turn that began before does not have it any more: %v", err)
	}
}
