package skill_test

import (
	"strings"
	"testing"

	"github.com/chewxy/sexp"

	"org-agent/kernel/skill"
)

// triggered returns a note with one skill that accepts one sensor, or everything for "t".
func triggered(t *testing.T, name, priority, sensor string, shipped bool) *skill.Skill {
	t.Helper()
	test := `(eq (getf (getf c :payload) :sensor) ` + sensor + `)`
	if sensor == "t" {
		test = "(progn c t)"
	}
	return theSkill(t, skill.Options{Shipped: shipped}, `(defvar *runs* 0)`,
		`(defskill :`+name+` :priority `+priority+` :trigger (lambda (c) (incf *runs*) `+test+`)`,
		`  :neuro (lambda (c) (declare (ignore c)) (format nil "~a" *runs*)))`)
}

func TestBest(t *testing.T) {
	set := skill.NewSet([]*skill.Skill{
		triggered(t, "everything", "1000", "t", false),
		triggered(t, "low", "10", ":chat-message", false),
		triggered(t, "shipped", "50", ":chat-message", true),
		triggered(t, "beta", "50", ":chat-message", false),
		triggered(t, "alpha", "50", ":chat-message", false),
		triggered(t, "beat", "99", ":heartbeat", false),
		triggered(t, "nothing", "2000", "nil", false),
	})
	tests := []struct{ sensor, best string }{
		{"chat-message", "alpha"},
		{"heartbeat", "beat"},
		{"file-changed", "everything"},
	}
	for _, test := range tests {
		event := list(t, "(:type :event :payload (:sensor :"+test.sensor+"))")
		if best, faults := set.Best(t.Context(), event); best == nil || best.Name != test.best || faults != nil {
			t.Errorf("%s: best %v, %v, want %s", test.sensor, best, faults, test.best)
		}
	}
}

func TestTriggerRunsOncePerEvent(t *testing.T) {
	k := triggered(t, "s", "10", "t", false)
	set := skill.NewSet([]*skill.Skill{k})
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

// TestTriggersShareNothing checks that neither the next trigger nor the answering function sees
// what a trigger does to the event.
func TestTriggersShareNothing(t *testing.T) {
	spoiling := theSkill(t, skill.Options{}, `(defskill :spoiling :priority 90 :trigger (lambda (c)`,
		`  (let ((payload (getf c :payload)))`,
		`    (setf (char (getf payload :text) 0) #\X (getf payload :sensor) :other (symbol-value (intern "MARK")) 1)`,
		`    (setf (cdr (last (getf payload :list))) (list 4) (car (getf payload :pair)) 5)`,
		`    (nconc c (list :more t)) (setf (getf c :type) nil) nil)))`)
	telling := theSkill(t, skill.Options{}, `(defskill :telling :priority 10 :trigger (lambda (c)`,
		`  (equal (prin1-to-string c) (prin1-to-string '(:type :event :payload (:sensor :chat-message :text "text" :list (1 mark 3) :pair (1 . 2))))))`,
		`  :neuro (lambda (c) (prin1-to-string c)))`)
	event := list(t, `(:type :event :payload (:sensor :chat-message :text "text" :list (1 mark 3) :pair (1 . 2)))`)
	for range 2 {
		if best, faults := skill.NewSet([]*skill.Skill{spoiling, telling}).Best(t.Context(), event); best != telling || faults != nil {
			t.Errorf("chosen: %v, %v", best, faults)
		}
	}
	if out, err := telling.Neuro(t.Context(), event, nil); err != nil || !strings.Contains(out.Text, `"text"`) {
		t.Errorf("it is told %q, %v", out.Text, err)
	}
}

func TestTriggerErrorsAreToldOnce(t *testing.T) {
	k := theSkill(t, skill.Options{}, `(defskill :s :trigger (lambda (c) (car (getf (getf c :payload) :text))))`)
	set := skill.NewSet([]*skill.Skill{k})
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
	set := skill.NewSet([]*skill.Skill{a, b})
	for name, want := range map[string]*skill.Skill{"chat": b, ":chat": b, "skill-chat": a, "SKILL-CHAT": a, "other": nil} {
		if got := set.Named(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
	if got := skill.NewSet([]*skill.Skill{a}).Named("chat"); got != a {
		t.Errorf("chat alone: %v", got)
	}
}

func TestEmptySet(t *testing.T) {
	for _, set := range []*skill.Set{nil, skill.NewSet(nil)} {
		best, faults := set.Best(t.Context(), nil)
		if best != nil || faults != nil || set.Skills() != nil && len(set.Skills()) > 0 || set.Named("x") != nil || set.Augments(t.Context()) != "" {
			t.Error("an empty set has something")
		}
	}
}

func TestAugments(t *testing.T) {
	set := skill.NewSet([]*skill.Skill{
		theSkill(t, skill.Options{}, `(defskill :b :system-prompt-augment "  second ")`),
		theSkill(t, skill.Options{}, `(defskill :a :system-prompt-augment (lambda () (format nil "fir~a" "st")))`),
		theSkill(t, skill.Options{}, `(defskill :c :system-prompt-augment (lambda () nil))`),
		theSkill(t, skill.Options{}, `(defskill :d :system-prompt-augment (lambda () (error "no")))`),
		theSkill(t, skill.Options{}, `(defskill :e :system-prompt-augment (lambda () 5))`),
	})
	for range 2 {
		if got := set.Augments(t.Context()); got != "first\n\nsecond" {
			t.Errorf("augments %q", got)
		}
	}
}
