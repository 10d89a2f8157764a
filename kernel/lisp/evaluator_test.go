package lisp_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chewxy/sexp"

	"org-agent/kernel/lisp"
	"org-agent/kernel/plist"
)

func TestErrors(t *testing.T) {
	for _, test := range []struct{ name, source, want string }{
		{"type error in a function", "(defun f (x)\n  (let ((y 1))\n    (car x)))\n(f 5)", "note.org:23:5: The value 5 is not of type LIST. (in F: (CAR X))"},
		{"undefined function", "(defun f () (lenght '(1)))\n(f)", "note.org:21:13: The function LENGHT is undefined. (in F: (LENGHT '(1))); did you mean length?"},
		{"operator as a function", "(mapcar #'cond '(1))", "note.org:21:9: The function COND is undefined. (#'COND); cond is no function: write (lambda (…) (cond …))"},
		{"macro as a function", "(funcall 'when 1)", "note.org:21:1: The function WHEN is undefined. ((FUNCALL 'WHEN 1)); when is no function: write (lambda (…) (when …))"},
		{"unbound variable", "(defvar *count* 1)\n(defun f () (+ 1 *cuont*))\n(f)", "note.org:22:13: The variable *CUONT* is unbound. (in F: (+ 1 *CUONT*)); did you mean *count*?"},
		{"signalled", "(defun check (x)\n  (when (> x 1)\n    (error \"~a is too large\" x)))\n(check 5)", "note.org:23:5: 5 is too large (in CHECK: (ERROR \"~a is too large\" X))"},
		{"argument count", "(defun f (a b) (list a b))\n\n(f 1)", "note.org:23:1: invalid number of arguments: 1 (calling F) ((F 1))"},
		{"inside a macro's expansion", "(defun f (l)\n  (dolist (x l)\n    (incf (car x))))\n(f '(1))", "note.org:23:5: The value 1 is not of type LIST. (in F: (INCF (CAR X)))"},
		{"inside an anonymous function", "(defun f (l)\n  (mapcar (lambda (x)\n     (1+ x)) l))\n(f '(a))", "note.org:23:6: The value A is not of type NUMBER. (in F: (1+ X))"},
		{"unclosed list", "(defun f (x)\n  (car x)", "note.org:21:1: this list is not closed: 1 ) missing at the end"},
		{"too many closers", "(defun f (x) x))", "note.org:21:16: this ) closes nothing; remove it or add its ( before"},
		{"unknown package", "(defun f () (drakma:http-request \"http://x\"))", "note.org:21:14: drakma:http-request is not for notes: notes ask servers with dex:get and dex:post, which need the capability net:HOST"},
		{"capability", "(uiop:read-file-string \"/etc/passwd\")", "note.org:21:1: The function UIOP:READ-FILE-STRING is undefined. ((UIOP:READ-FILE-STRING \"/etc/passwd\")); uiop:read-file-string needs the capability read:DIR: ask for it in the note's #+CAPABILITIES line"},
		{"malformed let", "(defun f ()\n  (let ((a 1 2)) a))", "note.org:22:3: malformed let binding: (A 1 2); bindings are written ((variable value) …) (in F: (LET ((A 1 2)) A))"},
		{"bad format string", "(format nil \"~q\" 1)", "note.org:21:1: unknown format directive ~q ((FORMAT NIL \"~q\" 1))"},
		{"redefined standard function", "(defun list (x) x)", "note.org:21:1: LIST belongs to Common Lisp and cannot be redefined; choose another name ((DEFUN LIST (X) X))"},
		{"redefined kernel function", "(defun ask-neuro (x) x)", "note.org:21:1: ASK-NEURO belongs to the kernel and cannot be redefined; choose another name ((DEFUN ASK-NEURO (X) X))"},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := newEnvironment(t, noteConfig(nil))
			err := e.Load(t.Context(), test.source, "note.org", 21)
			if err == nil || err.Error() != test.want {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestProblems(t *testing.T) {
	source := `(defun f (x)
  (string-tirm " " x)
  (g x *later* *never*)
  (car x 1)
  (setf (place x) 1)
  (format nil "~{~a" x)
  (h 1 2))
(defun g (a b c) (list a b c))
(defun h (a) (mapcar #'helpr a))
(defun helper (x) x)
(defvar *later* 1)
(defun k () (setq undeclared 1))`
	e := newEnvironment(t, lisp.Config{})
	if err := e.Load(t.Context(), source, "note.org", 1); err != nil {
		t.Fatal(err)
	}
	problems, err := e.Problems(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range problems {
		got = append(got, fmt.Sprintf("%d %s %s; %s", p.Line, p.Function, p.Message, p.Hint))
	}
	want := `2 F the function string-tirm is not defined; did you mean string-trim?
3 F the variable *never* is not defined; 
4 F car is called with 2 arguments but takes 1; 
5 F setf cannot store into (place …); 
6 F in the format string: a directive is not closed: one of ~} is missing; 
7 F h is called with 2 arguments but takes 1; 
9 H the function helpr is not defined; did you mean helper?
12 K the variable undeclared is not defined; `
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

func TestSexpRoundTrip(t *testing.T) {
	e := newEnvironment(t, lisp.Config{})
	for _, text := range []string{
		`nil`, `t`, `(:type :request :target :emacs :payload (:action :insert-at-end :text "a\nb \"q\""))`, `(1 -2 1.5 0.1 1e+20 123456789012345678901234567890)`,
		`(a . b)`, `(a b . c)`, `(quote x)`, `("é😀" pkg:sym "")`, `((nil) (t))`, `(:a nil :b (1 (2 (3))))`, `(3.141592653589793 100.0 1e-07 16777217.0)`,
	} {
		x, err := plist.Read(text)
		if err != nil {
			t.Fatal(err)
		}
		v, err := e.FromSexp(x)
		if err != nil {
			t.Fatal(err)
		}
		back, err := lisp.ToSexp(v)
		if err != nil {
			t.Fatal(err)
		}
		if got := plist.Print(back); got != text {
			t.Errorf("%s came back as %s", text, got)
		}
	}
}

func TestToSexpRefuses(t *testing.T) {
	e := newEnvironment(t, lisp.Config{})
	for _, source := range []string{`#'car`, `(make-hash-table)`, `(list 1 (lambda ()))`, `(let ((l (list 1))) (setf (cdr l) l))`, `(let ((l (list 1))) (setf (car l) l))`, `'|a b|`, `:|a b|`, `(make-string-output-stream)`} {
		v := value(t, e, source)
		if x, err := lisp.ToSexp(v); err == nil {
			t.Errorf("%s became %T", source, x)
		}
	}
	for source, want := range map[string]string{`'Foo`: "foo", `:KEY`: ":key", `#\a`: `"a"`, `1/4`: "0.25", `#(1 2)`: "(1 2)", `1.5d0`: "1.5", `(/ 1.0 3)`: "0.33333334"} {
		x, err := lisp.ToSexp(value(t, e, source))
		if err != nil {
			t.Fatal(err)
		}
		if got := plist.Print(x); got != want {
			t.Errorf("%s became %s, want %s", source, got, want)
		}
	}
}

// value evaluates source in a call and returns its value.
func value(t testing.TB, e *lisp.Environment, source string) (v lisp.Value) {
	t.Helper()
	err := e.LoadEach(t.Context(), source, "test.lisp", 1, func(_ *lisp.Call, last lisp.Value) { v = lisp.Single(last) })
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestDataIsInterned(t *testing.T) {
	e := newEnvironment(t, lisp.Config{})
	if err := e.Load(t.Context(), `(defvar *seen* nil) (defun see (x) (let ((known (member x *seen*))) (push x *seen*) (if known t nil)))`, "x", 1); err != nil {
		t.Fatal(err)
	}
	for i, want := range []lisp.Value{lisp.Nil, lisp.T, lisp.T} {
		v, err := e.FromSexp(plist.Keyword("never-in-source"))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := e.Call(t.Context(), "see", v); err != nil || got != want {
			t.Errorf("call %d: %v, %v", i, got, err)
		}
	}
	if x, err := e.FromSexp(sexp.Symbol("car")); err != nil || x != lisp.CL("CAR") {
		t.Errorf("car is %v, %v", x, err)
	}
}

func TestGuardIsWaitedForWithContext(t *testing.T) {
	e := newEnvironment(t, lisp.Config{})
	err := e.Run(t.Context(), func(*lisp.Call) { // it has the guard
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		var failed *lisp.Error
		if _, err := e.Call(ctx, "car", lisp.Nil); !errors.As(err, &failed) || failed.Class != timeCondition {
			t.Errorf("error %v", err)
		}
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := e.Call(t.Context(), "car", lisp.Nil); err != nil {
		t.Error(err)
	}
}

func TestKernelFunctions(t *testing.T) {
	failure := errors.New("the model is away")
	e := newEnvironment(t, lisp.Config{Owner: "the owner", Interface: offering(t, []lisp.KernelFunction{
		{Name: "owner", LambdaList: "()", Call: func(_ context.Context, c *lisp.Call, _ []lisp.Value) (lisp.Value, error) {
			return lisp.NewString(c.Environment().Owner().(string)), nil
		}},
		{Name: "fails", LambdaList: "()", Call: func(context.Context, *lisp.Call, []lisp.Value) (lisp.Value, error) { return nil, failure }},
		{Name: "calls", LambdaList: "(function &rest arguments)", Call: func(_ context.Context, c *lisp.Call, args []lisp.Value) (lisp.Value, error) {
			return c.Apply(args[0], args[1:]...)
		}},
		{Name: "uiop:getenv", LambdaList: "(name)", Call: func(context.Context, *lisp.Call, []lisp.Value) (lisp.Value, error) {
			return lisp.NewString("home"), nil
		}},
		{Name: "panics", LambdaList: "()", Call: func(context.Context, *lisp.Call, []lisp.Value) (lisp.Value, error) { panic("bug") }},
	}...)})
	for source, want := range map[string]string{
		`(handler-case (fails) (error (e) (princ-to-string e)))`: `"the model is away"`,
		`(calls #'+ 1 2)`:           `3`,
		`(owner)`:                   `"the owner"`,
		`(org-agent:calls 'list 1)`: `(1)`,
		`(opencortex::calls (lambda (x) (* x x)) 3)`:                              `9`,
		`(uiop:getenv "HOME")`:                                                    `"home"`,
		`(block out (calls (lambda () (return-from out :through))))`:              `:THROUGH`,
		`(handler-case (calls #'car 5) (type-error () :handled))`:                 `:HANDLED`,
		`(let (l) (ignore-errors (unwind-protect (calls #'car 5) (push 1 l))) l)`: `(1)`,
		`(catch 'c (calls (lambda () (throw 'c (calls #'list 2)))))`:              `(2)`,
	} {
		if got, err := evaluated(t, e, source); err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s", source, got, err, want)
		}
	}
	if _, err := evaluated(t, e, "(fails)"); !errors.Is(err, failure) {
		t.Errorf("error %v does not wrap the function's", err)
	}
	var failed *lisp.Error
	if _, err := evaluated(t, e, "(ignore-errors (panics))"); !errors.As(err, &failed) || failed.Class != internalError {
		t.Errorf("error %v", err)
	}
	if _, err := evaluated(t, e, "(calls)"); err == nil {
		t.Error("a call without its argument succeeds")
	}
	if got, err := evaluated(t, e, "(calls #'identity 4)"); err != nil || got != "4" {
		t.Errorf("after the panic: %s, %v", got, err)
	}
}

func TestConfigIsChecked(t *testing.T) {
	for _, function := range []lisp.KernelFunction{{Name: "f", LambdaList: "x"}, {Name: "f", LambdaList: "((x)"}, {Name: "cl:car", LambdaList: "()"}, {Name: "cl-user:f", LambdaList: "()"}} {
		if _, err := lisp.NewInterface(testLanguage, []lisp.KernelFunction{function}, nil); err == nil {
			t.Errorf("%+v is accepted", function)
		}
	}
	if _, err := lisp.NewInterface(testLanguage, nil, []lisp.KernelMacro{{Name: "", LambdaList: "()"}}); err == nil {
		t.Error("a macro without a name is accepted")
	}
	if _, err := lisp.New(lisp.Config{Package: "keyword"}); err == nil {
		t.Error("the note's package may be KEYWORD")
	}
}

func TestPackages(t *testing.T) {
	e := newEnvironment(t, lisp.Config{Package: "chat-note"})
	for source, want := range map[string]string{
		`(package-name *package*)`:                                 `"CHAT-NOTE"`,
		`(progn (in-package :org-agent) (package-name *package*))`: `"CHAT-NOTE"`,
		`(progn (in-package :nowhere) (package-name *package*))`:   `"CHAT-NOTE"`,
		`(progn (defpackage :mine (:use :cl)) (in-package :mine) (prog1 (package-name *package*) (in-package :org-agent)))`: `"MINE"`,
		`(symbol-package 'foo)`:                       `#<PACKAGE "CHAT-NOTE">`,
		`(list 'foo 'car :foo 'cl-ppcre:scan)`:        `(FOO CAR :FOO CL-PPCRE:SCAN)`,
		`(progn (defun org-agent::mine () 7) (mine))`: `7`,
	} {
		if got, err := evaluated(t, e, source); err != nil || got != want {
			t.Errorf("%s is %s, %v; want %s", source, got, err, want)
		}
	}
}

func TestEnvironmentsAreSeparate(t *testing.T) {
	a, b := newEnvironment(t, lisp.Config{}), newEnvironment(t, lisp.Config{})
	if _, err := evaluated(t, a, `(defun shared () 1) (defvar *v* 1) (setf (get 'car :x) 1 (cdr *features*) nil) (setq *print-base* 16)`); err != nil {
		t.Fatal(err)
	}
	got, err := evaluated(t, b, `(list (fboundp 'shared) (boundp '*v*) (get 'car :x) (length *features*) *print-base*)`)
	if err != nil || got != "(NIL NIL NIL 2 10)" {
		t.Errorf("the other environment sees %s, %v", got, err)
	}
}

func TestOutput(t *testing.T) {
	var out strings.Builder
	e := newEnvironment(t, lisp.Config{Output: func(text string) { out.WriteString(text) }})
	if _, err := evaluated(t, e, `(princ "a") (format t "~&b~%") (print 'c) (warn "careful ~a" 1) (with-output-to-string (*standard-output*) (princ "hidden"))`); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "a\nb\n\nC WARNING: careful 1\n" {
		t.Errorf("output %q", got)
	}
}
