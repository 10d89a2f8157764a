package llm

import (
	"iter"
	"strings"
)

// ReplyLimit is the number of bytes of a reply, its text and its reasoning together, that are accepted.
// That is about 400,000 tokens. Sixteen endless replies, one after the other, then leave the kernel below
// 200 MB, whatever they consist of.
const ReplyLimit = 1_500_000

// Reply is a whole reply.
type Reply struct {
	Text, Reasoning string
	Calls           []FunctionCall
	Original        *Original
	Provider, Model string
	Finish          FinishReason
	Usage           *Usage
}

// Collect ranges over a stream and returns the whole reply. If the stream fails it returns the part
// that came before the error. A reply of more than ReplyLimit bytes is an error of ClassEndless.
func Collect(stream iter.Seq2[Delta, error]) (Reply, error) {
	var reply Reply
	var text, reasoning strings.Builder
	var failure error
	for delta, err := range stream {
		if err != nil {
			failure = err
			break
		}
		if text.Len()+len(delta.Text)+reasoning.Len()+len(delta.Reasoning) > ReplyLimit {
			failure = tooLong(reply.Provider, ReplyLimit)
			break
		}
		text.WriteString(delta.Text)
		reasoning.WriteString(delta.Reasoning)
		reply.Calls = append(reply.Calls, delta.Calls...)
		reply.noteOrigin(delta)
	}
	reply.Text, reply.Reasoning = text.String(), reasoning.String()
	return reply, failure
}

// noteOrigin keeps the provider, the model, the end, the usage and the original of a reply.
func (r *Reply) noteOrigin(delta Delta) {
	if delta.Provider != "" {
		r.Provider = delta.Provider
	}
	if delta.Model != "" {
		r.Model = delta.Model
	}
	if delta.Finish != "" {
		r.Finish = delta.Finish
	}
	if delta.Usage != nil {
		r.Usage = delta.Usage
	}
	if delta.Original != nil {
		r.Original = delta.Original
	}
}
