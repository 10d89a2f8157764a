package llm_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
)

func TestRetry(t *testing.T) {
	limited := func(after time.Duration) llmtest.Turn {
		return llmtest.Turn{llmtest.Fail(&llm.Error{Class: llm.ClassRateLimit, RetryAfter: after})}
	}
	server := fails(llm.ClassServer)
	for _, c := range []struct {
		name      string
		turns     []llmtest.Turn
		class     llm.Class // of the error; "" means success
		requests  int
		low, high time.Duration
	}{
		{"works at once", []llmtest.Turn{llmtest.Say("x")}, "", 1, 0, 0},
		{"works the second time", []llmtest.Turn{server, llmtest.Say("x")}, "", 2, 250 * time.Millisecond, 500 * time.Millisecond},
		{"works the last time", []llmtest.Turn{server, fails(llm.ClassUnreachable), fails(llm.ClassTruncated), llmtest.Say("x")}, "", 4,
			(250 + 500 + 1000) * time.Millisecond, (500 + 1000 + 2000) * time.Millisecond},
		{"fails for ever", []llmtest.Turn{server, server, server, server, server}, llm.ClassServer, 4,
			(250 + 500 + 1000) * time.Millisecond, (500 + 1000 + 2000) * time.Millisecond},
		{"waits for a model that is loaded", append(slices.Repeat([]llmtest.Turn{fails(llm.ClassLoading)}, 100), llmtest.Say("x")), "", 101, 100 * time.Second, 100 * time.Second},
		{"waits for one three minutes", slices.Repeat([]llmtest.Turn{fails(llm.ClassLoading)}, 200), llm.ClassLoading, 181, 180 * time.Second, 180 * time.Second},
		{"waits as told", []llmtest.Turn{limited(7 * time.Second), llmtest.Say("x")}, "", 2, 7 * time.Second, 7 * time.Second},
		{"does not wait an hour", []llmtest.Turn{limited(time.Hour), llmtest.Say("x")}, llm.ClassRateLimit, 1, 0, 0},
		{"does not wait twice 40 seconds", []llmtest.Turn{limited(40 * time.Second), limited(40 * time.Second), llmtest.Say("x")}, llm.ClassRateLimit, 2,
			40 * time.Second, 40 * time.Second},
		{"not after text", []llmtest.Turn{{llmtest.Text("x"), llmtest.FailAs(llm.ClassServer)}, llmtest.Say("x")}, llm.ClassServer, 1, 0, 0},
		{"not after reasoning", []llmtest.Turn{{llmtest.Reasoning("x"), llmtest.FailAs(llm.ClassServer)}, llmtest.Say("x")}, llm.ClassServer, 1, 0, 0},
		{"not a wrong key", []llmtest.Turn{fails(llm.ClassAuth), llmtest.Say("x")}, llm.ClassAuth, 1, 0, 0},
		{"not a wrong request", []llmtest.Turn{fails(llm.ClassBadRequest), llmtest.Say("x")}, llm.ClassBadRequest, 1, 0, 0},
		{"not what was given up", []llmtest.Turn{fails(llm.ClassCanceled), llmtest.Say("x")}, llm.ClassCanceled, 1, 0, 0},
		{"not a silent server", []llmtest.Turn{fails(llm.ClassIdle), llmtest.Say("x")}, llm.ClassIdle, 1, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				model := script(c.turns...)
				begin := time.Now()
				reply, err := llm.Collect(llm.Retry{Next: model}.Stream(t.Context(), hello))
				took := time.Since(begin)
				if llm.ClassOf(err) != c.class || (err == nil) != (c.class == "") {
					t.Errorf("the error is %v", err)
				}
				if err == nil && reply.Text != "x" {
					t.Errorf("the reply is %q", reply.Text)
				}
				if requests := len(model.Requests()); requests != c.requests {
					t.Errorf("asked %d times, want %d", requests, c.requests)
				}
				if took < c.low || took > c.high {
					t.Errorf("took %s, want %s to %s", took, c.low, c.high)
				}
			})
		})
	}
}

func TestRetryPausesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		model := &llmtest.Script{Reply: func(llm.Request) llmtest.Turn { return fails(llm.ClassServer) }}
		begin := time.Now()
		retry := llm.Retry{Next: model, Attempts: 100, FirstPause: time.Second, Longest: 2 * time.Second, MaxElapsed: 20 * time.Second}
		_, err := llm.Collect(retry.Stream(t.Context(), hello))
		if took := time.Since(begin); llm.ClassOf(err) != llm.ClassServer || took > 20*time.Second || took < 18*time.Second {
			t.Errorf("gave up after %s with %v", took, err)
		}
		// The first pause is 0.5 to 1 second, and the others 1 to 2 seconds.
		if requests := len(model.Requests()); requests < 10 || requests > 21 {
			t.Errorf("asked %d times", requests)
		}
	})
}

func TestRetryGivesUpWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		time.AfterFunc(3*time.Second, cancel)
		model := script(llmtest.Turn{llmtest.Fail(&llm.Error{Class: llm.ClassRateLimit, RetryAfter: 50 * time.Second})})
		begin := time.Now()
		_, err := llm.Collect(llm.Retry{Next: model}.Stream(ctx, hello))
		if llm.ClassOf(err) != llm.ClassCanceled || time.Since(begin) != 3*time.Second {
			t.Errorf("after %s: %v", time.Since(begin), err)
		}
	})
}

// TestRetryCall checks that a call that is not a stream is repeated by the same rules.
func TestRetryCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			class    llm.Class
			attempts int
		}{{llm.ClassServer, 3}, {llm.ClassAuth, 1}} {
			attempts := 0
			err := llm.Retry{}.Call(t.Context(), func(context.Context) error {
				if attempts++; attempts == 3 {
					return nil
				}
				return &llm.Error{Class: c.class}
			})
			if attempts != c.attempts || (err == nil) != (c.attempts == 3) {
				t.Errorf("%s: asked %d times: %v", c.class, attempts, err)
			}
		}
	})
}
