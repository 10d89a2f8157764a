package loop

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"org-agent/kernel/config"
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
