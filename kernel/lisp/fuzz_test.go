package lisp_test

import (
	"errors"
	"os"
	"testing"
	"time"

	"org-agent/kernel/lisp"
)

// FuzzEval evaluates arbitrary source under small limits. Whatever it is, it ends with
// a value or an *Error that is no fault of the evaluator, and leaves the environment
// usable.
func FuzzEval(f *testing.F) {
	for _, c := range readCorpus(f) {
		for _, form := range c.forms() {
			f.Add(form)
		}
	}
	for _, attack := range attacks {
		f.Add(attack.source)
	}
	note, err := os.ReadFile("testdata/chat.lisp")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(note))
	config, usable := noteConfig(nil), noteConfig(nil)
	// Nothing takes a tenth of a second in so few steps but sleep.
	config.Limits = lisp.Limits{Steps: 20_000, Bytes: 4 << 20, Output: 10_000, Depth: 10_000, Duration: 100 * time.Millisecond}
	f.Fuzz(func(t *testing.T, source string) {
		e := newEnvironment(t, config)
		err := e.Eval(t.Context(), source, "fuzz", 1, func(string) {})
		var failed *lisp.Error
		if err != nil && !errors.As(err, &failed) {
			t.Fatalf("the error is a %T", err)
		}
		if failed != nil && failed.Class == internalError {
			t.Fatalf("%v\n%v", failed, failed.Cause)
		}
		if _, err := e.Problems(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got, err := evaluated(t, newEnvironment(t, usable), "(+ 1 2)"); err != nil || got != "3" {
			t.Fatalf("(+ 1 2) is %s, %v", got, err)
		}
	})
}

// TestBuiltinsWithOddArguments calls every function of the language with odd arguments, alone and
// in pairs, threes and fours. With -short there are a third as many of those.
func TestBuiltinsWithOddArguments(t *testing.T) {
	t.Parallel()
	every := 5
	if *thorough {
		every = 1
	} else if testing.Short() {
		every = 9
	}
	odd := []string{
		"nil", "t", "5", "-1", "1.5", "1/2", "1.5d0", "99999999999999999999", "\"ab\"", "#\\a", ":k", "'sym", "'(1 2)", "'(1 . 2)", "'((a . 1) b)", "(vector 1 2)",
		"#'car", "(lambda (&rest r) (car r))", "(make-hash-table)", "(make-string-output-stream)", "(make-string-input-stream \"x\")", "*package*", "'(:test 5)", "(make-array '(2 2) :initial-element 0)",
		"(make-array 2 :fill-pointer 1)", "(make-condition 'error)", "(find-class 'error)", "\"(a\"", "4611686018427387904",
	}
	for _, name := range testLanguage.Entries() {
		if name.Kind != lisp.FunctionEntry {
			continue
		}
		limits := lisp.Limits{Steps: 100_000, Bytes: 8 << 20, Output: 100_000, Duration: 5 * time.Second}
		if name.Name == "sleep" { // it sleeps as long as the limit lets it
			limits.Duration = 20 * time.Millisecond
		}
		e := newEnvironment(t, lisp.Config{Limits: limits})
		try := func(arguments string) {
			source := "(" + name.Name + " " + arguments + ")"
			_, err := evaluated(t, e, source)
			var failed *lisp.Error
			if err != nil && !errors.As(err, &failed) {
				t.Fatalf("%s: the error is a %T", source, err)
			}
			if failed != nil && failed.Class == internalError {
				t.Errorf("%s: %v\n%v", source, failed, failed.Cause)
			}
		}
		if testLanguage.HasSetter(name.Name) {
			for i, a := range odd {
				for j, b := range odd {
					place := name.Name + " " + a
					if (i+j)%2 == 0 {
						place += " " + odd[(i+3*j)%len(odd)]
					}
					if _, err := evaluated(t, e, "(setf ("+place+") "+b+")"); err != nil {
						var failed *lisp.Error
						if !errors.As(err, &failed) || failed.Class == internalError {
							t.Errorf("(setf (%s) %s): %v\n%v", place, b, failed, failed.Cause)
						}
					}
				}
			}
		}
		try("")
		for i, a := range odd {
			try(a)
			for j, b := range odd {
				if (i+2*j)%every != 0 {
					continue
				}
				try(a + " " + b)
				if (i+j)%5 == 0 {
					try(a + " " + b + " " + odd[(i*7+j*3)%len(odd)])
				}
				if (i+j)%11 == 0 {
					try(a + " " + b + " " + odd[(i+j)%len(odd)] + " " + odd[(i*5+j)%len(odd)])
				}
			}
		}
	}
}
