package tool

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"org-agent/kernel/protocol"
)

// Definition is what a tool is made of. A is a struct: its exported fields are the
// arguments, each with a tag doc that explains it and, if it must be there, required:"true".
type Definition[A any] struct {
	Name string
	// Manual is the tool's Markdown file: a heading, and a first paragraph that says in a
	// sentence or two what it does, which is what a prompt has of it.
	Manual string
	// Effect says what calling it takes; by default a person's approval.
	Effect protocol.ToolEffect
	// Offered reports whether there is anything for the tool to do; nil means always.
	Offered func() bool
	// Perform does it. The text is what the model is given; an error is told to the model
	// too, and says what to do instead.
	Perform func(ctx context.Context, arguments A) (string, error)
}

// Tool is one thing that a model can have done. The zero value is none.
type Tool struct {
	name    string
	does    string
	effect  protocol.ToolEffect
	offered func() bool
	schema  schema
	perform func(ctx context.Context, arguments protocol.Object) (string, error)
	err     error // of its definition
}

// New returns the tool of a definition. What is wrong with the definition is told by
// [NewRegistry].
func New[A any](d Definition[A]) Tool {
	t := Tool{name: d.Name, does: summary(d.Manual), effect: d.Effect, offered: d.Offered}
	t.schema, t.err = schemaOf(reflect.TypeFor[A]())
	if d.Name == "" || t.does == "" || d.Perform == nil {
		t.err = errors.Join(t.err, errors.New("a tool has a name, a manual and something to perform"))
	}
	t.perform = func(ctx context.Context, arguments protocol.Object) (string, error) {
		var a A
		if err := t.schema.read(arguments, reflect.ValueOf(&a).Elem()); err != nil {
			return "", fmt.Errorf("%w; it is called as %s", err, t.form())
		}
		return d.Perform(ctx, a)
	}
	return t
}

// summary is the first paragraph of a manual, on one line.
func summary(manual string) string {
	for paragraph := range strings.SplitSeq(manual, "\n\n") {
		if line := strings.Join(strings.Fields(paragraph), " "); line != "" && !strings.HasPrefix(line, "#") {
			return line
		}
	}
	return ""
}

// Name is the tool's name.
func (t Tool) Name() string { return t.name }

// Does says in a sentence or two what the tool does.
func (t Tool) Does() string { return t.does }

// Line is what a prompt says of the tool: its name, its arguments and what it does.
func (t Tool) Line() string { return t.form() + ": " + t.does }

// form is a call of the tool with its arguments, those in brackets not required.
func (t Tool) form() string {
	return t.name + " " + t.schema.form()
}

// Schema is the JSON Schema of the arguments.
func (t Tool) Schema() protocol.Object { return t.schema.json() }
