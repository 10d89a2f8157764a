package channeltest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"org-agent/kernel/channel"
)

// patience returns how long the suite waits for what has to happen. The test fails before the program of the tests is ended.
func patience(t *testing.T) time.Duration {
	const most = 20 * time.Second
	if deadline, ok := t.Deadline(); ok {
		return min(most, time.Until(deadline)/2)
	}
	return most
}

// running is a driver that is run, and what it delivered.
type running struct {
	driver channel.Driver
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // of Run, once ended is closed

	mutex     sync.Mutex
	delivered []channel.Message // each time that receive was called
	taken     []channel.Message // those for which it did not fail
	// refuse is the error of receive, nil for none.
	refuse func(m channel.Message) error
}

// run runs a driver until the test ends, or until stop.
func run(t *testing.T, d channel.Driver, refuse func(channel.Message) error) *running {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{driver: d, cancel: cancel, ended: make(chan struct{}), refuse: refuse}
	go func() {
		defer close(r.ended)
		r.err = d.Run(ctx, r.receive)
	}()
	t.Cleanup(func() { r.stop(t) })
	return r
}

func (r *running) receive(_ context.Context, m channel.Message) error {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	r.delivered = append(r.delivered, m)
	if r.refuse != nil {
		if err := r.refuse(m); err != nil {
			return err
		}
	}
	r.taken = append(r.taken, m)
	return nil
}

// stop ends the driver, and checks that it ends without an error, soon, and with all of its goroutines.
func (r *running) stop(t *testing.T) {
	t.Helper()
	select {
	case <-r.ended:
		return
	default:
	}
	r.cancel()
	select {
	case <-r.ended:
	case <-time.After(patience(t)):
		t.Fatalf("Run has not returned %v after its context ended", patience(t))
	}
	if r.err != nil && !errors.Is(r.err, context.Canceled) {
		t.Errorf("Run ends with its context, and with the error %v", r.err)
	}
	r.left(t)
}

// left checks that no goroutine of the driver's package is left. One that has said that it ends may need a moment for it.
func (r *running) left(t *testing.T) {
	t.Helper()
	of := reflect.TypeOf(r.driver)
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	var left string
	for deadline := time.Now().Add(500 * time.Millisecond); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if left = goroutineOf(of.PkgPath() + "."); left == "" {
			return
		}
	}
	t.Errorf("Run has returned, and a goroutine of the driver has not ended:\n%s", left)
}

// goroutineOf returns the stack of a goroutine, other than this one and tests that wait for others, in which there is a
// function of a package.
func goroutineOf(pkg string) string {
	buffer := make([]byte, 1<<20)
	stacks := strings.Split(string(buffer[:runtime.Stack(buffer, true)]), "\n\n")
	for _, stack := range stacks[1:] {
		if strings.Contains(stack, pkg) && !strings.Contains(stack, "testing.(*T).Run(") {
			return stack
		}
	}
	return ""
}

// messages returns what was delivered and taken, of one kind, each message once.
func (r *running) messages(kind channel.MessageKind) (of []channel.Message) {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	seen := map[string]bool{}
	for _, m := range r.taken {
		if m.Kind == kind && !m.Myself && !seen[m.ID] {
			of = append(of, m)
		}
		seen[m.ID] = true
	}
	return of
}

// wait waits until n messages of a kind were taken, and returns them.
func (r *running) wait(t *testing.T, kind channel.MessageKind, n int) []channel.Message {
	t.Helper()
	var of []channel.Message
	eventually(t, func() error {
		select {
		case <-r.ended:
			t.Fatalf("Run has returned: %v", r.err)
		default:
		}
		if of = r.messages(kind); len(of) < n {
			return fmt.Errorf("%d of %d messages of the kind %q are there: %+v", len(of), n, kind, of)
		}
		return nil
	})
	return of
}

// eventually waits until nothing is wrong any more.
func eventually(t *testing.T, wrong func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(patience(t)); time.Now().Before(deadline); time.Sleep(2 * time.Millisecond) {
		if err = wrong(); err == nil {
			return
		}
	}
	t.Fatalf("it does not happen: %v", err)
}

// failure returns the failure that an error is, and one of no class for any other.
func failure(err error) channel.Failure {
	if f := (*channel.Failure)(nil); errors.As(err, &f) {
		return *f
	}
	return channel.Failure{}
}
