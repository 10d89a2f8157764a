package tool

import (
	"context"

	"org-agent/kernel/protocol"
)

// Foreign is what a tool is made of that somebody else's program has. Its arguments are known
// only when that program is asked, and of what it does there is only that program's word: calling
// it takes a person's approval, or a row of policy.org that names it.
type Foreign struct {
	Name string
	// Does says in a sentence what it does, and whose word that is.
	Does string
	// Form is a call's arguments as a plist, as a prompt shows them.
	Form string
	// Digest stands for all that the program says of the tool. An approval holds for one digest.
	Digest string
	// Preview says what a call would do; its error is what is in the way of the call.
	Preview func(ctx context.Context, by *Caller, arguments protocol.Object) (Preview, error)
	// Perform does it, as with a [Definition].
	Perform func(ctx context.Context, by *Caller, arguments protocol.Object) (string, error)
}

// NewForeign returns the tool of a foreign definition.
func NewForeign(f Foreign) Tool {
	t := Tool{name: f.Name, spelled: folded(f.Name), does: f.Does, form: f.Name + " " + f.Form, digest: f.Digest}
	t.preview = func(ctx context.Context, by *Caller, arguments protocol.Object) (Preview, error) {
		p, err := f.Preview(ctx, by, arguments)
		if err != nil {
			return p, t.miscalled(err)
		}
		return p, nil
	}
	t.perform = f.Perform
	return t
}

// Foreign reports whether the tool is somebody else's.
func (t Tool) Foreign() bool { return t.digest != "" }

// Spelled is a name without what spellings of names differ in: two tools whose names are then
// the same are one to those who call them.
func Spelled(name string) string { return folded(name) }

// WithForeign returns the registry with the tools of others behind its own, as they are at any
// moment. others is called often, and returns tools with names of their own, by name.
func (r *Registry) WithForeign(others func() []Tool) *Registry {
	return &Registry{tools: r.tools, others: others, caller: r.caller}
}

// Digest is that of an offered tool of somebody else's, "" for all others.
func (r *Registry) Digest(name string) string {
	t, _ := r.named(name)
	return t.digest
}
