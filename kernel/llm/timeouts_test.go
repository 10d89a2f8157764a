package llm_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
)

func TestTimeouts(t *testing.T) {
	const s = time.Second
	limits := llm.Timeouts{Name: "slow", First: 10 * s, Idle: 3 * s, Total: 30*s + s/2}
	for _, c := range []struct {
		name   string
		turn   llmtest.Turn
		limits llm.Timeouts
		class  llm.Class
		text   string
		took   time.Duration
	}{
		{"in time", llmtest.Turn{llmtest.Pause(7 * s), llmtest.Runes("abc", 1, 2*s), llmtest.Finish(llm.FinishStop)}, limits, "", "abc", 13 * s},
		{"no first delta", llmtest.Turn{llmtest.Hang()}, limits, llm.ClassIdle, "", 10 * s},
		{"silent in the middle", llmtest.Turn{llmtest.Text("ab"), llmtest.Hang()}, limits, llm.ClassIdle, "ab", 3 * s},
		{"no end", llmtest.Turn{llmtest.Runes(strings.Repeat("x", 100), 1, s)}, limits, llm.ClassTimeout, strings.Repeat("x", 30), 30*s + s/2},
		{"the provider's own error", fails(llm.ClassServer), limits, llm.ClassServer, "", 0},
		{"no limits", llmtest.Turn{llmtest.Pause(time.Hour), llmtest.Text("x"), llmtest.Pause(time.Hour), llmtest.Finish(llm.FinishStop)},
			llm.Timeouts{First: -1, Idle: -1, Total: -1}, "", "x", 2 * time.Hour},
		{"default first", llmtest.Turn{llmtest.Hang()}, llm.Timeouts{}, llm.ClassIdle, "", llm.DefaultFirstTimeout},
		{"default idle", llmtest.Turn{llmtest.Text("x"), llmtest.Hang()}, llm.Timeouts{}, llm.ClassIdle, "x", llm.DefaultIdleTimeout},
		{"default total", llmtest.Turn{llmtest.Runes(strings.Repeat("x", 30), 1, 61*s)}, llm.Timeouts{}, llm.ClassTimeout,
			strings.Repeat("x", 14), llm.DefaultTotalTimeout},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c.limits.Next = script(c.turn)
				begin := time.Now()
				reply, err := llm.Collect(c.limits.Stream(t.Context(), hello))
				if took := time.Since(begin); took != c.took {
					t.Errorf("took %s, want %s", took, c.took)
				}
				if llm.ClassOf(err) != c.class || reply.Text != c.text {
					t.Errorf("text %q, error %v", reply.Text, err)
				}
				expired := c.class == llm.ClassIdle || c.class == llm.ClassTimeout
				if errors.Is(err, context.DeadlineExceeded) != expired {
					t.Errorf("%v and context.DeadlineExceeded disagree", err)
				}
			})
		})
	}
}

// TestTimeoutsSpareTheConsumer checks that a slow consumer does not count as a silent model.
func TestTimeoutsSpareTheConsumer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		limits := llm.Timeouts{Next: script(llmtest.Turn{llmtest.Runes("abc", 1, 0), llmtest.Finish(llm.FinishStop)}), Idle: time.Second}
		for _, err := range limits.Stream(t.Context(), hello) {
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Minute)
		}
	})
}

// TestTimeoutsLeaveACancelAlone checks that the person's stop is not a timeout.
func TestTimeoutsLeaveACancelAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		time.AfterFunc(time.Second, cancel)
		_, err := llm.Collect(llm.Timeouts{Next: script(llmtest.Turn{llmtest.Hang()})}.Stream(ctx, hello))
		if llm.ClassOf(err) != llm.ClassCanceled || !errors.Is(err, context.Canceled) {
			t.Errorf("the error is %v", err)
		}
	})
}
