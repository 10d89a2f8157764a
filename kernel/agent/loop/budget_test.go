package loop

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/protocol"
)

// The clock does not run for a call of another program, also after it has waited for a person.
func TestPersonIsWaitedForWithoutClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := Budget{limits: config.DefaultBudget}
		b.Pause()
		time.Sleep(time.Minute)
		b.Resume()
		time.Sleep(2 * b.limits.Time)
		if taken := b.elapsed(); taken != 0 {
			t.Errorf("%v is counted", taken)
		}
	})
}

// The time of a person does not count for the turn, and the turn ends when its own time is used up.
func TestTimeOfTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := Budget{limits: config.Budget{Time: time.Minute}}
		ctx, stop := b.start(t.Context())
		defer stop()
		time.Sleep(40 * time.Second)
		b.Pause()
		time.Sleep(time.Hour)
		b.Resume()
		time.Sleep(10 * time.Second)
		if ctx.Err() != nil || b.elapsed() != 50*time.Second {
			t.Fatalf("after %v: %v", b.elapsed(), context.Cause(ctx))
		}
		time.Sleep(11 * time.Second)
		if !b.TimeIsUp(ctx) {
			t.Errorf("after %v: %v", b.elapsed(), context.Cause(ctx))
		}
	})
}

// TestRequestsAreBounded: a turn has ten requests for each of its rounds, also where servers count no tokens,
// and one that goes on asking is ended.
func TestRequestsAreBounded(t *testing.T) {
	b := Budget{limits: config.Budget{Rounds: 3}}
	ctx, stop := b.start(t.Context())
	defer stop()
	for i := range 30 {
		if err := b.allows(); err != nil {
			t.Fatalf("request %d: %v", i, err)
		}
		b.countRequest(0, nil, 0)
	}
	for i := range refusalLimit {
		if ctx.Err() != nil {
			t.Fatalf("the turn ended at refusal %d", i)
		}
		if err := b.allows(); err == nil || !strings.Contains(err.Error(), "30 requests to models, 10 for each of 3 rounds (BUDGET_ROUNDS)") {
			t.Fatalf("refusal %d: %v", i, err)
		}
	}
	if over, ok := errors.AsType[EndError](context.Cause(ctx)); !ok || over.State != protocol.TurnInterrupted {
		t.Errorf("a turn that goes on asking ends with %v", context.Cause(ctx))
	}
}
