// Package llmtest is for tests of code that asks language models. A [Script] is a provider whose
// replies the test decides. A [Server] is a real HTTP server that speaks OpenAI's streaming format
// with all the faults that real servers have. [Suite] tests a provider against the contract of
// llm.Provider, and [DialectSuite] a dialect against that of llm.Dialect.
//
// Nothing here is a model. Ordering and ownership are those of llm.Provider. The goroutines of a
// Server have ended when Close returns.
package llmtest

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"org-agent/kernel/llm"
)

// Script is a provider that plays one turn for each request, in order, and then Reply for every
// further one. The zero value refuses every request. It is safe for use by several goroutines,
// which get the turns in the order of their requests.
type Script struct {
	// Name is the provider's name in deltas and errors.
	Name string
	// Turns are played one for each request.
	Turns []Turn
	// Reply returns the turn for a request for which Turns has none. If it is nil, such a request
	// is an error of llm.ClassBadRequest.
	Reply func(request llm.Request) Turn

	mu       sync.Mutex
	requests []llm.Request
}

// Turn has the steps of the reply to a request.
type Turn []Step

// Step is one step of a turn. It passes deltas to emit. A step that returns an error ends the
// stream with it.
type Step func(ctx context.Context, request llm.Request, emit Emit) error

// Emit passes a delta on. The step must return its error at once.
type Emit func(delta llm.Delta) error

// errEnough is the error of an Emit whose consumer broke out of its loop.
var errEnough = errors.New("the consumer has enough")

// Requests returns the requests made so far, in order.
func (s *Script) Requests() []llm.Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

// Stream plays the next turn. A request whose context has ended takes none.
func (s *Script) Stream(ctx context.Context, request llm.Request) iter.Seq2[llm.Delta, error] {
	return func(yield func(llm.Delta, error) bool) {
		if ctx.Err() != nil {
			yield(llm.Delta{}, llm.ContextError(ctx, s.Name))
			return
		}
		turn := s.next(request)
		first, finished := true, false
		emit := func(delta llm.Delta) error {
			if ctx.Err() != nil {
				return llm.ContextError(ctx, s.Name)
			}
			if first {
				delta.Provider, first = s.Name, false
				if delta.Model == "" {
					delta.Model = request.Model
				}
			}
			finished = finished || delta.Finish != ""
			if !yield(delta, nil) {
				return errEnough
			}
			return nil
		}
		for _, step := range turn {
			if err := step(ctx, request, emit); err != nil {
				if !errors.Is(err, errEnough) {
					yield(llm.Delta{}, err)
				}
				return
			}
		}
		if !finished {
			yield(llm.Delta{}, &llm.Error{Class: llm.ClassTruncated, Provider: s.Name})
		}
	}
}

// next records a request and returns its turn.
func (s *Script) next(request llm.Request) Turn {
	s.mu.Lock()
	defer s.mu.Unlock()
	request.Messages = slices.Clone(request.Messages)
	number := len(s.requests)
	s.requests = append(s.requests, request)
	switch {
	case number < len(s.Turns):
		return s.Turns[number]
	case s.Reply != nil:
		return s.Reply(request)
	}
	return Turn{Fail(&llm.Error{Class: llm.ClassBadRequest, Provider: s.Name,
		Message: fmt.Sprintf("the script has no turn for request %d", number+1)})}
}

// Say returns the turn of a whole reply in one delta.
func Say(text string) Turn {
	return Turn{Text(text), Finish(llm.FinishStop)}
}

// Text passes on text in one delta. It passes on no delta for an empty text.
func Text(text string) Step {
	return func(_ context.Context, _ llm.Request, emit Emit) error {
		if text == "" {
			return nil
		}
		return emit(llm.Delta{Text: text})
	}
}

// Runes passes on text in deltas of n characters, with a pause before each.
func Runes(text string, n int, pause time.Duration) Step {
	return func(ctx context.Context, _ llm.Request, emit Emit) error {
		for text := range pieces(text, n) {
			if err := wait(ctx, pause); err != nil {
				return err
			}
			if err := emit(llm.Delta{Text: text}); err != nil {
				return err
			}
		}
		return nil
	}
}

// Reasoning passes on the model's thinking.
func Reasoning(text string) Step {
	return func(_ context.Context, _ llm.Request, emit Emit) error {
		return emit(llm.Delta{Reasoning: text})
	}
}

// Echo passes on the last message of the request, without its time.
func Echo() Step {
	return func(ctx context.Context, request llm.Request, emit Emit) error {
		return Text(llm.Unstamped(lastMessage(request)))(ctx, request, emit)
	}
}

// Finish ends the reply.
func Finish(reason llm.FinishReason) Step {
	return FinishWith(reason, nil)
}

// FinishWith ends the reply with its usage.
func FinishWith(reason llm.FinishReason, usage *llm.Usage) Step {
	return func(_ context.Context, _ llm.Request, emit Emit) error {
		return emit(llm.Delta{Finish: reason, Usage: usage})
	}
}

// Fail ends the stream with an error.
func Fail(err error) Step {
	return func(context.Context, llm.Request, Emit) error { return err }
}

// FailAs ends the stream with an error of the class.
func FailAs(class llm.Class) Step {
	return Fail(&llm.Error{Class: class})
}

// Pause does nothing for a while.
func Pause(pause time.Duration) Step {
	return func(ctx context.Context, _ llm.Request, _ Emit) error { return wait(ctx, pause) }
}

// Gate waits until the channel is closed or gives a value.
func Gate(gate <-chan struct{}) Step {
	return func(ctx context.Context, _ llm.Request, _ Emit) error {
		select {
		case <-gate:
			return nil
		case <-ctx.Done():
			return llm.ContextError(ctx, "")
		}
	}
}

// Signal closes the channel, to say that the script has come this far. It is for one turn.
func Signal(reached chan<- struct{}) Step {
	return func(context.Context, llm.Request, Emit) error {
		close(reached)
		return nil
	}
}

// Hang does nothing until the request is given up.
func Hang() Step {
	return Gate(nil)
}

// wait pauses. It returns the context's error if the context ends first.
func wait(ctx context.Context, pause time.Duration) error {
	if pause <= 0 {
		return nil
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return llm.ContextError(ctx, "")
	}
}

// pieces cuts text into pieces of n characters, at least one.
func pieces(text string, n int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for len(text) > 0 {
			end := 0
			for range max(n, 1) {
				_, size := utf8.DecodeRuneInString(text[end:])
				end += size
			}
			if !yield(text[:end]) {
				return
			}
			text = text[end:]
		}
	}
}

// lastMessage returns the content of a request's last message.
func lastMessage(request llm.Request) string {
	if len(request.Messages) == 0 {
		return ""
	}
	return strings.Clone(request.Messages[len(request.Messages)-1].Text)
}
