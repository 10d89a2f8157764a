package session

import "sync"

// Waiters are the turns that wait for a person or a program outside of the kernel, by the id of the
// awaited result. The zero value is ready.
type Waiters[T any] struct {
	mu    sync.Mutex
	turns map[string]chan T
}

// Wait registers a turn under id. The channel gets one value.
func (w *Waiters[T]) Wait(id string) <-chan T {
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
func (w *Waiters[T]) Forget(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.turns, id)
}

// Waits reports whether a turn waits under id.
func (w *Waiters[T]) Waits(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.turns[id] != nil
}

// Resume gives the result to the turn that waits under id. Only the first result counts.
func (w *Waiters[T]) Resume(id string, result T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case w.turns[id] <- result:
	default: // no turn waits, or it has its value
	}
}
