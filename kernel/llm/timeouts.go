package llm

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
)

// The default limits of a [Timeouts]. They are long because a local model may have to be loaded and
// to read a long prompt before its first word.
const (
	DefaultFirstTimeout = 3 * time.Minute
	DefaultIdleTimeout  = 90 * time.Second
	DefaultTotalTimeout = 15 * time.Minute
)

// Timeouts ends a stream that is too slow. A zero limit means the default, a negative one no limit.
// The time that the consumer spends on a delta counts only for Total.
type Timeouts struct {
	// Next is the provider that is watched.
	Next Provider
	// Name is the provider's name in errors.
	Name string
	// First limits the time until the first delta, Idle the time from one delta to the next, and
	// Total the time of the whole stream.
	First, Idle, Total time.Duration
}

// Stream returns Next's stream. It ends with an error of ClassIdle or ClassTimeout when a limit is
// exceeded.
func (t Timeouts) Stream(ctx context.Context, request Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)

		first := orDefault(t.First, DefaultFirstTimeout)
		idle := orDefault(t.Idle, DefaultIdleTimeout)
		total := orDefault(t.Total, DefaultTotalTimeout)
		whole := watchdog{expire: t.expire(cancel, ClassTimeout, "no end after", total)}
		whole.start(total)
		defer whole.stop()
		silence := watchdog{expire: t.expire(cancel, ClassIdle, "nothing came for", first)}
		silence.start(first)
		defer func() { silence.stop() }()

		begun := false
		for delta, err := range t.Next.Stream(ctx, request) {
			silence.stop()
			if err != nil {
				yield(Delta{}, expiredOr(ctx, err))
				return
			}
			if !yield(delta, nil) {
				return
			}
			if !begun {
				begun = true
				silence.expire = t.expire(cancel, ClassIdle, "nothing came for", idle)
			}
			silence.start(idle)
		}
	}
}

// expire returns the function that a watchdog calls when its time is over.
func (t Timeouts) expire(cancel context.CancelCauseFunc, class Class, what string, limit time.Duration) func() {
	return func() {
		cancel(&Error{Class: class, Provider: t.Name, Message: fmt.Sprintf("%s %s", what, limit)})
	}
}

// expiredOr returns the watchdog's error if the watchdog ended the stream, and otherwise err.
func expiredOr(ctx context.Context, err error) error {
	if expired, ok := errors.AsType[*Error](context.Cause(ctx)); ok && ctx.Err() != nil {
		return expired
	}
	return err
}

// watchdog calls expire when its time is over, unless it is stopped before. A value with only
// expire set is ready.
type watchdog struct {
	expire func()
	timer  *time.Timer
}

// start starts the time anew. A negative limit means no limit.
func (w *watchdog) start(limit time.Duration) {
	w.stop()
	if limit > 0 {
		w.timer = time.AfterFunc(limit, w.expire)
	}
}

func (w *watchdog) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

// orDefault returns the default in place of an unset limit.
func orDefault[T int | time.Duration](value, otherwise T) T {
	if value == 0 {
		return otherwise
	}
	return value
}
