package llm

import (
	"context"
	"iter"
	"log/slog"
	"sync"
	"time"
)

// failureLifetime is how long the failures of a key count.
const failureLifetime = 24 * time.Hour

// pausesAfter returns the pauses after the first, second, third and any further failure of a key in
// a row. A key without credit is left alone for hours, any other key for minutes.
func pausesAfter(class Class) [4]time.Duration {
	if class == ClassQuota {
		return [...]time.Duration{5 * time.Hour, 10 * time.Hour, 20 * time.Hour, 24 * time.Hour}
	}
	return [...]time.Duration{time.Minute, 5 * time.Minute, 25 * time.Minute, time.Hour}
}

// Rotation asks one server with several keys. It begins with the first key that is not paused. If
// the server does not accept a key, because it is unknown, has no credit or was used too often, or
// if the server stays silent, Rotation tries the next key. Once it has passed a delta on, it tries
// no other key, because the consumer has used the delta. A key that fails is paused, longer each
// time and at least as long as the server demands. A key that works is no longer paused. If all
// keys are paused, the one whose pause ends first is asked, so that nobody has to wait after
// repairing a key.
//
// Every key gets the same request.
//
// A Rotation must not be copied after its first use.
type Rotation struct {
	// Keys are tried in order.
	Keys []Key
	// Logger gets a record of each pause. nil: nothing is logged.
	Logger *slog.Logger

	mu     sync.Mutex
	states []keyState // of Keys
}

// Key is a key of a server. Name identifies it without containing it, and Provider asks with it.
type Key struct {
	Name     string
	Provider Provider
}

// keyState is the state of a key.
type keyState struct {
	failures int       // in a row
	last     time.Time // the latest failure
	until    time.Time // the end of the pause
}

// Stream returns the stream of the first key that the server accepts.
func (r *Rotation) Stream(ctx context.Context, request Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		failed := &CascadeError{}
		for _, i := range r.order() {
			begun, failure := relay(r.Keys[i].Provider.Stream(ctx, request), yield)
			if failure == nil {
				r.note(ctx, i, nil)
				return
			}
			refused := ctx.Err() == nil && refusesKey(ClassOf(failure))
			if refused {
				r.note(ctx, i, failure)
			}
			if begun || !refused {
				yield(Delta{}, failure)
				return
			}
			failed.Steps = append(failed.Steps, StepError{Name: r.Keys[i].Name, Err: withProvider(failure, r.Keys[i].Name)})
		}
		yield(Delta{}, failed.reduce())
	}
}

// withProvider returns the failure with another name of the provider.
func withProvider(failure error, name string) error {
	if e, ok := failure.(*Error); ok {
		named := *e
		named.Provider = name
		return &named
	}
	return failure
}

// refusesKey reports whether another key may help after an error of the class.
func refusesKey(class Class) bool {
	switch class {
	case ClassAuth, ClassQuota, ClassRateLimit, ClassIdle, ClassTimeout:
		return true
	}
	return false
}

// order returns the keys to try, in order: those that are not paused. If all are paused, it is the
// one whose pause ends first.
func (r *Rotation) order() (keys []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.states == nil {
		r.states = make([]keyState, len(r.Keys))
	}
	now, soonest := time.Now(), 0
	for i, state := range r.states {
		if !now.Before(state.until) {
			keys = append(keys, i)
		}
		if state.until.Before(r.states[soonest].until) {
			soonest = i
		}
	}
	if len(keys) == 0 && len(r.states) > 0 {
		keys = append(keys, soonest)
	}
	return keys
}

// note records the outcome of a request with a key. A nil failure is a success.
func (r *Rotation) note(ctx context.Context, i int, failure error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if failure == nil {
		r.states[i] = keyState{}
		return
	}
	state, now := &r.states[i], time.Now()
	if now.Sub(state.last) > failureLifetime {
		state.failures = 0
	}
	pauses := pausesAfter(ClassOf(failure))
	pause := max(pauses[min(state.failures, len(pauses)-1)], retryAfter(failure))
	state.failures++
	state.last, state.until = now, now.Add(pause)
	if r.Logger != nil {
		r.Logger.WarnContext(ctx, "a key is paused", "key", r.Keys[i].Name, "pause", pause, "err", failure)
	}
}
