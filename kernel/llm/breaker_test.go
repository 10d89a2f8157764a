package llm_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
)

// asks asks once and returns the class of the error.
func asks(t *testing.T, provider llm.Provider) llm.Class {
	t.Helper()
	_, err := llm.Collect(provider.Stream(t.Context(), hello))
	if err != nil && llm.ClassOf(err) == "" {
		t.Errorf("the error %v has no class", err)
	}
	return llm.ClassOf(err)
}

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, works := fails(llm.ClassServer), llmtest.Say("x")
		model := script(server, server, works, server, server, server, server, works, works)
		breaker := &llm.Breaker{Next: model, Name: "model", Failures: 3, Cooldown: 10 * time.Second}
		expect := func(requests int, want ...llm.Class) {
			t.Helper()
			for i, class := range want {
				if got := asks(t, breaker); got != class {
					t.Errorf("request %d: %q, want %q", i, got, class)
				}
			}
			if got := len(model.Requests()); got != requests {
				t.Errorf("asked %d times, want %d", got, requests)
			}
		}
		expect(3, llm.ClassServer, llm.ClassServer, "") // a success begins the count anew
		expect(6, llm.ClassServer, llm.ClassServer, llm.ClassServer)
		expect(6, llm.ClassPaused, llm.ClassPaused)
		time.Sleep(9 * time.Second)
		expect(6, llm.ClassPaused)
		time.Sleep(time.Second)
		expect(7, llm.ClassServer, llm.ClassPaused) // one is let through and fails, and the breaker stays open
		time.Sleep(10 * time.Second)
		expect(9, "", "") // one is let through and succeeds, and the breaker is closed
	})
}

// TestBreakerCounts checks that only faults of the server open the breaker.
func TestBreakerCounts(t *testing.T) {
	for class, opens := range map[llm.Class]bool{
		llm.ClassServer: true, llm.ClassUnreachable: true, llm.ClassRateLimit: true, llm.ClassTruncated: true,
		llm.ClassIdle: true, llm.ClassTimeout: true,
		llm.ClassAuth: false, llm.ClassBadRequest: false, llm.ClassCanceled: false, llm.ClassTooLong: false, llm.ClassModel: false,
	} {
		breaker := &llm.Breaker{Next: script(fails(class), fails(class)), Failures: 1}
		asks(t, breaker)
		if got := asks(t, breaker); (got == llm.ClassPaused) != opens {
			t.Errorf("after %q: %q", class, got)
		}
	}
}

// TestBreakerProbe checks that a half-open breaker lets one request through at a time, and that one
// that was given up does not block the next.
func TestBreakerProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := script(fails(llm.ClassServer), llmtest.Turn{llmtest.Hang()}, llmtest.Say("x"))
		breaker := &llm.Breaker{Next: model, Failures: 1, Cooldown: time.Second}
		asks(t, breaker)
		time.Sleep(time.Second)

		ctx, cancel := context.WithCancel(t.Context())
		probe := make(chan llm.Class)
		go func() {
			_, err := llm.Collect(breaker.Stream(ctx, hello))
			probe <- llm.ClassOf(err)
		}()
		synctest.Wait()
		if got := asks(t, breaker); got != llm.ClassPaused {
			t.Errorf("beside the probe: %q", got)
		}
		cancel()
		if got := <-probe; got != llm.ClassCanceled {
			t.Errorf("the probe: %q", got)
		}
		if got := asks(t, breaker); got != "" {
			t.Errorf("after the probe: %q", got)
		}
	})
}

// TestBreakerSaysWhy checks that the error has the server's message and the time to wait, which is
// the server's own if that is longer.
func TestBreakerSaysWhy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		breaker := &llm.Breaker{Failures: 1, Name: "remote", Next: script(llmtest.Turn{
			llmtest.Fail(&llm.Error{Class: llm.ClassRateLimit, Provider: "remote", Message: "slow down", RetryAfter: 2 * time.Minute})})}
		asks(t, breaker)
		time.Sleep(20 * time.Second)
		_, err := llm.Collect(breaker.Stream(t.Context(), hello))
		e, ok := errors.AsType[*llm.Error](err)
		if !ok || e.RetryAfter != 100*time.Second {
			t.Fatalf("the error is %#v", err)
		}
		if want := "remote: paused after repeated errors: remote: too many requests: slow down"; err.Error() != want {
			t.Errorf("the error is %q", err)
		}
		if want := "it is asked again by itself after a pause; the first error says what to mend (in 1m40s)"; llm.HintOf(err) != want {
			t.Errorf("the hint is %q", llm.HintOf(err))
		}
	})
}
