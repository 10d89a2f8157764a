package llm

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
)

// Bounds ends a reply that is too long, and removes a usage that cannot be true. What a server sends
// is kept in memory and in the journal, so nothing of it may be without a bound.
type Bounds struct {
	// Next is the provider that is watched.
	Next Provider
	// Name is the provider's name in errors.
	Name string
	// Bytes limits the text, the reasoning and the calls of a reply together. 0 means [ReplyLimit].
	Bytes int
}

// Stream returns Next's stream. It ends with an error of ClassEndless before the first delta with
// which the reply would be longer than the bound.
func (b Bounds) Stream(ctx context.Context, request Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		left := cmp.Or(b.Bytes, ReplyLimit)
		for delta, err := range b.Next.Stream(ctx, request) {
			if left -= len(delta.Text) + len(delta.Reasoning) + sizeOf(delta.Calls) + delta.Original.size(); left < 0 && err == nil {
				yield(Delta{}, tooLong(b.Name, cmp.Or(b.Bytes, ReplyLimit)))
				return
			}
			if delta.Usage != nil && !delta.Usage.plausible() {
				delta.Usage = nil
			}
			if !yield(delta, err) {
				return
			}
		}
	}
}

// sizeOf returns the number of bytes of calls.
func sizeOf(calls []FunctionCall) (size int) {
	for _, c := range calls {
		size += len(c.ID) + len(c.Name) + len(c.Arguments)
	}
	return size
}

// tooLong returns the error for a reply of more than so many bytes.
func tooLong(provider string, limit int) error {
	return &Error{Class: ClassEndless, Provider: provider, Message: fmt.Sprintf("it is longer than %d kB", limit/1000)}
}

// The most that one reply can take. No model has a window of as many tokens, and no reply costs as
// much.
const (
	mostTokens = 100_000_000
	mostCost   = 1_000_000
)

// plausible reports whether a reply can have taken that. If not, the server's count is wrong, and an
// estimate is better.
func (u Usage) plausible() bool {
	for _, tokens := range []int{u.Input, u.Output, u.Cached, u.Written, u.Reasoning} {
		if tokens < 0 || tokens > mostTokens {
			return false
		}
	}
	return u.Cost == nil || *u.Cost >= 0 && *u.Cost <= mostCost && !math.IsNaN(*u.Cost)
}
