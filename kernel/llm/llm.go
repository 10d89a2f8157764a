// Package llm is how the kernel asks a language model and what it gets back.
//
// A Provider turns a Request into a sequence of Deltas. Everything that makes
// a provider dependable (Retry, Breaker, Timeouts, Cascade) is itself a
// Provider around another one, so the order in which they are stacked is the
// wiring's business and no provider has to know about it. The usual stack, from
// the outside in, is Cascade, Breaker, Retry, Timeouts, provider.
//
// Ordering: deltas come in the order the model wrote them, on the goroutine
// that ranges over the sequence. Blocking: Stream itself returns at once; the
// range blocks between deltas and returns soon after its context ends.
// Ownership: a sequence owns its connection and its goroutines and has let go
// of all of them when the range ends, however it ends; the request belongs to
// the provider until then and must not be changed.
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
//   - the last delta, and only the last, has a Finish; Usage, when the provider
//     told it, is in that delta too;
//   - an error is final and comes with an empty delta; it is an *Error, or
//     wraps one, so ClassOf and HintOf know it;
//   - a stream that ends without saying that it is complete is an error that
//     wraps ErrTruncated, never a short success;
//   - breaking out of the loop, or ending ctx, closes the connection at once;
//     the latter ends the sequence with an error of ClassCanceled (or
//     ClassTimeout when ctx had a deadline);
//   - text is valid UTF-8, whatever the model sent.
//
// A Provider is safe for use by several goroutines.
type Provider interface {
	Stream(ctx context.Context, request Request) iter.Seq2[Delta, error]
}

// Request is one question to a model.
type Request struct {
	// Model overrides the model that the provider is configured with.
	Model string
	// System is the system prompt; empty sends none.
	System string
	// Messages is the conversation, oldest first. Messages without content
	// are not sent.
	Messages []Message
	// Temperature is sent as it is, also when it points to 0; nil leaves it
	// to the model. Models that accept none do not get it.
	Temperature *float64
	// MaxTokens bounds the reply in tokens; 0 leaves it to the model.
	MaxTokens int
	// Stop ends the reply before any of these texts.
	Stop []string
	// Grammar constrains the reply to a GBNF grammar. Providers that are not
	// configured for grammars ignore it.
	Grammar string
	// FirstOnly asks the first provider of a cascade and none behind it: what nobody waits for
	// is not worth telling another host what was said.
	FirstOnly bool `json:",omitempty"`
}

// Message is one turn of the conversation a model is shown. Images come before the text.
type Message struct {
	Role    Role
	Content string
	Images  []Image `json:",omitempty"`
	// Result: it is what came of an action, said in the user's place. No model sees this mark.
	Result bool `json:"-"`
}

// Role says who wrote a message.
type Role string

// The roles that every provider knows. The system prompt goes into
// Request.System; RoleSystem is for instructions later in the conversation.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
)

// Delta is a piece of a reply. A field is empty when it has nothing new.
type Delta struct {
	// Text continues the reply.
	Text string
	// Reasoning continues what the model thinks aloud; it is no part of the
	// reply.
	Reasoning string
	// Provider and Model say who is answering. They are in the first delta and
	// may be repeated in later ones.
	Provider, Model string
	// Finish is why the reply ended; only the last delta has it.
	Finish FinishReason
	// Usage is what the reply cost; nil when the provider did not tell.
	Usage *Usage
}

// Empty reports whether the delta says nothing.
func (d Delta) Empty() bool {
	return d == Delta{}
}

// FinishReason says why a complete reply ended.
type FinishReason string

// The reasons a reply can end for. FinishLength is a reply that ran into
// MaxTokens or the model's own limit: complete as a stream, not as a text.
const (
	FinishStop     FinishReason = "stop"
	FinishLength   FinishReason = "length"
	FinishFiltered FinishReason = "filtered"
	FinishTools    FinishReason = "tools"
)

// Usage counts tokens. Cached is part of Input, Reasoning is part of Output.
type Usage struct {
	Input, Output, Cached, Reasoning int
	// Cost is in the provider's currency, usually US dollars; nil when it was
	// not told.
	Cost *float64
}

// Add returns the sum of two usages. The cost is known when either is.
func (u Usage) Add(v Usage) Usage {
	sum := Usage{
		Input:     u.Input + v.Input,
		Output:    u.Output + v.Output,
		Cached:    u.Cached + v.Cached,
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
