package llm

import (
	"context"
	"iter"
	"log/slog"
	"sync"
	"time"
)

// restForgotten is how long a key's failures count.
const restForgotten = 24 * time.Hour

// rests is how long a key rests that was not let in, by how often that happened in a row: one
// that has no credit left rests for hours, any other for minutes.
func rests(class Class) [4]time.Duration {
	if class == ClassQuota {
		return [...]time.Duration{5 * time.Hour, 10 * time.Hour, 20 * time.Hour, 24 * time.Hour}
	}
	return [...]time.Duration{time.Minute, 5 * time.Minute, 25 * time.Minute, time.Hour}
}

// Rotation asks one server with several keys: with the first that does not rest, and when
// that is refused, as it is unknown, has no credit, asked too often or hears nothing, with
// the next, before anything was passed on. Once a delta was passed on no other key is tried:
// whoever asked has used it. A key that was refused rests for longer each time, and at least as
// long as the server said; one that works begins anew. When all rest, the one that has the
// shortest time to go is asked all the same, so that whoever mended a key need not wait.
//
// The request is the same for every key: nothing is said twice.
//
// A Rotation must not be copied after its first use.
type Rotation struct {
	// Keys are tried in order.
	Keys []Key
	// Logger hears which key rests, and for how long; nil is silence.
	Logger *slog.Logger

	mu    sync.Mutex
	rests []rest // of Keys
}

// Key is a key of a server: Name says which, without giving it away, and Provider asks with it.
type Key struct {
	Name     string
	Provider Provider
}

// rest is how a key fared.
type rest struct {
	failures int
	last     time.Time // the latest failure
	until    time.Time
}

// Stream is the stream of the first key that is let in.
func (r *Rotation) Stream(ctx context.Context, request Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		said := &CascadeError{}
		for _, i := range r.awake() {
			begun, failure := relay(r.Keys[i].Provider.Stream(ctx, request), yield)
			if failure == nil {
				r.note(ctx, i, nil)
				return
			}
			turned := ctx.Err() == nil && refusesKey(ClassOf(failure))
			if turned {
				r.note(ctx, i, failure)
			}
			if begun || !turned {
				yield(Delta{}, failure)
				return
			}
			said.Said = append(said.Said, Said{Name: r.Keys[i].Name, Err: of(r.Keys[i].Name, failure)})
		}
		yield(Delta{}, said.reduce())
	}
}

// of is the failure as that of a provider of this name, in place of the one it names.
func of(name string, failure error) error {
	if e, ok := failure.(*Error); ok {
		named := *e
		named.Provider = name
		return &named
	}
	return failure
}

// refusesKey reports whether an error of the class may go away with another key.
func refusesKey(class Class) bool {
	switch class {
	case ClassAuth, ClassQuota, ClassRateLimit, ClassIdle, ClassTimeout:
		return true
	}
	return false
}

// awake is which keys to try, in order: those that do not rest, or the one that will be the
// first not to.
func (r *Rotation) awake() (order []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.rests == nil {
		r.rests = make([]rest, len(r.Keys))
	}
	now, soonest := time.Now(), 0
	for i, key := range r.rests {
		if !now.Before(key.until) {
			order = append(order, i)
		}
		if key.until.Before(r.rests[soonest].until) {
			soonest = i
		}
	}
	if len(order) == 0 && len(r.rests) > 0 {
		order = append(order, soonest)
	}
	return order
}

// note records how a key fared.
func (r *Rotation) note(ctx context.Context, i int, failure error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if failure == nil {
		r.rests[i] = rest{}
		return
	}
	key, now := &r.rests[i], time.Now()
	if now.Sub(key.last) > restForgotten {
		key.failures = 0
	}
	pauses := rests(ClassOf(failure))
	pause := max(pauses[min(key.failures, len(pauses)-1)], retryAfter(failure))
	key.failures++
	key.last, key.until = now, now.Add(pause)
	if r.Logger != nil {
		r.Logger.WarnContext(ctx, "a key rests", "key", r.Keys[i].Name, "pause", pause, "err", failure)
	}
}
