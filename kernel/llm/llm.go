// Package llm asks language models and streams their replies.
//
// A [Provider] turns a [Request] into a sequence of [Delta] values. Each thing that makes a
// provider dependable is itself a Provider around another one, so no provider knows what stands
// around it. Package llm/route stacks them. From the outside in they are: [Cascade] asks the next
// model where one fails, [Breaker] leaves a broken server alone, [Images] applies the rule about
// images, [Retry] asks again, [Rotation] asks with the next key, [Timeouts] ends a slow stream,
// [Bounds] one that is too long, and [Rendered] renders the request.
//
// A Request has its calls, results and tools as values. Rendered stands innermost and puts them
// into the [Dialect] of the one provider inside it, so each provider of a cascade gets a rendering
// of its own.
//
// Ordering: deltas come in the order in which the model wrote them, on the goroutine that ranges
// over the sequence. Blocking: Stream itself returns at once. The range blocks between deltas, and
// returns soon after its context ends. Ownership: a sequence owns its connection and its
// goroutines. When the range ends, for whatever reason, the connection is closed and the goroutines
// have ended. Until then the request belongs to the provider and must not be changed.
package llm

import (
	"context"
	"iter"
)

// Provider answers requests with a stream of deltas.
//
// The sequence that Stream returns is ranged over once. It promises:
//
//   - deltas are in order, and none is empty;
//   - the last delta, and only the last, has a Finish; it also has the Usage, if
//     the provider sent one;
//   - an error is final and comes with an empty delta; it is an *Error, or
//     wraps one, so ClassOf and HintOf work on it;
//   - a stream that ends before the reply is complete is an error that wraps
//     ErrTruncated, never a short success;
//   - breaking out of the loop, or ending ctx, closes the connection at once;
//     the latter ends the sequence with an error of ClassCanceled (or of
//     ClassTimeout when ctx had a deadline);
//   - text is valid UTF-8, whatever the model sent.
//
// It sends the sections, and of each message the text and the images, or the stream is an error of
// ClassBadRequest. See [Message.NeedsDialect] for the rest of a message. The other fields of a
// request are left out by a provider whose protocol has no place for them.
//
// A Provider is safe for use by several goroutines.
type Provider interface {
	Stream(ctx context.Context, request Request) iter.Seq2[Delta, error]
}

// Delta is a piece of a reply. A field without news is empty.
type Delta struct {
	// Text continues the reply.
	Text string
	// Reasoning continues the model's thinking, which is no part of the reply.
	Reasoning string
	// Calling is the function whose call the model is writing. It is sent again and again while the
	// arguments come, so that nobody takes the stream for dead.
	Calling string
	// CallText continues what the model writes of its calls, in whatever notation. It is for those who watch
	// a stream; the calls themselves come in Calls.
	CallText string
	// Calls are the calls of functions in the reply, whole, in the order in which the model wrote them.
	// Only the last delta has them. If its Finish is FinishLength the last call may be cut off.
	Calls []FunctionCall
	// Pictures are those that the reply shows: data URLs, or addresses of the web. [Pictures] keeps them.
	Pictures []string
	// Original is the reply as the server sent it, if it must go back so. Only the last delta has it, and
	// only beside Calls.
	Original *Original
	// Provider and Model name the provider and the model that answer. The first
	// delta has them, and later ones may repeat them.
	Provider, Model string
	// Finish is why the reply ended; only the last delta has it.
	Finish FinishReason
	// Usage is what the reply used; nil if the provider sent none.
	Usage *Usage
}

// Empty reports whether every field of the delta is empty.
func (d Delta) Empty() bool {
	return d.Text == "" && d.Reasoning == "" && d.Calling == "" && d.CallText == "" && len(d.Calls)+len(d.Pictures) == 0 && d.Original == nil && d.Provider == "" && d.Model == "" &&
		d.Finish == "" && d.Usage == nil
}

// FinishReason is why a complete reply ended.
type FinishReason string

// The reasons for which a reply ends. A reply with FinishLength reached MaxTokens or the
// model's own limit: its stream is complete, its text is not.
const (
	FinishStop     FinishReason = "stop"
	FinishLength   FinishReason = "length"
	FinishFiltered FinishReason = "filtered"
	FinishTools    FinishReason = "tools"
)

// Usage counts tokens. Cached, which the server read from its cache, and Written, which it wrote into the
// cache, are parts of Input. Reasoning is part of Output.
type Usage struct {
	Input, Output, Cached, Written, Reasoning int
	// Cost is in the provider's currency, usually US dollars; nil where it is
	// unknown.
	Cost *float64
}

// LooksCut reports whether the server seems to have left out a part of a request of about so many tokens: it has
// counted less than three fifths of them. An estimate is seldom that wrong for 1,000 tokens or more. A server
// with a cache may count only what it has not read before, so its count is no sign.
func (u Usage) LooksCut(estimate int) bool {
	const least, share = 1000, 0.6
	return u.Input >= least && float64(u.Input) < share*float64(estimate) && u.Cached == 0 && u.Written == 0
}

// Add returns the sum of two usages. The cost of the sum is known if either cost is.
func (u Usage) Add(v Usage) Usage {
	sum := Usage{
		Input:     u.Input + v.Input,
		Output:    u.Output + v.Output,
		Cached:    u.Cached + v.Cached,
		Written:   u.Written + v.Written,
		Reasoning: u.Reasoning + v.Reasoning,
	}
	if u.Cost == nil && v.Cost == nil {
		return sum
	}
	var cost float64
	if u.Cost != nil {
		cost += *u.Cost
	}
	if v.Cost != nil {
		cost += *v.Cost
	}
	sum.Cost = &cost
	return sum
}
