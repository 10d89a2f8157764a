//go:build race

package lisp_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"org-agent/kernel/lisp"
	"org-agent/kernel/plist"
)

// TestGuard makes one call wait while another runs, and checks that bindings stay with
// their call.
func TestGuard(t *testing.T) {
	waiting, proceed := make(chan struct{}), make(chan struct{})
	e := newEnvironment(t, lisp.Config{
		Limits: lisp.Limits{Duration: 200 * time.Millisecond},
		Interface: offering(t, lisp.KernelFunction{Name: "wait", LambdaList: "()", Waits: true, Call: func(ctx context.Context, _ *lisp.Call, _ []lisp.Value) (lisp.Value, error) {
			close(waiting)
			<-proceed
			time.Sleep(300 * time.Millisecond) // longer than the limit, which must not count
			return lisp.T, ctx.Err()
		}}),
	})
	source := `(defvar *who* :nobody) (defvar *global* 0)
(defun slow () (let ((*who* :slow)) (handler-case (progn (wait) (list *who* *global*)) (error () :error))))
(defun quick () (incf *global*) (let ((*who* :quick)) (list *who* *global*)))`
	if err := e.Load(t.Context(), source, "x", 1); err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	group.Go(func() {
		v, err := e.Call(t.Context(), "slow")
		if text := lisp.Sketch(v, 80); err != nil || text != "(:SLOW 1)" {
			t.Errorf("slow is %s, %v", text, err)
		}
	})
	<-waiting
	v, err := e.Call(t.Context(), "quick")
	if text := lisp.Sketch(v, 80); err != nil || text != "(:QUICK 1)" {
		t.Errorf("quick is %s, %v", text, err)
	}
	close(proceed)
	group.Wait()
}

// TestParallel: many goroutines call the same and different notes.
func TestParallel(t *testing.T) {
	const goroutines, notes, rounds = 8, 4, 100
	var environments []*lisp.Environment
	for range notes {
		e, _ := chatNote(t)
		environments = append(environments, e)
	}
	action, err := plist.Read(`(:type :bogus :text "x" :n (1 2.5 :new-keyword))`)
	if err != nil {
		t.Fatal(err)
	}
	var group sync.WaitGroup
	for g := range goroutines {
		group.Go(func() {
			for i := range rounds {
				e := environments[(g+i)%notes]
				v, err := e.FromSexp(action)
				if err != nil {
					t.Error(err)
					return
				}
				result, err := e.Call(t.Context(), "greet-verify", v, lisp.Nil)
				if err != nil {
					t.Error(err)
					return
				}
				if _, err := lisp.ToSexp(result); err != nil {
					t.Error(err)
				}
				if _, err := e.Call(t.Context(), "greet-neuro", lisp.NewList(e.Keyword("PAYLOAD"), lisp.Nil)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
}
