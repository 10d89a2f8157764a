package llm

import (
	"context"
	"fmt"
	"iter"
	"strings"
)

// Dialect renders calls, results and tools for models. The dialects of a program stand in one list,
// [Dialects]; a new dialect is a file, and a line in that list. A Dialect is safe for use by
// several goroutines. llmtest.DialectSuite tests one against this contract.
type Dialect interface {
	// Name is the dialect's name in the settings.
	Name() string
	// Text returns the text that the model reads of a message, including its calls and results.
	// Estimates of length count it.
	Text(message Message) string
	// Render returns the request as a server of the dialect gets it. It does not change its
	// argument. A longer conversation is rendered with the same beginning, because servers cache
	// beginnings. The provider must know how to send the values that are left.
	Render(request Request) Request
}

// Dialects is a list of dialects. The first is for models whose settings name none.
type Dialects []Dialect

// Named returns the dialect with that name, or the first for "".
func (d Dialects) Named(name string) (Dialect, error) {
	var names []string
	for _, dialect := range d {
		if name == "" || dialect.Name() == name {
			return dialect, nil
		}
		names = append(names, dialect.Name())
	}
	return nil, fmt.Errorf("there is no dialect %q: there is %s", name, strings.Join(names, ", "))
}

// Rendered is a provider that asks Next in a dialect. It stands innermost: the providers around it
// see values, and each provider of a cascade gets a rendering of its own.
type Rendered struct {
	Next    Provider
	Dialect Dialect
}

// ReplyReader is a dialect whose models write the values of a reply into its text.
type ReplyReader interface {
	// Read returns the reply to a rendered request with its values. tools are those of the request before it was
	// rendered.
	Read(rendered Request, tools []Tool, reply iter.Seq2[Delta, error]) iter.Seq2[Delta, error]
}

// Stream implements [Provider].
func (r Rendered) Stream(ctx context.Context, request Request) iter.Seq2[Delta, error] {
	rendered := r.Dialect.Render(request)
	reply := r.Next.Stream(ctx, rendered)
	if reader, ok := r.Dialect.(ReplyReader); ok {
		return reader.Read(rendered, request.Tools, reply)
	}
	return reply
}
