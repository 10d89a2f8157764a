package session

import "sync"

// Waiting is the turns that wait for somebody outside of the kernel, by the id of what they wait
// for. The zero value is ready.
type Waiting[T any] struct {
	mu    sync.Mutex
	turns map[string]chan T
}

// Wait registers a turn under id. The channel gets one value.
func (w *Waiting[T]) Wait(id string) <-chan T {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.turns == nil {
		w.turns = map[string]chan T{}
	}
	result := make(chan T, 1)
	w.turns[id] = result
	return result
}

// Forget ends the wait under id.
func (w *Waiting[T]) Forget(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.turns, id)
}

// Waits reports whether a turn waits under id at this moment.
func (w *Waiting[T]) Waits(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.turns[id] != nil
}

// Resume lets the turn that waits under id go on. Only the first value counts.
func (w *Waiting[T]) Resume(id string, result T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case w.turns[id] <- result:
	default: // no turn waits, or it has its value
	}
}
