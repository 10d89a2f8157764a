package agent

import "sync"

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
