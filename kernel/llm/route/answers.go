package route

import (
	"context"
	"sync"
	"time"

	"org-agent/kernel/llm"
)

// answerTimeout is how long a turn waits for a server to say something of a model. answerCounts is how long an
// answer counts, or the fact that there was none.
const (
	answerTimeout = time.Second
	answerCounts  = 10 * time.Minute
)

// answers are what a server has said of its models, by their names. The zero value is ready. It is safe for use
// by several goroutines.
type answers[T any] struct {
	asking sync.Mutex // held while the server is asked
	mu     sync.Mutex
	said   map[string]answer[T]
}

// answer is an answer for one model. It counts until a time.
type answer[T any] struct {
	value T
	until time.Time
}

// of returns the last answer for a model, and whether it still counts.
func (a *answers[T]) of(model string) (value T, counts bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	last, there := a.said[model]
	return last.value, there && time.Now().Before(last.until)
}

// ask returns the answer for a model. The server is asked unless it has said something that still counts; what it has
// said before is the answer of a server that says nothing now.
func (a *answers[T]) ask(ctx context.Context, s *Server, model string, question func(context.Context, llm.Provider) (T, error)) T {
	a.asking.Lock()
	defer a.asking.Unlock()
	value, counts := a.of(model)
	if counts {
		return value
	}
	var now T
	err := s.Ask(ctx, func(provider llm.Provider) (err error) { // with its key, which the turn needs anyway
		ctx, cancel := context.WithTimeout(ctx, answerTimeout)
		defer cancel()
		now, err = question(ctx, provider)
		return err
	})
	if err == nil {
		value = now
	}
	if ctx.Err() == nil && !notYet(err) { // otherwise nobody waited for the answer
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.said == nil {
			a.said = map[string]answer[T]{}
		}
		a.said[model] = answer[T]{value, time.Now().Add(answerCounts)}
	}
	return value
}

// forget makes the server be asked again for a model. Its last answer stays until there is another.
func (a *answers[T]) forget(model string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if last, there := a.said[model]; there {
		last.until = time.Time{}
		a.said[model] = last
	}
}

// notYet reports whether a server could not say anything of itself, because it is not there yet or is loading its
// model. It is asked again at once.
func notYet(err error) bool {
	class := llm.ClassOf(err)
	return err != nil && (class == llm.ClassLoading || class == llm.ClassUnreachable)
}
