package lisp_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"org-agent/kernel/lisp"
)

// noteConfig gives what the kernel gives to notes: ask-neuro, which returns its
// arguments, and defskill, whose values are evaluated.
func noteConfig(register func(properties lisp.Value)) lisp.Config {
	offered, err := lisp.NewInterface(testLanguage, []lisp.KernelFunction{
		{Name: "ask-neuro", LambdaList: "(text &key system-prompt)", Waits: true, Call: func(_ context.Context, c *lisp.Call, args []lisp.Value) (lisp.Value, error) {
			return &lisp.Cons{Car: c.Keyword("ASKED"), Cdr: lisp.NewList(args...)}, nil
		}},
		{Name: "%register-skill", LambdaList: "(name &rest properties)", Call: func(_ context.Context, _ *lisp.Call, args []lisp.Value) (lisp.Value, error) {
			if register != nil {
				register(lisp.NewList(args...))
			}
			return args[0], nil
		}},
	}, []lisp.KernelMacro{{Name: "defskill", LambdaList: "(name &rest properties)", Expand: func(c *lisp.Call, args []lisp.Value) (lisp.Value, error) {
		return &lisp.Cons{Car: c.Symbol("%REGISTER-SKILL"), Cdr: lisp.NewList(args...)}, nil
	}}})
	if err != nil {
		panic(err)
	}
	return lisp.Config{Language: testLanguage, Interface: offered}
}

// offering is an interface of functions.
func offering(t testing.TB, functions ...lisp.KernelFunction) *lisp.Interface {
	t.Helper()
	i, err := lisp.NewInterface(testLanguage, functions, nil)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func newEnvironment(t testing.TB, config lisp.Config) *lisp.Environment {
	t.Helper()
	if config.Language == nil {
		config.Language = testLanguage
	}
	e, err := lisp.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// evaluated is what prin1 prints of the last form in source, or the error.
func evaluated(t testing.TB, e *lisp.Environment, source string) (string, error) {
	t.Helper()
	last := "NIL"
	err := e.Eval(t.Context(), source, "test.lisp", 1, func(printed string) { last = printed })
	return last, err
}

func chatNote(t testing.TB) (*lisp.Environment, map[string]*lisp.Function) {
	t.Helper()
	source, err := os.ReadFile("testdata/chat.lisp")
	if err != nil {
		t.Fatal(err)
	}
	functions := map[string]*lisp.Function{}
	e := newEnvironment(t, noteConfig(func(properties lisp.Value) {
		items, _ := lisp.Slice(properties, 100)
		for i := 1; i+1 < len(items); i += 2 {
			if fn, ok := items[i+1].(*lisp.Function); ok {
				functions[strings.ToLower(items[i].(*lisp.Symbol).Name())] = fn
			}
		}
	}))
	if err := e.Load(t.Context(), string(source), "chat.org", 10); err != nil {
		t.Fatal(err)
	}
	return e, functions
}

func TestChatNote(t *testing.T) {
	e, functions := chatNote(t)
	if problems, err := e.Problems(t.Context()); err != nil || len(problems) > 0 {
		t.Fatalf("problems %v, error %v", problems, err)
	}
	for _, test := range []struct{ function, args, want string }{
		{"trigger", "((:payload (:sensor :chat-message)))", "T"},
		{"trigger", "((:payload (:sensor :Heartbeat)))", "NIL"},
		{"symbolic", "((:type :REQUEST :target :emacs :action :insert-at-end :text \"x\") nil)", `(:TYPE :REQUEST :TARGET :EMACS :ACTION :INSERT-AT-END :TEXT "x")`},
		{"symbolic", "((:type :bogus) nil)", "(:TYPE :REQUEST :TARGET :EMACS :PAYLOAD (:ACTION :INSERT-AT-END :BUFFER \"*chat*\" :TEXT \"\n*Refused:* (:TYPE :BOGUS)\"))"},
		{"neuro", "((:payload (:text \"hi oops no\" :channel :matrix :chat-id \"!r\")))", "(:ASKED \"hi \" :SYSTEM-PROMPT \"RULES:\n- reply to !r with \\\"<text>\\\"\n- be kind\")"},
	} {
		var args lisp.Value
		err := e.Run(t.Context(), func(c *lisp.Call) {
			form, read := c.ReadForm(c.NewInput([]rune(test.args)))
			if !read {
				t.Fatalf("%s is blank", test.args)
			}
			args = form
		})
		if err != nil {
			t.Fatal(err)
		}
		list, _ := lisp.Slice(args, 10)
		v, err := e.Call(t.Context(), functions[test.function], list...)
		if err != nil {
			t.Fatalf("%s%s: %v", test.function, test.args, err)
		}
		if got, err := e.Print(t.Context(), v); err != nil || got != test.want {
			t.Errorf("%s%s = %s, %v; want %s", test.function, test.args, got, err, test.want)
		}
	}
}

// TestSpellingsThatChange reads names that mean another symbol than they did before.
func TestSpellingsThatChange(t *testing.T) {
	e := newEnvironment(t, lisp.Config{})
	got, err := evaluated(t, e, `(defvar *old* (list 'foo 'position))
		(unintern 'foo)
		(shadow "POSITION")
		(list (eq (first *old*) 'foo) (eq (second *old*) 'position))`)
	if err != nil || got != "(NIL NIL)" {
		t.Fatal(got, err)
	}
}
