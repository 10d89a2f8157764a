package agent

import (
	"context"
	"sync"
	"time"
)

// waiting is the turns that wait for a person, by the id of what they asked, and for what:
// a decision or an answer. The zero value is ready.
type waiting[T any] struct {
	mu    sync.Mutex
	turns map[string]chan T
}

// wait registers what was asked under id; the channel gets the one thing a person says.
func (w *waiting[T]) wait(id string) <-chan T {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.turns == nil {
		w.turns = map[string]chan T{}
	}
	said := make(chan T, 1)
	w.turns[id] = said
	return said
}

func (w *waiting[T]) forget(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.turns, id)
}

// waits reports whether a turn waits under id at this moment.
func (w *waiting[T]) waits(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.turns[id] != nil
}

// say lets the turn that waits under id go on.
func (w *waiting[T]) say(id string, said T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case w.turns[id] <- said:
	default: // nobody waits, or was told already
	}
}

// stillAsking is the error of what was asked by a turn that was stopped while it waited.
type stillAsking struct{ cause error }

func (s stillAsking) Error() string { return "it still waits for a person: " + s.cause.Error() }

// personSays shows what waits for a person under the id, and returns what they say. What a person
// takes is neither time of the turn nor of the action. The error is a [stillAsking] when ctx ends
// first.
func personSays[T any](ctx context.Context, r *run, id string, show func() error, said <-chan T) (answer T, err error) {
	r.budget.pause()
	if err := r.waits(ctx, true); err != nil {
		return answer, err
	}
	if err := show(); err != nil {
		return answer, err
	}
	select {
	case answer = <-said:
	case <-ctx.Done():
		return answer, stillAsking{context.Cause(ctx)}
	}
	r.turn.Asked(ctx, id)
	r.doing = time.Now()
	r.budget.resume()
	return answer, r.waits(ctx, false)
}

// once is what was said already. It forgets when it is much: to say a thing twice is better
// than to keep everything for good. The zero value is ready.
type once struct {
	mu   sync.Mutex
	said map[string]bool
}

// first reports whether the thing is said for the first time.
func (o *once) first(thing string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	const most = 10_000
	if o.said == nil || len(o.said) > most {
		o.said = map[string]bool{}
	}
	was := o.said[thing]
	o.said[thing] = true
	return !was
}
