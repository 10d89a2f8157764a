package tool

import (
	"context"
	"fmt"

	"org-agent/kernel/protocol"
)

// Foreign describes a tool that is not the kernel's: one of another program, or one that a note of
// the person defines. Only its owner says what it does. So a call needs a person's approval, or a row
// of policy.org with its name, unless the tool is trusted.
type Foreign struct {
	Name string
	// Does says in a sentence what the tool does, and, for another program, that it says so.
	Does string
	// Form is a call's arguments as a plist, for the prompt.
	Form string
	// Schema is the JSON Schema of the arguments, or nil if it is not known here.
	Schema protocol.Object
	// Digest is a hash of everything on which the tool depends. An approval holds for one digest.
	Digest string
	// Asks is the reason why a person is asked about a call. Default: that the tool is of another
	// program.
	Asks string
	// Trusted is the reason why nobody has to be asked about a call, or "".
	Trusted string
	// Effect is the effect of a call, as with a [Definition].
	Effect protocol.ToolEffect
	// Ours is true if what a call returns was written by nobody but the person or the kernel.
	Ours bool
	// Guard returns the reason why a person has to be asked about this call, or "", and an error if
	// the call is refused. It has no effects. nil: there is nothing against a call.
	Guard func(ctx context.Context, by *Caller, arguments protocol.Object) (ask string, err error)
	// Preview shows what a call would do. An error means that the call cannot be made.
	Preview func(ctx context.Context, by *Caller, arguments protocol.Object) (Preview, error)
	// Perform makes the call, as with a [Definition].
	Perform func(ctx context.Context, by *Caller, arguments protocol.Object) (string, error)
}

// NewForeign returns a tool that is not the kernel's.
func NewForeign(f Foreign) Tool {
	t := Tool{
		name: f.Name, spelled: folded(f.Name), does: f.Does, form: f.Name + " " + f.Form, json: f.Schema,
		digest: f.Digest, asks: f.Asks, trusted: f.Trusted, effect: f.Effect, own: f.Ours, guard: f.Guard,
	}
	if t.asks == "" {
		t.asks = fmt.Sprintf("the tool %s is of somebody else's program, and there is only its word for what it does", f.Name)
	}
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

// Foreign reports whether the tool belongs to another program or to a note.
func (t Tool) Foreign() bool { return t.digest != "" }

// Private reports whether the tool is for the agent alone, and not for other programs.
func (t Tool) Private() bool { return t.private }

// Spelled returns a name without the differences of spelling. Two tools with equal results are one
// tool for callers.
func Spelled(name string) string { return folded(name) }

// WithForeign returns the registry with tools of others after its own. others is called often
// and returns the tools of that moment, sorted by name, with names that no other tool has.
func (r *Registry) WithForeign(others func() []Tool) *Registry {
	return &Registry{tools: r.tools, others: others, caller: r.caller}
}

// Digest returns the digest of an offered tool that is not the kernel's, or "" for all others.
func (r *Registry) Digest(name string) string {
	t, _ := r.named(name)
	return t.digest
}

// Trust returns why a person is asked about a call of an offered tool that is not the kernel's, or why
// nobody has to be. One of the two is "".
func (r *Registry) Trust(name string) (asks, trusted string) {
	t, _ := r.named(name)
	if t.trusted != "" {
		return "", t.trusted
	}
	return t.asks, ""
}

// Guard returns the reason of the tool's owner why a person has to be asked about a call, or "", and an
// error if the owner refuses it.
func (r *Registry) Guard(ctx context.Context, name string, arguments protocol.Object) (ask string, err error) {
	t, found := r.named(name)
	if !found || t.guard == nil {
		return "", nil
	}
	return t.guard(ctx, r.by(), arguments)
}
