package llm

import (
	"context"
	"errors"
	"iter"
	"log/slog"
	"math/rand/v2"
	"time"
)

// The default values of a [Retry].
const (
	DefaultAttempts   = 4
	DefaultFirstPause = 500 * time.Millisecond
	DefaultLongest    = 20 * time.Second
	DefaultMaxElapsed = time.Minute
	// DefaultLoading bounds the wait for a server that is loading its model, which is asked every
	// loadingPause, however often. Ten gigabytes from a slow disk take two minutes.
	DefaultLoading = 3 * time.Minute
	loadingPause   = time.Second
)

// Retry asks again when a request fails before its first delta for a reason that may pass: too many
// requests, a broken server, a model that is still being loaded, no answer, a connection cut before any text. Once it has passed a
// delta on, it never asks again, because the consumer has used the delta.
//
// The first pause is FirstPause, and each further one is twice as long, up to Longest. A random
// part, at most half, is subtracted from each. If the server demands a pause, Retry waits exactly
// that long, or gives up if that is longer than the time that remains.
type Retry struct {
	// Next is the provider that is asked.
	Next Provider
	// Attempts is the maximum number of requests, including the first.
	Attempts int
	// FirstPause and Longest bound the pause between attempts.
	FirstPause, Longest time.Duration
	// MaxElapsed bounds the time from the first attempt to the start of the last.
	MaxElapsed time.Duration
	// Logger gets a record of each further attempt. nil: nothing is logged.
	Logger *slog.Logger
}

// Stream returns Next's stream, and asks for it as often as needed.
func (r Retry) Stream(ctx context.Context, request Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		err := r.retry(ctx, request.wait, func() (begun bool, failure error) { return relay(r.Next.Stream(ctx, request), yield) })
		if err != nil {
			yield(Delta{}, err)
		}
	}
}

// Call calls ask, which is not a stream, as often as needed and by the same rules. It does not use
// Next.
func (r Retry) Call(ctx context.Context, ask func(context.Context) error) error {
	return r.retry(ctx, func(Wait) {}, func() (begun bool, failure error) { return false, ask(ctx) })
}

// retry asks until an answer has begun, or until asking again does not help. It returns the last
// failure. Before each pause it calls waits.
func (r Retry) retry(ctx context.Context, waits func(Wait), ask func() (begun bool, failure error)) error {
	begin := time.Now()
	for attempt := 1; ; attempt++ {
		begun, failure := ask()
		if failure == nil {
			return nil
		}
		pause, again := r.pause(attempt, time.Since(begin), failure)
		if begun || !again {
			return failure
		}
		if r.Logger != nil {
			r.Logger.WarnContext(ctx, "model asked again", "attempt", attempt, "pause", pause, "err", failure)
		}
		waits(Wait{Class: ClassOf(failure), Pause: pause, Attempt: attempt + 1})
		if !sleep(ctx, pause) {
			return ContextError(ctx, "")
		}
	}
}

// pause returns how long to wait before the next attempt, and whether there is one.
func (r Retry) pause(attempt int, spent time.Duration, failure error) (time.Duration, bool) {
	e, ok := errors.AsType[*Error](failure)
	if ok && e.Class == ClassLoading {
		return loadingPause, spent+loadingPause <= DefaultLoading
	}
	if !ok || !mayPass(e.Class) || attempt >= orDefault(r.Attempts, DefaultAttempts) {
		return 0, false
	}
	pause := e.RetryAfter
	if pause <= 0 {
		longest := orDefault(r.Longest, DefaultLongest)
		pause = orDefault(r.FirstPause, DefaultFirstPause)
		for range attempt - 1 {
			pause = min(2*pause, longest)
		}
		pause -= time.Duration(rand.Int64N(int64(pause/2) + 1))
	}
	return pause, spent+pause <= orDefault(r.MaxElapsed, DefaultMaxElapsed)
}

// mayPass reports whether an error of the class can soon disappear by itself.
func mayPass(class Class) bool {
	switch class {
	case ClassRateLimit, ClassServer, ClassUnreachable, ClassTruncated:
		return true
	}
	return false
}

// relay passes a stream on. It returns whether it passed a delta on, and the error that ended the
// stream, which it does not pass on. There is no error if the consumer broke out of its loop.
func relay(stream iter.Seq2[Delta, error], yield func(Delta, error) bool) (begun bool, failure error) {
	for delta, err := range stream {
		if err != nil {
			return begun, err
		}
		begun = true
		if !yield(delta, nil) {
			return begun, nil
		}
	}
	return begun, nil
}

// sleep waits. It returns false if ctx ended before the time was over.
func sleep(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
