package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"org-agent/kernel/protocol"
	"org-agent/kernel/suggest"
)

// Registry is a list of tools. A nil Registry has none.
type Registry struct {
	tools  []Tool        // by name
	others func() []Tool // of somebody else's, that there are at this moment; nil for none
	caller *Caller       // whose calls are made; nil: each is a turn by itself
}

// all are the tools there are: our own come first.
func (r *Registry) all() []Tool {
	switch {
	case r == nil:
		return nil
	case r.others == nil:
		return r.tools
	}
	return slices.Concat(r.tools, r.others())
}

// NewRegistry returns a registry of these tools. The error says which definition is wrong,
// or that two have the same name.
func NewRegistry(tools ...Tool) (*Registry, error) {
	r := &Registry{tools: slices.Clone(tools)}
	slices.SortFunc(r.tools, func(a, b Tool) int { return strings.Compare(a.name, b.name) })
	var faults []error
	taken := map[string]bool{}
	for _, t := range r.tools {
		if t.err != nil {
			faults = append(faults, fmt.Errorf("the tool %q: %w", t.name, t.err))
		}
		if taken[t.spelled] {
			faults = append(faults, fmt.Errorf("two tools are named %q", t.name))
		}
		taken[t.spelled] = true
	}
	return r, errors.Join(faults...)
}

// All returns all tools, by name and ours first, also those that have nothing to do now.
func (r *Registry) All() []Tool {
	return slices.Clone(r.all())
}

// Names returns the names of all tools, also of those that have nothing to do now.
func (r *Registry) Names() []string {
	var names []string
	for _, t := range r.all() {
		names = append(names, t.name)
	}
	return names
}

// Offered returns the tools that have something to do now, by name and ours first.
func (r *Registry) Offered() []Tool {
	all := r.all()
	offered := make([]Tool, 0, len(all))
	for _, t := range all {
		if t.isOffered() {
			offered = append(offered, t)
		}
	}
	return offered
}

func (t Tool) isOffered() bool { return t.offered == nil || t.offered() }

// formerNames are what tools were called before, folded, with what they are called now. Rows of
// policy.org, notes and journals have them, and a model that imitates an old conversation.
var formerNames = map[string]string{
	folded("list_sessions"): "list_conversations",
	folded("sessions_list"): "list_subagents",
}

// named is the offered tool of that name, in any case, with hyphens or underscores, or of that
// former name.
func (r *Registry) named(name string) (Tool, bool) {
	if r == nil {
		return Tool{}, false
	}
	spelled := folded(name)
	if now, former := formerNames[spelled]; former {
		spelled = folded(now)
	}
	is := func(t Tool) bool { return t.spelled == spelled && t.isOffered() }
	if i := slices.IndexFunc(r.tools, is); i >= 0 {
		return r.tools[i], true
	}
	if r.others != nil {
		others := r.others()
		if i := slices.IndexFunc(others, is); i >= 0 {
			return others[i], true
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

// Own reports whether what the tool of that name returns was written by the person or by the
// kernel. Of a tool that is not offered nobody knows.
func (r *Registry) Own(name string) bool {
	t, found := r.named(name)
	return found && t.own
}

// Nearest returns the name of the offered tool that was probably meant, "" if none is near.
func (r *Registry) Nearest(name string) string {
	var names []string
	for _, t := range r.Offered() {
		names = append(names, t.name)
	}
	return suggest.Of(name, names)
}

// Call performs one call and returns what the model is given. Every error is one that
// [protocol.ToolErrorOf] can tell of.
func (r *Registry) Call(ctx context.Context, name string, arguments protocol.Object) (string, error) {
	t, found := r.named(name)
	if !found {
		return "", unknown(name)
	}
	by := r.by()
	return t.again(ctx, func() (string, error) { return t.perform(ctx, by, arguments) })
}

func unknown(name string) error {
	return protocol.ToolErrorf(protocol.ToolNotFound, "there is no tool named %q", name)
}

// pauses are those before a call that may well go through is made again.
var pauses = [...]time.Duration{100 * time.Millisecond, 400 * time.Millisecond}

// Bounds of how long a call is tried: a pause that whoever was asked wants may be that long, and
// no call is made again when more time than that is over since the first.
const (
	longestPause = 15 * time.Second
	againWithin  = 45 * time.Second
)

// again makes a call, and once more after each pause while its error promises that nothing has
// happened and that it may go through. Only what reads is tried again: of anything else nobody
// but the model, which is told of the promise, decides that. Who wants to be left alone for
// longer than anybody waits is not asked again.
func (t Tool) again(ctx context.Context, call func() (string, error)) (text string, err error) {
	began := time.Now()
	for made := 1; ; made++ {
		if err := ctx.Err(); err != nil {
			return "", err
		}
		text, err = call()
		if err == nil || t.effect != protocol.ToolReads {
			return text, err
		}
		of := protocol.ToolErrorOf(err)
		if of.Retryable && made <= len(pauses) && of.After <= longestPause && time.Since(began) < againWithin {
			select {
			case <-ctx.Done():
			case <-time.After(max(pauses[made-1], of.After)):
			}
			continue
		}
		if made > 1 {
			err = fmt.Errorf("%w (it was tried %d times)", err, made)
		}
		return "", err
	}
}

// Preview says what a call would change, or at least what it would touch; known is false when
// neither is known before. The error is what is in the way of the call.
func (r *Registry) Preview(ctx context.Context, name string, arguments protocol.Object) (p Preview, known bool, err error) {
	t, found := r.named(name)
	switch {
	case found && t.preview != nil:
		p, err = t.preview(ctx, r.by(), arguments)
	case found && t.reach != nil:
		p.Effects, err = t.touches(ctx, r.by(), arguments)
	default:
		return Preview{}, false, nil
	}
	return p, err == nil, err
}

// Check says what is in the way of a call, nil when nothing is or nobody knows.
func (r *Registry) Check(ctx context.Context, name string, arguments protocol.Object) error {
	t, found := r.named(name)
	if !found || t.preview == nil {
		return nil
	}
	_, err := t.preview(ctx, r.by(), arguments)
	return err
}
