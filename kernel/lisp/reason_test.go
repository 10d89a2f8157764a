package lisp_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"org-agent/kernel/lisp"
	"org-agent/kernel/lisp/lib"
)

// TestReason: the reason of a call reaches the program's functions, also those that the note calls
// in between, and what decides on access; a call without one has none, and concurrent ones do not
// see each other's.
func TestReason(t *testing.T) {
	language, err := lib.Language()
	if err != nil {
		t.Fatal(err)
	}
	offered, err := lisp.NewInterface(language, []lisp.KernelFunction{
		{Name: "app:why", LambdaList: "()", Doc: "Why.", Call: func(_ context.Context, call *lisp.Call, _ []lisp.Value) (lisp.Value, error) {
			return lisp.NewString(fmt.Sprint(call.Reason())), nil
		}},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	home, err := lisp.RealPath(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(home, "list.txt")
	access := lisp.Access{
		Read: []string{home}, Write: []string{home}, Directory: home,
		Check: func(reason any, kind, _ string) error {
			if reason == "no" {
				return errors.New("not for this reason")
			}
			return nil
		},
		Dry: func(reason any) bool { return reason == "dry" },
	}
	environment, err := lisp.New(lisp.Config{Interface: offered, Access: access})
	if err != nil {
		t.Fatal(err)
	}
	program := `
(defun why () (mapcar (lambda (x) x (app:why)) '(1 2)))
(defun note-down (text)
  (handler-case (with-open-file (s "list.txt" :direction :output :if-exists :supersede)
                  (write-string text s))
    (error (c) (princ-to-string c))))`
	if err := environment.Load(t.Context(), program, "program.lisp", 1); err != nil {
		t.Fatal(err)
	}
	printed := func(value lisp.Value, err error) string {
		if err != nil {
			return err.Error()
		}
		text, err := environment.Print(t.Context(), value)
		if err != nil {
			return err.Error()
		}
		return text
	}

	if got, want := printed(environment.Call(t.Context(), "why")), `("<nil>" "<nil>")`; got != want {
		t.Errorf("without a reason: %s, want %s", got, want)
	}
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			want := fmt.Sprintf(`("%d" "%d")`, i, i)
			for range 50 {
				if got := printed(environment.For(i).Call(t.Context(), "why")); got != want {
					t.Errorf("for %d: %s, want %s", i, got, want)
				}
			}
		})
	}
	group.Wait()
	var typed []string
	if err := environment.For("typed").Eval(t.Context(), "(why) (app:why)", "typed", 1, func(printed string) { typed = append(typed, printed) }); err != nil {
		t.Fatal(err)
	}
	if want := []string{`("typed" "typed")`, `"typed"`}; !slices.Equal(typed, want) {
		t.Errorf("typed: %q, want %q", typed, want)
	}

	for _, step := range []struct{ reason, text, answer, left string }{
		{"dry", "milk", `"milk"`, ""},
		{"shopping", "bread", `"bread"`, "bread"},
		{"dry", "butter", `"butter"`, "bread"},
		{"no", "cheese", `"not for this reason"`, "bread"},
	} {
		answer := printed(environment.For(step.reason).Call(t.Context(), "note-down", lisp.NewString(step.text)))
		left, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if answer != step.answer || string(left) != step.left {
			t.Errorf("%s %s: answer %s and the file %q, want %s and %q", step.reason, step.text, answer, left, step.answer, step.left)
		}
	}
}
