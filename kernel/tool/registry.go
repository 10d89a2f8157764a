package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/nearest"
	"org-agent/kernel/protocol"
)

// Registry is a list of tools. A nil Registry has none.
type Registry struct {
	tools []Tool // by name
}

// NewRegistry returns a registry of these tools. The error says which definition is wrong,
// or that two have the same name.
func NewRegistry(tools ...Tool) (*Registry, error) {
	r := &Registry{tools: slices.Clone(tools)}
	slices.SortFunc(r.tools, func(a, b Tool) int { return strings.Compare(a.name, b.name) })
	var faults []error
	for i, t := range r.tools {
		if t.err != nil {
			faults = append(faults, fmt.Errorf("the tool %q: %w", t.name, t.err))
		}
		if i > 0 && folded(t.name) == folded(r.tools[i-1].name) {
			faults = append(faults, fmt.Errorf("two tools are named %q", t.name))
		}
	}
	return r, errors.Join(faults...)
}

// Offered returns the tools that have something to do now, by name.
func (r *Registry) Offered() []Tool {
	if r == nil {
		return nil
	}
	var offered []Tool
	for _, t := range r.tools {
		if t.offered == nil || t.offered() {
			offered = append(offered, t)
		}
	}
	return offered
}

// named is the offered tool of that name, in any case, with hyphens or underscores.
func (r *Registry) named(name string) (Tool, bool) {
	for _, t := range r.Offered() {
		if folded(t.name) == folded(name) {
			return t, true
		}
	}
	return Tool{}, false
}

// Find returns the name of an offered tool as it is written, and what calling it takes. It
// is what the policy asks.
func (r *Registry) Find(name string) (written string, effect protocol.ToolEffect, found bool) {
	t, found := r.named(name)
	return t.name, t.effect, found
}

// Nearest returns the name of the offered tool that was probably meant, "" if none is near.
func (r *Registry) Nearest(name string) string {
	var names []string
	for _, t := range r.Offered() {
		names = append(names, t.name)
	}
	return nearest.Of(name, names)
}

// Call performs one call and returns what the model is given.
func (r *Registry) Call(ctx context.Context, name string, arguments protocol.Object) (string, error) {
	t, found := r.named(name)
	if !found {
		return "", fmt.Errorf("there is no tool named %q", name)
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	return t.perform(ctx, arguments)
}
