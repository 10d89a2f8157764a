package tool

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"strings"

	"org-agent/kernel/files"
	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// Definition describes a tool. A is a struct whose exported fields are the arguments. Each has a
// tag doc with its explanation and, if it is required, required:"true". A field with
// internal:"true" is set by Reach, and models do not see it.
type Definition[A any] struct {
	Name string
	// Manual is the tool's Markdown file: a heading, and a first paragraph that says in a sentence
	// or two what the tool does. That paragraph is shown in prompts.
	Manual string
	// Effect is the effect of a call. Default: it needs a person's approval.
	Effect protocol.ToolEffect
	// Own is true if only the person or the kernel writes the results.
	Own bool
	// Private is true if the tool is for the agent alone, and not for other programs.
	Private bool
	// Offered reports whether the tool has anything to do. nil: always.
	Offered func() bool
	// Preview shows what a call would change to the person who is asked about it. An error means
	// that the call cannot be made. nil: nothing is known beforehand.
	Preview func(ctx context.Context, by *Caller, arguments A) (Preview, error)
	// Stale returns why a call that waits for a person can no longer be made: for example, the file that
	// it changes has another text by now. Only a person may see that, because the model may not read the
	// file. The error does not quote the file. nil: nothing is known.
	Stale func(ctx context.Context, by *Caller, arguments A) error
	// Reach returns what a call would touch. With it the rules of policy.org decide whether the
	// call may be made, and Effect only says whether the tool may be part of a batch.
	//
	// Reach may replace names in the arguments by resolved ones. What it leaves there is judged,
	// shown and performed, so that Perform does not resolve names again. When a call is judged
	// again, Reach gets the arguments that it returned before.
	//
	// An empty reach that is not nil means that the call touches nothing. nil means that Reach
	// knows nothing of this call, and Effect decides. An error refuses the call and tells the model
	// what to do.
	Reach func(ctx context.Context, by *Caller, arguments *A) ([]protocol.Reach, error)
	// Perform makes the call. The model gets the text, or the error, which says what to do instead.
	Perform func(ctx context.Context, by *Caller, arguments A) (string, error)
	// Change is Perform for a tool that changes a file. It also returns the change, which goes into
	// the receipt, so that a person can undo it.
	Change func(ctx context.Context, by *Caller, arguments A) (string, files.Change, error)
}

// Preview is what a call would do. With neither a file nor a text its arguments are shown.
type Preview struct {
	Summary       string // one line, which begins with a verb
	File          string
	Before, After string
	Effects       []string // one line each
	// Text is what would be done if it is no change of a text, for example a command.
	Text string
}

// performer makes a call. It returns the text for the model, and what the call changed in files.
type performer func(ctx context.Context, by *Caller, arguments protocol.Object) (text string, changed []protocol.FileChange, err error)

// Tool is one tool. The zero value is no tool.
type Tool struct {
	name    string
	spelled string // the name, folded
	does    string
	effect  protocol.ToolEffect
	offered func() bool
	own     bool
	private bool
	schema  schema
	digest  string // of a tool that is not the kernel's; "" for ours
	asks    string // why a person is asked about a call of such a tool
	trusted string // why nobody has to be
	json    protocol.Object
	guard   func(ctx context.Context, by *Caller, arguments protocol.Object) (ask string, err error) // nil: none
	form    string                                                                                   // a call with its arguments; those in brackets are optional
	short   string                                                                                   // the same without those that are seldom needed; "" if all are there
	perform performer
	reach   func(ctx context.Context, by *Caller, arguments protocol.Object) (protocol.Object, []protocol.Reach, error) // nil: it does not say
	preview func(ctx context.Context, by *Caller, arguments protocol.Object) (Preview, error)                           // nil: none
	stale   func(ctx context.Context, by *Caller, arguments protocol.Object) error                                      // nil: it is not known
	err     error                                                                                                       // of its definition
}

// New returns the tool of a definition. [NewRegistry] reports what is wrong with the definition.
func New[A any](d Definition[A]) Tool {
	t := Tool{name: d.Name, spelled: folded(d.Name), does: summary(d.Manual), effect: d.Effect, offered: d.Offered, own: d.Own, private: d.Private}
	t.schema, t.err = schemaOf(reflect.TypeFor[A]())
	t.form, t.short = t.name+" "+t.schema.form(), t.name+" "+t.schema.shortForm()
	if d.Name == "" || t.does == "" || (d.Perform == nil) == (d.Change == nil) {
		t.err = errors.Join(t.err, errors.New("a tool has a name, a manual, and either something to perform or a change to make"))
	}
	t.perform = func(ctx context.Context, by *Caller, arguments protocol.Object) (string, []protocol.FileChange, error) {
		var a A
		if err := t.schema.read(arguments, reflect.ValueOf(&a).Elem()); err != nil {
			return "", nil, t.argumentError(err)
		}
		if d.Perform != nil {
			text, err := d.Perform(ctx, by, a)
			return text, nil, err
		}
		text, change, err := d.Change(ctx, by, a)
		if err != nil {
			return "", nil, err
		}
		return text, []protocol.FileChange{change.ForReceipt()}, nil
	}
	t.reach = reachFunction(&t, d.Reach)
	if d.Stale != nil {
		t.stale = func(ctx context.Context, by *Caller, arguments protocol.Object) error {
			var a A
			if err := t.schema.read(arguments, reflect.ValueOf(&a).Elem()); err != nil {
				return t.argumentError(err)
			}
			return d.Stale(ctx, by, a)
		}
	}
	if d.Preview == nil {
		return t
	}
	t.preview = func(ctx context.Context, by *Caller, arguments protocol.Object) (Preview, error) {
		var a A
		if err := t.schema.read(arguments, reflect.ValueOf(&a).Elem()); err != nil {
			return Preview{}, t.argumentError(err)
		}
		return d.Preview(ctx, by, a)
	}
	return t
}

// argumentError returns the error for a call with wrong arguments.
func (t Tool) argumentError(err error) error {
	return protocol.ToolErrorf(protocol.ToolArguments, "%w; it is called as %s", err, t.form)
}

// summary returns the first paragraph of a manual, on one line.
func summary(manual string) string {
	for paragraph := range strings.SplitSeq(manual, "\n\n") {
		if line := text.Line(paragraph); line != "" && !strings.HasPrefix(line, "#") {
			return line
		}
	}
	return ""
}

// Name returns the tool's name.
func (t Tool) Name() string { return t.name }

// Does says in a sentence or two what the tool does.
func (t Tool) Does() string { return t.does }

// Line returns the tool's line in a prompt: its name, its arguments and what it does. Arguments that are seldom
// needed are left out; the error of a call with a wrong argument names all.
func (t Tool) Line() string { return cmp.Or(t.short, t.form) + ": " + t.does }

// Effect returns the effect of a call of the tool.
func (t Tool) Effect() protocol.ToolEffect { return t.effect }

// Schema returns the JSON Schema of the arguments. For another program's tool it is empty.
func (t Tool) Schema() protocol.Object {
	if t.json != nil {
		return t.json
	}
	return t.schema.json()
}
