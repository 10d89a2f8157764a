package skill_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/chewxy/sexp"

	"org-agent/kernel/lisp"
	"org-agent/kernel/plist"
	"org-agent/kernel/skill"
)

func TestNeuroOutcome(t *testing.T) {
	tests := []struct {
		name, body string
		kind       skill.OutcomeKind
		text       string
		questions  int
	}{
		{"asks and returns the reply", `(ask-neuro "Q")`, skill.Reply, "the reply", 1},
		{"asks and changes the reply", `(string-upcase (ask-neuro "Q"))`, skill.Reply, "THE REPLY", 1},
		{"asks twice", `(ask-neuro (ask-neuro "Q"))`, skill.Reply, "the reply", 2},
		{"asks by the later name", `(ask-probabilistic "Q")`, skill.Reply, "the reply", 1},
		{"asks with a prefix", `(opencortex::ask-neuro "Q")`, skill.Reply, "the reply", 1},
		{"asks and makes a proposal", `(progn (ask-neuro "Q") '(:type :response :text "x"))`, skill.Proposal, `(:type :response :text "x")`, 1},
		{"asks and drops the reply", `(progn (ask-neuro "Q") nil)`, skill.None, "", 1},
		{"prompt", `(format nil "Say ~a" (getf (getf context :payload) :text))`, skill.Prompt, "Say hello", 0},
		{"proposal", `(list :type :response :text "without a model")`, skill.Proposal, `(:type :response :text "without a model")`, 0},
		{"nothing", `nil`, skill.None, "", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			k := theSkill(t, skill.Options{}, `(defun n (context) (declare (ignorable context)) `+test.body+`)`, `(defskill :s :trigger (lambda (c) c) :neuro #'n)`)
			m := &model{reply: "the reply"}
			out, err := k.Neuro(t.Context(), chatMessage(t, "hello"), m)
			if err != nil {
				t.Fatal(err)
			}
			text := out.Text
			if out.Kind == skill.Proposal {
				text = plist.Print(out.Proposal)
			}
			if out.Kind != test.kind || text != test.text || len(m.questions) != test.questions {
				t.Errorf("outcome %v %q after %d questions, want %v %q after %d", out.Kind, text, len(m.questions), test.kind, test.text, test.questions)
			}
		})
	}
}

func TestNeuroOptions(t *testing.T) {
	k := theSkill(t, skill.Options{}, `(defskill :s :neuro (lambda (c) (declare (ignore c)) (ask-neuro "Q" :system-prompt "S" :history nil :stream nil :temperature 0.5)))`)
	m := &model{reply: "R"}
	if _, err := k.Neuro(t.Context(), chatMessage(t, ""), m); err != nil {
		t.Fatal(err)
	}
	got := m.questions[0]
	if got.Text != "Q" || got.System != "S" || !got.NoHistory || !got.NoStream || plist.Print(got.Options) != "(:temperature 0.5)" {
		t.Errorf("asked %+v with options %s", got, plist.Print(got.Options))
	}
	k = theSkill(t, skill.Options{}, `(defskill :s :neuro (lambda (c) (declare (ignore c)) (ask-neuro "Q" :history t)))`)
	if _, err := k.Neuro(t.Context(), chatMessage(t, ""), m); err != nil {
		t.Fatal(err)
	}
	if got := m.questions[1]; got.System != "" || got.NoHistory || got.NoStream || got.Options != nil {
		t.Errorf("asked %+v", got)
	}
}

func TestNeuroWithoutFunction(t *testing.T) {
	k := theSkill(t, skill.Options{}, `(defskill :s :trigger (lambda (c) c))`)
	if out, err := k.Neuro(t.Context(), chatMessage(t, "x"), nil); err != nil || out.Kind != skill.None {
		t.Errorf("outcome %v, %v", out.Kind, err)
	}
}

func TestNeuroErrors(t *testing.T) {
	cut := errors.New("the stream was cut")
	tests := []struct {
		name, body, want string
	}{
		{"a number", `5`, "it returned what is not a string"},
		{"a function", `#'car`, "it returned what is not a string"},
		{"signals", `(error "no ~a" "luck")`, "a.org:4:"},
		{"the model fails", `(ask-neuro "Q")`, "the stream was cut"},
		{"asks for a number", `(ask-neuro 5)`, "not a string"},
		{"a keyword is missing its value", `(ask-neuro "Q" :history)`, "no value"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			k := theSkill(t, skill.Options{}, `(defskill :s :neuro (lambda (c) (declare (ignore c)) `+test.body+`))`)
			_, err := k.Neuro(t.Context(), chatMessage(t, "x"), &model{err: cut})
			var fault *skill.FunctionError
			if !errors.As(err, &fault) || fault.Role != "neuro" || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}

func TestNeuroHandlesTheModelsError(t *testing.T) {
	k := theSkill(t, skill.Options{}, `(defskill :s :neuro (lambda (c) (declare (ignore c))
  (handler-case (ask-neuro "Q") (error (e) (list :type :response :text (format nil "~a" e))))))`)
	out, err := k.Neuro(t.Context(), chatMessage(t, "x"), &model{err: errors.New("no server")})
	if err != nil || out.Kind != skill.Proposal || plist.Print(out.Proposal) != `(:type :response :text "ask the model: no server")` {
		t.Errorf("outcome %v %s, %v", out.Kind, plist.Print(out.Proposal), err)
	}
}

func TestSymbolic(t *testing.T) {
	const action = `(:type :request :target :emacs :action :insert-at-end :text "Grüße, \"x\" 😀" :n 1.5 :big 123456789012345678901234567890 :pair (a . b))`
	tests := []struct {
		name, body, want, fault string
	}{
		{"the same", `action`, action, ""},
		{"an equal copy", `(copy-tree action)`, action, ""},
		{"rewritten", `(list :type :log :text (getf action :text))`, `(:type :log :text "Grüße, \"x\" 😀")`, ""},
		{"changed in place", `(progn (setf (getf action :text) "new") (list :type (getf action :type) :text (getf action :text)))`, `(:type :request :text "new")`, ""},
		{"refused", `nil`, `nil`, ""},
		{"a string", `"no"`, "", "it returned what is not an action"},
		{"a dotted pair", `(cons 1 2)`, "", "it returned what is not an action"},
		{"a circle", `(let ((circle (list :type :log))) (setf (cddr circle) circle))`, "", "it returned what is not an action"},
		{"without an end", `(loop)`, "", "limit"},
		{"too deep", `(labels ((deep (n) (1+ (deep n)))) (deep 0))`, "", "too deep"},
		{"too much", `(make-list 1000000000)`, "", "limit"},
		{"a function inside", `(list :type #'car)`, "", "it returned what is not an action"},
		{"an error", `(error "Because ~a" 5)`, "", "Because 5"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			k := theSkill(t, skill.Options{Limits: lisp.Limits{Steps: 1_000_000}}, `(defskill :s :symbolic (lambda (action context) (declare (ignorable action context)) `+test.body+`))`)
			before := list(t, action)
			for name, call := range map[string]func(context.Context, sexp.List, sexp.List) (sexp.List, error){"Symbolic": k.Symbolic, "Preview": k.Preview} {
				got, err := call(t.Context(), before, chatMessage(t, "x"))
				if test.fault != "" {
					if err == nil || !strings.Contains(err.Error(), test.fault) || !strings.Contains(err.Error(), "skill s") {
						t.Errorf("%s: error %v, want %q", name, err, test.fault)
					}
					continue
				}
				if err != nil || plist.Print(got) != test.want {
					t.Errorf("%s: %s, %v, want %s", name, plist.Print(got), err, test.want)
				}
			}
			if plist.Print(before) != action {
				t.Errorf("the action that was passed in is now %s", plist.Print(before))
			}
		})
	}
}

func TestSymbolicMissing(t *testing.T) {
	k := theSkill(t, skill.Options{}, `(defskill :s :trigger (lambda (c) c))`)
	action := list(t, `(:type :response :text "x")`)
	if got, err := k.Symbolic(t.Context(), action, nil); err != nil || !plist.Equal(got, action) {
		t.Errorf("%s, %v", plist.Print(got), err)
	}
}

// TestErrorsShowNoData checks that the text of an error, which the person sees, does not contain
// the proposal.
func TestErrorsShowNoData(t *testing.T) {
	k := theSkill(t, skill.Options{},
		`(defun check (action context)`,
		`  (declare (ignore context))`,
		`  (+ 1 (getf action :payload)))`,
		`(defskill :s :symbolic #'check)`)
	_, err := k.Symbolic(t.Context(), list(t, `(:type :request :payload (:secret "hunter2"))`), nil)
	if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "(:") {
		t.Fatalf("error %v", err)
	}
	if !strings.HasPrefix(err.Error(), "a.org:6:") {
		t.Errorf("error %v does not begin with its place", err)
	}
	var detail *lisp.Error
	if !errors.As(err, &detail) || detail.Function == "" {
		t.Errorf("the error behind it is %#v", detail)
	}
}

func TestOnlyNeuroAsks(t *testing.T) {
	code := `(defskill :s :trigger (lambda (c) (if (eq (getf (getf c :payload) :sensor) :probe) nil (ask-neuro "Q")))
  :symbolic (lambda (a c) (declare (ignore a c)) (ask-neuro "Q"))
  :system-prompt-augment (lambda () (ask-neuro "Q")))`
	n := loaded(t, skill.Options{}, code)
	k := n.Skills()[0]
	for _, call := range []func(context.Context, sexp.List, sexp.List) (sexp.List, error){k.Symbolic, k.Preview} {
		if _, err := call(t.Context(), list(t, `(:type :log :text "x")`), nil); err == nil || !strings.Contains(err.Error(), "only a skill's neuro function can ask the model") {
			t.Errorf("symbolic: %v", err)
		}
	}
	best, faults := skill.NewSet(n.Skills()).Best(t.Context(), chatMessage(t, "x"))
	if best != nil || len(faults) != 1 || !strings.Contains(faults[0].Error(), "only a skill's neuro function can ask the model") {
		t.Errorf("trigger: %v %v", best, faults)
	}
	if text := k.Augment(t.Context()); text != "" {
		t.Errorf("augment: %q", text)
	}
	_, err := skill.LoadNote(t.Context(), "a.org", note(`(defvar *x* (ask-neuro "Q"))`), skill.Options{})
	if err == nil || !strings.Contains(err.Error(), "only a skill's neuro function") {
		t.Errorf("load: %v", err)
	}
}

func TestDry(t *testing.T) {
	n := loaded(t, skill.Options{}, `(defun f (x) (ask-neuro x :history nil))`)
	var printed []string
	err := skill.DryRun(n.Environment()).Eval(t.Context(), `(f "Q")`, "typed", 1, func(text string) { printed = append(printed, text) })
	if err != nil || strings.Join(printed, " ") != `(:ASKED "Q" :HISTORY NIL)` {
		t.Errorf("printed %q, %v", printed, err)
	}
	if err := n.Environment().Eval(t.Context(), `(f "Q")`, "typed", 1, func(string) {}); err == nil || !strings.Contains(err.Error(), "--dry") {
		t.Errorf("without a model: %v", err)
	}
}

func TestLogAndInject(t *testing.T) {
	var log recorder
	var events []sexp.List
	options := skill.Options{Log: log.log, Inject: func(event sexp.List) { events = append(events, event) }}
	k := theSkill(t, options,
		`(defun check (action context)`,
		`  (kernel-log "saw ~a" (getf action :type))`,
		`  (org-agent:harness-log "100%")`,
		`  (format t "printed~%")`,
		`  (inject-stimulus '(:type :event :payload (:sensor :heartbeat)))`,
		`  action)`,
		`(defskill :s :symbolic #'check)`)
	action := list(t, `(:type :log :text "x")`)
	if _, err := k.Preview(t.Context(), action, nil); err != nil {
		t.Fatal(err)
	}
	if log.text() != "" || len(events) != 0 {
		t.Errorf("a preview logged %q and injected %d events", log.text(), len(events))
	}
	if _, err := k.Symbolic(t.Context(), action, nil); err != nil {
		t.Fatal(err)
	}
	if log.text() != "s: saw LOG\ns: 100%\ns: printed" {
		t.Errorf("logged %q", log.text())
	}
	if len(events) != 1 || plist.Print(events[0]) != "(:type :event :payload (:sensor :heartbeat))" {
		t.Errorf("injected %v", events)
	}
}

func TestInjectErrors(t *testing.T) {
	for _, event := range []string{`5`, `nil`, `'(1 2 3)`, `'(:type)`, `"text"`, `(make-hash-table)`} {
		k := theSkill(t, skill.Options{Inject: func(sexp.List) { t.Error("injected") }},
			`(defskill :s :neuro (lambda (c) (declare (ignore c)) (inject-stimulus `+event+`) nil))`)
		if _, err := k.Neuro(t.Context(), chatMessage(t, "x"), nil); err == nil {
			t.Errorf("no error for %s", event)
		}
	}
	if _, err := skill.LoadNote(t.Context(), "a.org", note(`(inject-stimulus '(:type :event))`), skill.Options{Inject: func(sexp.List) { t.Error("injected") }}); err == nil {
		t.Error("a note could inject while it was loaded")
	}
}

// TestLoopingTrigger checks that an endless trigger is stopped, reported once, and affects no other
// skill.
func TestLoopingTrigger(t *testing.T) {
	started := time.Now()
	k := theSkill(t, skill.Options{Limits: lisp.Limits{Steps: 200_000}},
		`(defskill :loop :priority 99 :trigger (lambda (c) (if (eq (getf (getf c :payload) :sensor) :probe) nil (loop))))`)
	other := theSkill(t, skill.Options{}, `(defskill :other :trigger (lambda (c) (eq (getf (getf c :payload) :sensor) :chat-message)))`)
	set := skill.NewSet([]*skill.Skill{k, other})
	for i, want := range []int{1, 0} {
		best, faults := set.Best(t.Context(), chatMessage(t, "x"))
		if best != other || len(faults) != want {
			t.Errorf("event %d: best %v, faults %v", i, best, faults)
		}
	}
	if _, err := skill.LoadNote(t.Context(), "a.org", note(`(defskill :loop :trigger (lambda (c) (declare (ignore c)) (loop)))`), skill.Options{}); err == nil {
		t.Error("a note whose trigger never ends was loaded")
	}
	t.Logf("all of it took %v", time.Since(started))
}

func TestCancelledContext(t *testing.T) {
	k := theSkill(t, skill.Options{}, `(defskill :s :trigger (lambda (c) (declare (ignore c)) t) :neuro (lambda (c) (declare (ignore c)) (loop)))`)
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(10*time.Millisecond, cancel)
	if _, err := k.Neuro(ctx, chatMessage(t, "x"), nil); !errors.Is(err, context.Canceled) {
		t.Errorf("neuro: %v", err)
	}
	// A cancelled turn says nothing about the trigger.
	if best, faults := skill.NewSet([]*skill.Skill{k}).Best(ctx, chatMessage(t, "x")); best != nil || faults != nil {
		t.Errorf("best %v, %v", best, faults)
	}
	if best, _ := skill.NewSet([]*skill.Skill{k}).Best(t.Context(), chatMessage(t, "x")); best != k {
		t.Error("the skill is no longer chosen")
	}
	if _, err := skill.LoadNote(ctx, "a.org", note(`1`), skill.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("load: %v", err)
	}
}

// TestOthersRunWhileAsking checks that a note's other functions can be called while it waits for
// the model.
func TestOthersRunWhileAsking(t *testing.T) {
	k := theSkill(t, skill.Options{},
		`(defvar *seen* nil)`,
		`(defskill :s :neuro (lambda (c) (declare (ignore c)) (ask-neuro "Q") (format nil "~a" *seen*))`,
		`  :symbolic (lambda (action c) (declare (ignore c)) (setf *seen* (getf action :text)) action))`)
	m := &model{reply: "R", during: func() {
		if _, err := k.Preview(t.Context(), list(t, `(:type :response :text "meanwhile")`), nil); err != nil {
			t.Error(err)
		}
	}}
	out, err := k.Neuro(t.Context(), chatMessage(t, "x"), m)
	if err != nil || out.Text != "meanwhile" || out.Kind != skill.Reply {
		t.Errorf("%v %q, %v", out.Kind, out.Text, err)
	}
}
