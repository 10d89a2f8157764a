package loop

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"org-agent/kernel/config"
)

// A call of another program is in no time of a turn: that a person was waited for begins none.
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

// What a person takes is none of the turn's time, and what the turn takes ends it.
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
