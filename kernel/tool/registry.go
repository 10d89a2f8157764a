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

// Registry is a list of tools. A nil Registry is empty.
type Registry struct {
	tools  []Tool        // by name
	others func() []Tool // other programs' tools at this moment; nil for none
	caller *Caller       // the caller of all calls; nil: each call is a turn by itself
}

// all returns all tools, our own first.
func (r *Registry) all() []Tool {
	switch {
	case r == nil:
		return nil
	case r.others == nil:
		return r.tools
	}
	return slices.Concat(r.tools, r.others())
}

// NewRegistry returns a registry of tools. The error names a definition that is wrong, or two tools
// with the same name.
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

// All returns all tools, including those that are not offered now: ours first, each group by name.
func (r *Registry) All() []Tool {
	return slices.Clone(r.all())
}

// Names returns the names of all tools, including those that are not offered now.
func (r *Registry) Names() []string {
	var names []string
	for _, t := range r.all() {
		names = append(names, t.name)
	}
	return names
}

// Offered returns the tools that have something to do now: ours first, each group by name.
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

// formerNames maps earlier names of tools, folded, to their present names. Earlier names occur in
// rows of policy.org, in notes and in journals, and a model may imitate an old conversation.
var formerNames = map[string]string{
	folded("list_sessions"):  "list_conversations",
	folded("sessions_list"):  "list_subagents",
	folded("sessions_spawn"): "start_subagent",
}

// named returns the offered tool with that name or former name, in any case and with hyphens or
// underscores.
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

// Find returns the exact name of an offered tool and the effect of a call. The policy calls it.
func (r *Registry) Find(name string) (written string, effect protocol.ToolEffect, found bool) {
	t, found := r.named(name)
	return t.name, t.effect, found
}

// Own reports whether only the person or the kernel writes the results of an offered tool.
func (r *Registry) Own(name string) bool {
	t, found := r.named(name)
	return found && t.own
}

// Nearest returns the offered tool with the most similar name, or "" if none is similar.
func (r *Registry) Nearest(name string) string {
	var names []string
	for _, t := range r.Offered() {
		names = append(names, t.name)
	}
	return suggest.Of(name, names)
}

// Call performs one call. It returns the text for the model, and what the call changed in files.
// [protocol.ToolErrorOf] can describe each of its errors.
func (r *Registry) Call(ctx context.Context, name string, arguments protocol.Object) (text string, changed []protocol.FileChange, err error) {
	t, found := r.named(name)
	if !found {
		return "", nil, unknown(name)
	}
	by := r.by()
	return t.retry(ctx, func() (string, []protocol.FileChange, error) { return t.perform(ctx, by, arguments) })
}

func unknown(name string) error {
	return protocol.ToolErrorf(protocol.ToolNotFound, "there is no tool named %q", name)
}

// pauses are the waits before a call is made again.
var pauses = [...]time.Duration{100 * time.Millisecond, 400 * time.Millisecond}

// A server may ask for a longer pause, up to longestPause. No call is made again when more time than
// againWithin has passed since the first attempt.
const (
	longestPause = 15 * time.Second
	againWithin  = 45 * time.Second
)

// retry makes a call, and once more after each pause while its error promises that nothing happened
// and that another attempt may succeed. Only calls that read are made again. For others the model
// decides, and the error tells it of the promise. If a server asks for a longer pause than the
// limit, the call is not made again.
func (t Tool) retry(ctx context.Context, call func() (string, []protocol.FileChange, error)) (text string, changed []protocol.FileChange, err error) {
	began := time.Now()
	for made := 1; ; made++ {
		if err := ctx.Err(); err != nil {
			return "", nil, err
		}
		text, changed, err = call()
		if err == nil || t.effect != protocol.ToolReads {
			return text, changed, err
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
		return "", nil, err
	}
}

// Preview shows what a call would change, or at least what it would touch. known is false if
// neither is known beforehand. An error means that the call cannot be made.
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

// Check returns why a call cannot be made, or nil if nothing is known against it.
func (r *Registry) Check(ctx context.Context, name string, arguments protocol.Object) error {
	t, found := r.named(name)
	if !found || t.preview == nil {
		return nil
	}
	_, err := t.preview(ctx, r.by(), arguments)
	return err
}

// Stale returns why a call that waits for a person can no longer be made, or nil if nothing is known
// against it. Only a person may see it.
func (r *Registry) Stale(ctx context.Context, name string, arguments protocol.Object) error {
	t, found := r.named(name)
	if !found || t.stale == nil {
		return nil
	}
	return t.stale(ctx, r.by(), arguments)
}
