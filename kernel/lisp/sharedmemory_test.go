package lisp_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"org-agent/kernel/lisp"
)

// holding is an environment that shares memory. Its function hold, called with the memory in use
// that its caller has, waits until proceed is closed.
func holding(t *testing.T, memory *lisp.Memory, limits lisp.Limits, proceed <-chan struct{}) *lisp.Environment {
	t.Helper()
	runtime.GC() // what other tests left in the heap is not what these calls have
	e := newEnvironment(t, lisp.Config{Memory: memory, Limits: limits, Interface: offering(t, lisp.KernelFunction{
		Name: "hold", LambdaList: "()", Waits: true, Call: func(ctx context.Context, _ *lisp.Call, _ []lisp.Value) (lisp.Value, error) {
			<-proceed
			return lisp.T, nil
		},
	})})
	return e
}

const tenMegabytes = `(progn (make-string 2600000) nil)`

// TestMemoryIsWaitedFor: a call waits for memory that another one has, with its clock standing, and
// goes on when that ends.
func TestMemoryIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, proceed := lisp.NewMemory(16<<20), make(chan struct{})
		limits := lisp.Limits{Duration: time.Minute}
		var group sync.WaitGroup
		group.Go(func() {
			if got, err := evaluated(t, holding(t, memory, limits, proceed), `(let ((a (make-string 2600000))) (hold) (length a))`); got != "2600000" || err != nil {
				t.Errorf("the first call gives %s, %v", got, err)
			}
		})
		synctest.Wait()
		began := time.Now()
		second := make(chan error, 1)
		group.Go(func() {
			_, err := evaluated(t, holding(t, memory, limits, nil), `(progn `+tenMegabytes+` (sleep 30))`)
			second <- err
		})
		time.Sleep(50 * time.Second)
		select {
		case err := <-second:
			t.Errorf("the second call did not wait: %v", err)
		default:
		}
		close(proceed)
		group.Wait()
		if err := <-second; err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took < 80*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// TestMemoryIsNotWaitedForTooLong: a call waits for as long as it may take, and then ends as if it
// had exceeded its own limit.
func TestMemoryIsNotWaitedForTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, proceed := lisp.NewMemory(16<<20), make(chan struct{})
		var group sync.WaitGroup
		group.Go(func() {
			evaluated(t, holding(t, memory, lisp.Limits{}, proceed), `(let ((a (make-string 2600000))) (hold) (length a))`)
		})
		synctest.Wait()
		e, began := holding(t, memory, lisp.Limits{Duration: 20 * time.Second}, nil), time.Now()
		_, err := evaluated(t, e, tenMegabytes)
		checkAttack(t, storageCondition, err)
		if !errors.Is(err, lisp.ErrLoanTooLong) || time.Since(began) != 20*time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		if err := e.Load(ctx, tenMegabytes, "x", 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if got, err := evaluated(t, e, `(length (make-list 1000))`); got != "1000" || err != nil {
			t.Errorf("little is %s, %v", got, err)
		}
		close(proceed)
		group.Wait()
		if _, err := evaluated(t, e, tenMegabytes); err != nil {
			t.Error(err)
		}
	})
}

// TestAllWait: when all calls want more than there is, one ends and the others go on.
func TestAllWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, proceed := lisp.NewMemory(64<<20), make(chan struct{})
		failures := make(chan error, 3)
		var environments []*lisp.Environment
		for range 3 {
			environments = append(environments, holding(t, memory, lisp.Limits{}, proceed))
		}
		runtime.GC() // what building them left would be taken for what the heap has without calls
		var group sync.WaitGroup
		for _, e := range environments {
			group.Go(func() {
				_, err := evaluated(t, e, `(let ((a (make-string 4600000))) (hold) (length (list a (make-string 4600000))))`)
				failures <- err
			})
		}
		synctest.Wait()
		close(proceed)
		group.Wait()
		failed := 0
		for range 3 {
			if err := <-failures; err != nil {
				failed++
				if !errors.Is(err, lisp.ErrMemoryTaken) || !strings.Contains(err.Error(), "of all programs together") {
					t.Error(err)
				}
			}
		}
		if failed != 1 {
			t.Errorf("%d of 3 calls failed", failed)
		}
		if !memory.Idle() {
			t.Errorf("after all calls the memory is not idle: %+v", memory)
		}
	})
}

// TestCallsThatWaitOutside: calls that wait for something outside keep nothing of the memory that they
// do not use, so that many more than the memory has loans for go on.
func TestCallsThatWaitOutside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		memory, proceed := lisp.NewMemory(4<<20), make(chan struct{})
		e := holding(t, memory, lisp.Limits{Duration: time.Second}, proceed)
		var group sync.WaitGroup
		for range 200 {
			group.Go(func() {
				if got, err := evaluated(t, e, `(let ((a (list 1 2 3))) (hold) (length (append a a)))`); got != "6" || err != nil {
					t.Errorf("a call gives %s, %v", got, err)
				}
			})
		}
		synctest.Wait()
		time.Sleep(time.Minute) // the model thinks
		if got, err := evaluated(t, e, `(length (make-list 1000))`); got != "1000" || err != nil {
			t.Errorf("beside them a call gives %s, %v", got, err)
		}
		close(proceed)
		group.Wait()
		if !memory.Idle() {
			t.Errorf("after all calls the memory is not idle: %+v", memory)
		}
	})
}

// TestMemoryOfRecursion: what a recursion takes of the stack is taken from the memory, too.
func TestMemoryOfRecursion(t *testing.T) {
	e := newEnvironment(t, lisp.Config{Memory: lisp.NewMemory(16 << 20)})
	_, err := evaluated(t, e, `(defun f (x) (1+ (f x))) (f 1)`)
	checkAttack(t, storageCondition, err)
	if !errors.Is(err, lisp.ErrMemoryTaken) {
		t.Error(err)
	}
	if got, err := evaluated(t, e, `(defun g (x) (if (= x 0) 0 (1+ (g (1- x))))) (g 1000)`); got != "1000" || err != nil {
		t.Errorf("it is %s, %v", got, err)
	}
}
