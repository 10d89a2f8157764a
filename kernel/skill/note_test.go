package skill_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/lisp"
	"org-agent/kernel/skill"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestCheck compares the result of Check for each note in testdata/check, and then of its tests,
// with the file of the same name that ends in .want.
func TestCheck(t *testing.T) {
	notes, err := filepath.Glob("testdata/check/*.org")
	if err != nil || len(notes) == 0 {
		t.Fatalf("no notes: %v", err)
	}
	for _, path := range notes {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			source, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := checkAndTest(t, name, source)
			golden := strings.TrimSuffix(path, ".org") + ".want"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

func checkAndTest(t *testing.T, name string, source []byte) string {
	options := skill.Options{Limits: lisp.Limits{Steps: 2_000_000}} // a slow machine must not reach the time limit first
	var out strings.Builder
	for _, d := range skill.Check(t.Context(), name, source, options) {
		out.WriteString(d.String() + "\n")
	}
	n, err := skill.LoadNote(t.Context(), name, source, options)
	if err != nil {
		return out.String()
	}
	results, err := n.Test(t.Context())
	if err != nil {
		out.WriteString(err.Error() + "\n")
	}
	for _, result := range results {
		verdict := "PASS"
		if len(result.Faults) > 0 {
			verdict = "FAIL"
		}
		out.WriteString(verdict + " " + result.Name + " (" + result.Criterion + ")\n")
		for _, d := range result.Faults {
			out.WriteString("  " + d.String() + "\n")
		}
	}
	return out.String()
}

func TestNoteKeywords(t *testing.T) {
	source := "#+TITLE: Range\n#+DESCRIPTION: What it does.\n#+VERSION: 2.1\n#+CAPABILITIES: read:~/notes net:example.org\n\n" +
		"#+begin_src lisp\n(def-cognitive-tool :Look \"Looks.\" ((:path :type :string)) :body (lambda (args) args))\n" +
		"(def-cognitive-tool \"eval\" \"Evaluates.\" :parameters ((:code :type :string)) :guard nil :body (lambda (args) args))\n" +
		"(defskill my-skill :priority 7 :dependencies (other \"third\") :probabilistic (lambda (c) c) :deterministic (lambda (a c) c a) :trigger 'probe-p)\n" +
		"(defun probe-p (c) (declare (ignore c)) t)\n" +
		"#+end_src\n"
	n, err := skill.LoadNote(t.Context(), "org-skill-range.org", []byte(source), skill.Options{Shipped: true})
	if err != nil {
		t.Fatal(err)
	}
	k := n.Skills()[0]
	if n.Title != "Range" || n.Description != "What it does." || n.Version != "2.1" || strings.Join(n.Capabilities, " ") != "read:~/notes net:example.org" {
		t.Errorf("note %+v", n)
	}
	if k.Name != "my-skill" || k.Priority != 7 || strings.Join(k.Dependencies, " ") != "other third" || !k.Shipped || !k.CatchAll() ||
		k.Title != n.Title || k.Hash != n.Hash || len(k.Hash) != 64 || k.File != "org-skill-range.org" {
		t.Errorf("skill %+v", k)
	}
	var tools []string
	for _, tool := range n.Tools() {
		tools = append(tools, fmt.Sprintf("%s %s %v", tool.Name, tool.Does, tool.Parameters))
	}
	if got := strings.Join(tools, "|"); got != "look Looks. [{path string  false <nil> []}]|eval Evaluates. [{code string  false <nil> []}]" {
		t.Errorf("tools %s", got)
	}
}

func TestHashIsOfTheBlocks(t *testing.T) {
	base := loaded(t, skill.Options{}, "1").Hash
	same, err := skill.LoadNote(t.Context(), "b.org", append([]byte("Other prose.\n"), note("1")...), skill.Options{})
	if err != nil || same.Hash != base {
		t.Errorf("prose changes the hash: %v", err)
	}
	if loaded(t, skill.Options{}, "2").Hash == base || loaded(t, skill.Options{}, "1\n#+end_src\n#+begin_src lisp").Hash == base {
		t.Error("the hash does not tell blocks apart")
	}
}

func TestTestsHaveAnEnvironmentOfTheirOwn(t *testing.T) {
	source := note(`(defvar *count* 0)`, `(defskill :s :neuro (lambda (c) (declare (ignore c)) (format nil "~a" *count*)))`)
	source = append(source, "#+begin_src lisp :test yes\n(deftest counts (is (= 1 (incf *count*))))\n#+end_src\n"...)
	n, err := skill.LoadNote(t.Context(), "a.org", source, skill.Options{Log: func(_, text string) { t.Errorf("logged %q", text) }})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		results, err := n.Test(t.Context())
		if err != nil || len(results) != 1 || len(results[0].Faults) != 0 {
			t.Fatalf("%+v, %v", results, err)
		}
	}
	if out, err := n.Skills()[0].Neuro(t.Context(), nil, nil); err != nil || out.Text != "0" {
		t.Errorf("the tests changed the live note: %q, %v", out.Text, err)
	}
}

func TestObjects(t *testing.T) {
	n := loaded(t, skill.Options{},
		`(setf (gethash "a" *object-store*) (make-org-object :id "a" :type :headline :attributes '(:todo "NEXT")))`,
		`(setf (getf (org-agent:org-object-attributes (lookup-object "a")) :todo) "DONE")`,
		`(snapshot-memory)`,
		`(clrhash *memory*)`,
		`(defvar *gone* (lookup-object "a"))`,
		`(rollback-memory 0)`,
		`(defvar *found* (mapcar #'org-object-id (list-objects-with-attribute :todo "DONE")))`)
	var printed []string
	if err := n.Environment().Eval(t.Context(), `*gone* *found* (eq *memory* *object-store*) (length (org-id-new))`, "typed", 1, func(text string) { printed = append(printed, text) }); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(printed, " "); got != `NIL ("a") T 36` {
		t.Errorf("printed %s", got)
	}
}

// TestRedefinedKernel checks that a note that redefines a name of the kernel gets a warning.
func TestRedefinedKernel(t *testing.T) {
	for _, form := range []string{
		`(defun ask-neuro (x) x)`, `(defun %convey (x) x)`, `(defmacro ask-neuro (x) x)`, `(defmacro defskill (&rest r) r)`, `(defun defskill () 1)`,
		`(setf (fdefinition 'ask-neuro) #'car)`, `(setf (symbol-function 'deftest) #'car)`, `(fmakunbound 'kernel-log)`,
		`(setf (macro-function 'defskill) (lambda (form environment) nil))`, `(defstruct ask neuro)`, `(compile 'ask-neuro (lambda () 1))`,
	} {
		_, err := skill.LoadNote(t.Context(), "a.org", note(form), skill.Options{})
		if err == nil || !strings.HasPrefix(err.Error(), "a.org:4:1: error: ") || !strings.Contains(err.Error(), "belongs to the kernel") {
			t.Errorf("%s: %v", form, err)
		}
	}
}

// TestDefinitionsBelongOutsideFunctions checks that a function of a live note cannot define
// anything.
func TestDefinitionsBelongOutsideFunctions(t *testing.T) {
	for _, form := range []string{`(defskill :more :trigger #'car)`, `(def-cognitive-tool :x "y" :body #'car)`, `(register-actuator :x #'car)`, `(deftest x (is t))`} {
		n := loaded(t, skill.Options{}, `(defskill :s :neuro (lambda (c) (declare (ignore c)) `+form+` nil))`)
		if _, err := n.Skills()[0].Neuro(t.Context(), nil, nil); err == nil || !strings.Contains(err.Error(), "outside any function") {
			t.Errorf("%s: %v", form, err)
		}
		if err := n.Environment().Eval(t.Context(), form, "typed", 1, func(string) {}); err != nil {
			t.Errorf("%s typed by a person: %v", form, err)
		}
		if len(n.Skills()) != 1 || len(n.Tools())+len(n.Actions()) != 0 {
			t.Errorf("%s changed the note", form)
		}
	}
}

// FuzzCheck checks that loading any file ends, and that the diagnostics have a place in the file.
func FuzzCheck(f *testing.F) {
	seeds, err := filepath.Glob("testdata/check/*.org")
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range seeds {
		source, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(source)
	}
	f.Add(note(`(defskill :a :trigger (lambda (c) (is c)) :dependencies (a . b))`))
	f.Add(note(`(is)`, `(deftest)`, `(def-cognitive-tool)`, `(signals)`, `(%register-skill 1 2)`, `(%register-test 1 2)`, `(%check-call 1 2)`))
	limits := lisp.Limits{Steps: 50_000, Bytes: 1 << 20}
	f.Fuzz(func(t *testing.T, source []byte) {
		lines := 1 + strings.Count(string(source), "\n")
		for _, d := range skill.Check(t.Context(), "a.org", source, skill.Options{Limits: limits}) {
			if d.File != "a.org" || d.Line < 1 || d.Line > lines || d.Column < 1 || d.Message == "" || strings.Contains(d.Message, "runtime error") {
				t.Errorf("%v in a file of %d lines", d, lines)
			}
		}
		if n, err := skill.LoadNote(t.Context(), "a.org", source, skill.Options{Limits: limits}); err == nil {
			if results, err := n.Test(t.Context()); err == nil {
				for _, result := range results {
					for _, d := range result.Faults {
						if d.Line < 1 || d.Line > lines || strings.Contains(d.Message, "runtime error") {
							t.Errorf("%v in a file of %d lines", d, lines)
						}
					}
				}
			}
		}
	})
}
