package tool

import (
	"context"
	"errors"
	"reflect"
	"strings"

	"org-agent/kernel/protocol"
)

// Definition is what a tool is made of. A is a struct: its exported fields are the
// arguments, each with a tag doc that explains it and, if it must be there, required:"true".
// One with settled:"true" is for Reach, which puts it there; no model is told of it.
type Definition[A any] struct {
	Name string
	// Manual is the tool's Markdown file: a heading, and a first paragraph that says in a
	// sentence or two what it does, which is what a prompt has of it.
	Manual string
	// Effect says what calling it takes; by default a person's approval.
	Effect protocol.ToolEffect
	// Own: what it returns was written by the person or by the kernel, and by nobody else.
	Own bool
	// Offered reports whether there is anything for the tool to do; nil means always.
	Offered func() bool
	// Preview says what a call would change, for the person who is asked about it; its error
	// is what is in the way of the call. Nil: nothing is known before.
	Preview func(ctx context.Context, by *Caller, arguments A) (Preview, error)
	// Reach says what a call would touch, and decides with the rules of policy.org whether it
	// may be made; Effect only matters then to a batch, which has calls of tools that read. It
	// may put resolved names into the arguments: what it leaves there is what is judged, shown
	// and performed, so that Perform need not ask what a name means, and it is given again what
	// it left when the call is judged anew. An empty reach that is not nil means that the call
	// touches nothing; nil is a call that it knows nothing of, for which Effect decides. An
	// error refuses the call and tells the model what to do.
	Reach func(ctx context.Context, by *Caller, arguments *A) ([]protocol.Reach, error)
	// Perform does it. The text is what the model is given; an error is told to the model
	// too, and says what to do instead.
	Perform func(ctx context.Context, by *Caller, arguments A) (string, error)
}

// Preview is what a call would change: a text of the person's files, before and after.
type Preview struct {
	Summary       string // a line
	File          string
	Before, After string
	Effects       []string // a line each
	// Text is what would be done where it is no change of a text, as a command is.
	Text string
}

// Tool is one thing that a model can have done. The zero value is none.
type Tool struct {
	name    string
	spelled string // the name, folded
	does    string
	effect  protocol.ToolEffect
	offered func() bool
	own     bool
	schema  schema
	digest  string // of a tool of somebody else's; "" for ours
	form    string // a call of it with its arguments, those in brackets not required
	perform func(ctx context.Context, by *Caller, arguments protocol.Object) (string, error)
	reach   func(ctx context.Context, by *Caller, arguments protocol.Object) (protocol.Object, []protocol.Reach, error) // nil: it does not say
	preview func(ctx context.Context, by *Caller, arguments protocol.Object) (Preview, error)                           // nil: none
	err     error                                                                                                       // of its definition
}

// New returns the tool of a definition. What is wrong with the definition is told by
// [NewRegistry].
func New[A any](d Definition[A]) Tool {
	t := Tool{name: d.Name, spelled: folded(d.Name), does: summary(d.Manual), effect: d.Effect, offered: d.Offered, own: d.Own}
	t.schema, t.err = schemaOf(reflect.TypeFor[A]())
	t.form = t.name + " " + t.schema.form()
	if d.Name == "" || t.does == "" || d.Perform == nil {
		t.err = errors.Join(t.err, errors.New("a tool has a name, a manual and something to perform"))
	}
	t.perform = func(ctx context.Context, by *Caller, arguments protocol.Object) (string, error) {
		var a A
		if err := t.schema.read(arguments, reflect.ValueOf(&a).Elem()); err != nil {
			return "", t.miscalled(err)
		}
		return d.Perform(ctx, by, a)
	}
	t.reach = reaching(&t, d.Reach)
	if d.Preview == nil {
		return t
	}
	t.preview = func(ctx context.Context, by *Caller, arguments protocol.Object) (Preview, error) {
		var a A
		if err := t.schema.read(arguments, reflect.ValueOf(&a).Elem()); err != nil {
			return Preview{}, t.miscalled(err)
		}
		return d.Preview(ctx, by, a)
	}
	return t
}

// miscalled is the error of a call whose arguments are not those of the tool.
func (t Tool) miscalled(err error) error {
	return protocol.ToolErrorf(protocol.ToolArguments, "%w; it is called as %s", err, t.form)
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
func (t Tool) Line() string { return t.form + ": " + t.does }

// Effect is what calling it takes.
func (t Tool) Effect() protocol.ToolEffect { return t.effect }

// Schema is the JSON Schema of the arguments; that of somebody else's tool is not known here.
func (t Tool) Schema() protocol.Object { return t.schema.json() }
