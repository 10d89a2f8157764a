package skill

import (
	"strings"
	"testing"

	"github.com/chewxy/sexp"
)

// triggered is a note with one skill that takes one sensor, or everything for "t".
func triggered(t *testing.T, name, priority, sensor string, shipped bool) *Skill {
	t.Helper()
	test := `(eq (getf (getf c :payload) :sensor) ` + sensor + `)`
	if sensor == "t" {
		test = "(progn c t)"
	}
	return theSkill(t, Options{Shipped: shipped}, `(defvar *runs* 0)`,
		`(defskill :`+name+` :priority `+priority+` :trigger (lambda (c) (incf *runs*) `+test+`)`,
		`  :neuro (lambda (c) (declare (ignore c)) (format nil "~a" *runs*)))`)
}

func names(skills []*Skill) string {
	var all []string
	for _, k := range skills {
		all = append(all, k.Name)
	}
	return strings.Join(all, " ")
}

func TestBest(t *testing.T) {
	set := newSet([]*Skill{
		triggered(t, "everything", "1000", "t", false),
		triggered(t, "low", "10", ":chat-message", false),
		triggered(t, "shipped", "50", ":chat-message", true),
		triggered(t, "beta", "50", ":chat-message", false),
		triggered(t, "alpha", "50", ":chat-message", false),
		triggered(t, "beat", "99", ":heartbeat", false),
		triggered(t, "nothing", "2000", "nil", false),
	})
	tests := []struct{ sensor, best, matching string }{
		{"chat-message", "alpha", "alpha beta shipped low"},
		{"heartbeat", "beat", "beat"},
		{"file-changed", "everything", "everything"},
	}
	for _, test := range tests {
		event := list(t, "(:type :event :payload (:sensor :"+test.sensor+"))")
		if best, faults := set.Best(t.Context(), event); best == nil || best.Name != test.best || faults != nil {
			t.Errorf("%s: best %v, %v, want %s", test.sensor, best, faults, test.best)
		}
		if found, faults := set.Matching(t.Context(), event); names(found) != test.matching || faults != nil {
			t.Errorf("%s: matching %s, %v, want %s", test.sensor, names(found), faults, test.matching)
		}
	}
}

func TestTriggerRunsOncePerEvent(t *testing.T) {
	k := triggered(t, "s", "10", "t", false)
	set := newSet([]*Skill{k})
	for range 3 {
		if best, _ := set.Best(t.Context(), sexp.List{}); best != k {
			t.Fatal("not chosen")
		}
	}
	out, err := k.Neuro(t.Context(), nil, nil)
	if err != nil || out.Text != "4" { // the probe and three events
		t.Errorf("the trigger ran %s times, %v", out.Text, err)
	}
}

func TestTriggerErrorsAreToldOnce(t *testing.T) {
	k := theSkill(t, Options{}, `(defskill :s :trigger (lambda (c) (car (getf (getf c :payload) :text))))`)
	set := newSet([]*Skill{k})
	for i, want := range []int{1, 0, 0} {
		best, faults := set.Best(t.Context(), chatMessage(t, "x"))
		if best != nil || len(faults) != want {
			t.Errorf("event %d: %v %v", i, best, faults)
		}
	}
	if best, _ := set.Best(t.Context(), list(t, `(:payload (:text (t)))`)); best != k {
		t.Error("a trigger that failed once was not called again")
	}
}

func TestNamed(t *testing.T) {
	a, b := triggered(t, "skill-chat", "100", "nil", false), triggered(t, "chat", "50", "nil", true)
	set := newSet([]*Skill{a, b})
	for name, want := range map[string]*Skill{"chat": b, ":chat": b, "skill-chat": a, "SKILL-CHAT": a, "other": nil} {
		if got := set.Named(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := newSet([]*Skill{a}).Named("chat"); got != a {
		t.Errorf("chat alone: %v", got)
	}
}

func TestEmptySet(t *testing.T) {
	for _, set := range []*Set{nil, newSet(nil)} {
		best, faults := set.Best(t.Context(), nil)
		all, more := set.Matching(t.Context(), nil)
		if best != nil || faults != nil || all != nil || more != nil || set.Skills() != nil && len(set.Skills()) > 0 || set.Named("x") != nil || set.Augments(t.Context()) != "" {
			t.Error("an empty set has something")
		}
	}
}

func TestAugments(t *testing.T) {
	set := newSet([]*Skill{
		theSkill(t, Options{}, `(defskill :b :system-prompt-augment "  second ")`),
		theSkill(t, Options{}, `(defskill :a :system-prompt-augment (lambda () (format nil "fir~a" "st")))`),
		theSkill(t, Options{}, `(defskill :c :system-prompt-augment (lambda () nil))`),
		theSkill(t, Options{}, `(defskill :d :system-prompt-augment (lambda () (error "no")))`),
		theSkill(t, Options{}, `(defskill :e :system-prompt-augment (lambda () 5))`),
	})
	for range 2 {
		if got := set.Augments(t.Context()); got != "first\n\nsecond" {
			t.Errorf("augments %q", got)
		}
	}
}
