package transport

import "sync"

// learntLimit is of how many models something is kept. A router lists some thousands.
const learntLimit = 10_000

// Learnt is what a server has shown of its models while it was asked, by their names. The zero value is ready. It is
// safe for many goroutines. Of more than 10,000 models nothing is kept.
type Learnt[V any] struct {
	mu    sync.Mutex
	known map[string]V
}

// Of returns what is known of a model, or the zero value.
func (l *Learnt[V]) Of(model string) V {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.known[model]
}

// Set keeps what a model is like.
func (l *Learnt[V]) Set(model string, value V) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.known == nil {
		l.known = map[string]V{}
	}
	if _, known := l.known[model]; known || len(l.known) < learntLimit {
		l.known[model] = value
	}
}
