package lisp

import (
	"context"
	"os"
	"strings"
	"testing"
)

// noteConfig gives what the kernel gives to notes: ask-neuro, which returns its
// arguments, and defskill, whose values are evaluated.
func noteConfig(register func(properties Value)) Config {
	offered, err := NewInterface(testLanguage, []KernelFunction{
		{Name: "ask-neuro", LambdaList: "(text &key system-prompt)", Waits: true, Call: func(_ context.Context, c *Call, args []Value) (Value, error) {
			return &Cons{Car: c.Keyword("ASKED"), Cdr: NewList(args...)}, nil
		}},
		{Name: "%register-skill", LambdaList: "(name &rest properties)", Call: func(_ context.Context, _ *Call, args []Value) (Value, error) {
			if register != nil {
				register(NewList(args...))
			}
			return args[0], nil
		}},
	}, []KernelMacro{{Name: "defskill", LambdaList: "(name &rest properties)", Expand: func(c *Call, args []Value) (Value, error) {
		return &Cons{Car: c.Symbol("%REGISTER-SKILL"), Cdr: NewList(args...)}, nil
	}}})
	if err != nil {
		panic(err)
	}
	return Config{Language: testLanguage, Interface: offered}
}

// offering is an interface of functions.
func offering(t testing.TB, functions ...KernelFunction) *Interface {
	t.Helper()
	i, err := NewInterface(testLanguage, functions, nil)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func newEnvironment(t testing.TB, config Config) *Environment {
	t.Helper()
	if config.Language == nil {
		config.Language = testLanguage
	}
	e, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// evaluated is what prin1 prints of the last form in source, or the error.
func evaluated(t testing.TB, e *Environment, source string) (string, error) {
	t.Helper()
	last := "NIL"
	err := e.Eval(t.Context(), source, "test.lisp", 1, func(printed string) { last = printed })
	return last, err
}

func chatNote(t testing.TB) (*Environment, map[string]*Function) {
	t.Helper()
	source, err := os.ReadFile("testdata/chat.lisp")
	if err != nil {
		t.Fatal(err)
	}
	functions := map[string]*Function{}
	e := newEnvironment(t, noteConfig(func(properties Value) {
		items, _ := Slice(properties, 100)
		for i := 1; i+1 < len(items); i += 2 {
			if fn, ok := items[i+1].(*Function); ok {
				functions[strings.ToLower(items[i].(*Symbol).Name())] = fn
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
		var args Value
		err := e.run(t.Context(), func(c *Call) {
			form, err := c.readText(c.NewInput([]rune(test.args)))
			if err != nil {
				t.Fatal(err)
			}
			args = form
		})
		if err != nil {
			t.Fatal(err)
		}
		list, _ := Slice(args, 10)
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
	e := newEnvironment(t, Config{})
	got, err := evaluated(t, e, `(defvar *old* (list 'foo 'position))
		(unintern 'foo)
		(shadow "POSITION")
		(list (eq (first *old*) 'foo) (eq (second *old*) 'position))`)
	if err != nil || got != "(NIL NIL)" {
		t.Fatal(got, err)
	}
}
