package skill_test

import (
	"strings"
	"testing"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
	"org-agent/kernel/skill"
)

// counts is a note with a tool, as notes of earlier systems write one.
const counts = `(def-cognitive-tool :count-words
  "Counts the words
of a text."
  ((:text :type :string :description "What to count" :required t)
   (:least :type :integer :default 2)
   (:how :type :keyword :enum (:all :long)))
  :guard (lambda (args context)
           (cond ((search "secret" (getf args :text)) nil)
                 ((search "odd" (getf args :text)) (list :ask "it looks odd"))
                 ((search "never" (getf args :text)) (list :refuse (format nil "not in ~a" (getf context :session))))
                 ((search "boom" (getf args :text)) (car 5))
                 (t t)))
  :body (lambda (args)
          (let ((words (cl-ppcre:split " +" (getf args :text))))
            (list :words (count-if (lambda (w) (<= (getf args :least) (length w))) words) :args args))))`

// TestTool checks that a note defines a tool: its parameters are data, its guard decides about the
// arguments, and its body gets them.
func TestTool(t *testing.T) {
	n := loaded(t, skill.Options{}, counts)
	tools := n.Tools()
	if len(tools) != 1 {
		t.Fatalf("the note defines %v", tools)
	}
	tool := tools[0]
	if tool.Name != "count-words" || tool.Does != "Counts the words of a text." || tool.Line != 4 || tool.Digest != n.Hash || len(tool.Parameters) != 3 {
		t.Errorf("it is %+v", tool)
	}
	text, least, how := tool.Parameters[0], tool.Parameters[1], tool.Parameters[2]
	if text.Name != "text" || text.Type != skill.TextParameter || !text.Required || text.Description != "What to count" ||
		least.Type != skill.IntegerParameter || least.Default != sexp.Sexp(plist.Int(2)) || least.Required || how.Wants() != "one of :all :long" {
		t.Errorf("its parameters are %+v", tool.Parameters)
	}
	for arguments, want := range map[string]string{
		`(:text "a bb cc" :least 2)`: `(:words 2 :args (:text "a bb cc" :least 2))`,
		`(:text 5)`:                  "a.org:17:24",
	} {
		got, err := tool.Perform(t.Context(), list(t, arguments), "main")
		if err != nil {
			got = err.Error()
		}
		if !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", arguments, got, want)
		}
	}
	for word, want := range map[string]string{"fine": "", "secret": "error: its guard refuses it", "odd": "it looks odd", "never": "error: not in main", "boom": "error: its guard failed"} {
		ask, err := tool.Consult(t.Context(), list(t, `(:text "a `+word+` text")`), "main")
		if err != nil {
			ask = "error: " + err.Error()
		}
		if ask != want && (want != "error: its guard failed" || !strings.Contains(ask, want) || !strings.Contains(ask, "a.org:14:53")) {
			t.Errorf("%s: %q, want %q", word, ask, want)
		}
	}
}

// TestGuardHasNoEffects checks that a guard cannot write, inject or ask the model.
func TestGuardHasNoEffects(t *testing.T) {
	for form, want := range map[string]string{
		`(inject-stimulus '(:sensor :x))`: "inject-stimulus was called by a guard",
		`(ask-neuro "hi")`:                "ask-neuro was called by a guard",
		`(loop)`:                          "its guard failed",
	} {
		n := loaded(t, skill.Options{}, `(def-cognitive-tool :x "y" :guard (lambda (args context) `+form+`) :body #'car)`)
		if _, err := n.Tools()[0].Consult(t.Context(), nil, "main"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", form, err)
		}
	}
}

// TestToolFaults checks that an invalid tool is a fault that says what to write.
func TestToolFaults(t *testing.T) {
	for form, want := range map[string]string{
		`(def-cognitive-tool :x "y")`:                                                                   "the tool x has no :body",
		`(def-cognitive-tool :x :body #'car)`:                                                           "the tool x has no description",
		`(def-cognitive-tool :x " " :body #'car)`:                                                       "its description is not a string",
		`(def-cognitive-tool "No Name" "y" :body #'car)`:                                                "is no name for a tool",
		`(def-cognitive-tool :x "y" :bdy #'car)`:                                                        "did you mean :body?",
		`(def-cognitive-tool :x "y" :body)`:                                                             "the last key of the tool x has no value",
		`(def-cognitive-tool :x "y" :body 5)`:                                                           "its :body is no function",
		`(def-cognitive-tool :x "y" :guard 5 :body #'car)`:                                              "its :guard is no function",
		`(def-cognitive-tool :x "y" :body #'car :body #'cdr)`:                                           "two values for :body",
		`(def-cognitive-tool :x "y" ((:a :type :strng)) :body #'car)`:                                   "did you mean :string?",
		`(def-cognitive-tool :x "y" ((:a :tpe :string)) :body #'car)`:                                   "did you mean :type?",
		`(def-cognitive-tool :x "y" ((:a :type :string) (:A :type :string)) :body #'car)`:               "it has the parameter :a twice",
		`(def-cognitive-tool :x "y" ((:a :type :integer :default "one")) :body #'car)`:                  "its :default \"one\" is not an integer",
		`(def-cognitive-tool :x "y" ("a") :body #'car)`:                                                 "its :parameters are rows such as",
		`(def-cognitive-tool :x "y" :body #'car) (def-cognitive-tool :X "y" :body #'car)`:               "the note defines the tool x twice",
		`(def-cognitive-tool :start-subagent "y" :body #'car)`:                                          "the kernel has a tool start-subagent; give this one another name, such as a-start-subagent",
		`(defskill :s :trigger (lambda (c) c (def-cognitive-tool :x "y" :body #'car)))`:                 "def-cognitive-tool was called by a trigger",
		`(def-cognitive-tool :x "y" :parameters ((:a :type :keyword :enum :get)) :body (lambda (a) a))`: "its :enum is a list",
	} {
		found := skill.Faults(skill.Check(t.Context(), "a.org", note(form), skill.Options{Specs: kernelSpecs, Tools: func() []string { return []string{"read", "start_subagent"} }}))
		if all := found.Error(); !strings.Contains(all, want) {
			t.Errorf("%s: %q, want %q", form, all, want)
		}
	}
}

// TestParameterRows checks the ways in which notes write a parameter.
func TestParameterRows(t *testing.T) {
	for row, want := range map[string]string{
		`(:a :type :string :description "x" :required t)`:      "a string x required",
		`(:a :string :required t)`:                             "a string  required",
		`("a" :string "x")`:                                    "a string x ",
		`(a string "x")`:                                       "a string x ",
		`(:name "a" :type :list :description "x" :required t)`: "a list x required",
		`(:name :type :string)`:                                "name string  ",
		`(:a)`:                                                 "a any  ",
		`:a`:                                                   "a any  ",
		`(:max_size :type :number)`:                            "max_size number  ",
		`(:a :type :boolean :optional t)`:                      "a boolean  ",
	} {
		p := loaded(t, skill.Options{}, `(def-cognitive-tool :x "y" (`+row+`) :body #'car)`).Tools()[0].Parameters[0]
		required := ""
		if p.Required {
			required = "required"
		}
		if got := strings.Join([]string{p.Name, string(p.Type), p.Description, required}, " "); got != want {
			t.Errorf("%s is %q, want %q", row, got, want)
		}
	}
}

// TestToolsOfTheSet checks that the tools of live notes are in the set, and that of two notes with the
// same tool the second is not live and says why.
func TestToolsOfTheSet(t *testing.T) {
	h := newHome(t)
	h.write("a.org", note(counts))
	h.write("b.org", note(`(def-cognitive-tool :count_words "Counts." :body #'car)`))
	r := skill.New(skill.Config{Home: h.dir, Specs: kernelSpecs})
	statuses := r.Load(t.Context())
	if len(statuses) != 2 || statuses[0].State != skill.Live || statuses[1].State != skill.Duplicate {
		t.Fatalf("the notes are %+v", statuses)
	}
	if d := statuses[1].Diagnostics; len(d) != 1 || !strings.Contains(d[0].Message, "the tool countwords is defined by") {
		t.Errorf("the second is told %v", d)
	}
	if got := statuses[0].Tools; len(got) != 1 || got[0].Name != "count-words" || got[0].Does != "Counts the words of a text." {
		t.Errorf("the first has %+v", got)
	}
	if tools := r.Current().Tools(); len(tools) != 1 || tools[0].Name != "count-words" {
		t.Errorf("the set has %v", tools)
	}
}

// TestDigestHoldsForGrants checks that a tool has another digest when its note is granted something.
func TestDigestHoldsForGrants(t *testing.T) {
	h := newGrantHome(t)
	h.put("home/skills/a.org", "#+CAPABILITIES: read:~/notes\n"+string(note(counts)))
	h.registry.Load(t.Context())
	before := h.registry.Current().Tools()[0]
	h.grant("a.org")
	after := h.registry.Current().Tools()[0]
	if before.Digest == after.Digest || len(before.Granted()) != 0 || len(after.Granted()) != 1 {
		t.Errorf("before %+v, after %+v", before, after)
	}
}

// TestActuator checks that a function performs all actions of a target, gets them whole, and that its
// guard refuses.
func TestActuator(t *testing.T) {
	n := loaded(t, skill.Options{},
		`(register-actuator :lamp (lambda (action context) (format nil "~(~s~) in ~a" action (getf context :session)))
  :does "to switch the lamp" :fields '((:room :name :required t :example "hall"))
  :guard (lambda (action) (not (equal "cellar" (getf (getf action :payload) :room)))))`)
	a := n.Actions()[0]
	if a.Key().String() != ":lamp" || a.Form().String() != `to switch the lamp: (:type :request :target :lamp :action :<what> :room "hall")` {
		t.Errorf("it is %s, %s", a.Key(), a.Form())
	}
	text, err := a.Perform(t.Context(), list(t, `(:action :on :room "hall")`), "main")
	if want := `(:type :request :target :lamp :payload (:action :on :room "hall")) in main`; err != nil || text != want {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := a.Consult(t.Context(), list(t, `(:action :on :room "hall")`), "main"); err != nil {
		t.Error(err)
	}
	if _, err := a.Consult(t.Context(), list(t, `(:action :on :room "cellar")`), "main"); err == nil {
		t.Error("the guard lets it pass")
	}
	for form, want := range map[string]string{
		`(register-actuator :shell #'car)`:                                "warning: the target :shell belongs to the kernel, which performs its actions itself; this function is never called",
		`(register-actuator :lamp 5)`:                                     "its :perform is no function",
		`(register-actuator :lamp #'car :dose "x")`:                       "did you mean :does?",
		`(register-actuator "a b" #'car)`:                                 "is not written in small letters",
		`(register-actuator :lamp #'car) (register-actuator :lamp #'cdr)`: "defines the action :lamp twice",
	} {
		if all := skill.Faults(skill.Check(t.Context(), "a.org", note(form), skill.Options{Specs: kernelSpecs})).Error(); !strings.Contains(all, want) {
			t.Errorf("%s: %q", form, all)
		}
	}
}
