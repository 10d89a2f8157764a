package llm

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"
)

// The default values of a [Breaker].
const (
	DefaultFailures = 5
	DefaultCooldown = 30 * time.Second
)

// Breaker stops asking a provider that keeps failing, so that a cascade does not wait for a dead
// server in every turn. After Failures errors in a row that are the server's fault (not the
// request's) it answers at once with an error of ClassPaused that wraps the last of them. After
// Cooldown, or after the pause that the server demands if that is longer, it lets one request
// through. If that request succeeds the breaker closes. Otherwise it stays open for another
// cooldown.
//
// It belongs around a provider that has others beside it. A person's only provider is better
// without one, because the person repairs the server and asks again at once.
//
// A Breaker must not be copied after its first use.
type Breaker struct {
	// Next is the guarded provider.
	Next Provider
	// Name is the provider's name in errors.
	Name string
	// Failures is the number of errors in a row that opens the breaker.
	Failures int
	// Cooldown is how long it stays open.
	Cooldown time.Duration

	mu       sync.Mutex
	failures int       // in a row, while closed
	last     error     // the latest failure
	open     time.Time // when it may be asked again; zero when closed
	probing  bool      // the one request of a half-open breaker is running
}

// outcome is what a stream shows of the server's health.
type outcome int

const (
	outcomeUnknown outcome = iota // the consumer gave up too early
	outcomeHealthy
	outcomeFailed
)

// Stream returns Next's stream, or an error of ClassPaused.
func (b *Breaker) Stream(ctx context.Context, request Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		probe, err := b.enter()
		if err != nil {
			yield(Delta{}, err)
			return
		}
		result, failure := outcomeUnknown, error(nil)
		// A panic in the consumer must not leave the breaker half-open for ever.
		defer func() { b.leave(probe, result, failure) }()

		begun, err := relay(b.Next.Stream(ctx, request), yield)
		switch {
		case err != nil && serverFault(ClassOf(err)):
			result, failure = outcomeFailed, err
		case err != nil && ClassOf(err) != ClassCanceled, begun:
			result = outcomeHealthy
		}
		if err != nil {
			yield(Delta{}, err)
		}
	}
}

// enter admits a request and reports whether it is the probe of a half-open breaker. The error says
// why it is not admitted.
func (b *Breaker) enter() (probe bool, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open.IsZero() {
		return false, nil
	}
	wait := time.Until(b.open)
	if wait <= 0 && !b.probing {
		b.probing = true
		return true, nil
	}
	return false, &Error{Class: ClassPaused, Provider: b.Name, RetryAfter: max(wait, time.Second), Err: b.last}
}

// leave records the outcome of an admitted request.
func (b *Breaker) leave(probe bool, result outcome, failure error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if probe {
		b.probing = false
	}
	switch result {
	case outcomeHealthy:
		b.failures, b.last, b.open = 0, nil, time.Time{}
	case outcomeFailed:
		b.failures++
		b.last = failure
		if probe || b.failures >= orDefault(b.Failures, DefaultFailures) {
			b.failures = 0
			b.open = time.Now().Add(b.cooldown(failure))
		}
	}
}

// cooldown returns how long the breaker stays open after a failure.
func (b *Breaker) cooldown(failure error) time.Duration {
	return max(orDefault(b.Cooldown, DefaultCooldown), retryAfter(failure))
}

// retryAfter returns the pause that the server demands, or 0.
func retryAfter(failure error) time.Duration {
	if e, ok := errors.AsType[*Error](failure); ok {
		return e.RetryAfter
	}
	return 0
}

// serverFault reports whether an error of the class is the server's fault rather than that of the
// request or of the person.
func serverFault(class Class) bool {
	switch class {
	case ClassIdle, ClassTimeout:
		return true
	}
	return mayPass(class)
}
