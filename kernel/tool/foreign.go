package tool

import (
	"context"

	"org-agent/kernel/protocol"
)

// Foreign describes a tool of another program. Its arguments are known only when that program is
// asked, and only that program says what it does. So a call needs a person's approval, or a row of
// policy.org with its name.
type Foreign struct {
	Name string
	// Does says in a sentence what the tool does, and that the other program says so.
	Does string
	// Form is a call's arguments as a plist, for the prompt.
	Form string
	// Digest is a hash of everything that the program says about the tool. An approval holds for
	// one digest.
	Digest string
	// Preview shows what a call would do. An error means that the call cannot be made.
	Preview func(ctx context.Context, by *Caller, arguments protocol.Object) (Preview, error)
	// Perform makes the call, as with a [Definition].
	Perform func(ctx context.Context, by *Caller, arguments protocol.Object) (string, error)
}

// NewForeign returns a tool of another program.
func NewForeign(f Foreign) Tool {
	t := Tool{name: f.Name, spelled: folded(f.Name), does: f.Does, form: f.Name + " " + f.Form, digest: f.Digest}
	t.preview = func(ctx context.Context, by *Caller, arguments protocol.Object) (Preview, error) {
		p, err := f.Preview(ctx, by, arguments)
		if err != nil {
			return p, t.argumentError(err)
		}
		return p, nil
	}
	t.perform = func(ctx context.Context, by *Caller, arguments protocol.Object) (string, []protocol.FileChange, error) {
		text, err := f.Perform(ctx, by, arguments)
		return text, nil, err
	}
	return t
}

// Foreign reports whether the tool belongs to another program.
func (t Tool) Foreign() bool { return t.digest != "" }

// Private reports whether the tool is for the agent alone, and not for other programs.
func (t Tool) Private() bool { return t.private }

// Spelled returns a name without the differences of spelling. Two tools with equal results are one
// tool for callers.
func Spelled(name string) string { return folded(name) }

// WithForeign returns the registry with other programs' tools after its own. others is called often
// and returns the tools of that moment, sorted by name, with names that no other tool has.
func (r *Registry) WithForeign(others func() []Tool) *Registry {
	return &Registry{tools: r.tools, others: others, caller: r.caller}
}

// Digest returns the digest of an offered tool of another program, or "" for all others.
func (r *Registry) Digest(name string) string {
	t, _ := r.named(name)
	return t.digest
}
