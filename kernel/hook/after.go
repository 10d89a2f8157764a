package hook

import (
	"context"
	"path/filepath"
	"strings"

	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
)

// resultLimit is how many bytes of a result hooks are told.
const resultLimit = 32 << 10

// Result is what came of a call.
type Result struct {
	Verdict string // performed or failed
	Text    string
}

// After tells hooks what came of an action, a result for each of its calls in their order. In
// the results that a hook refuses the text is why, and they are not shown to anybody.
func (h *Hooks) After(ctx context.Context, done policy.Verified, where policy.Where, results []Result) (added []Added) {
	if h == nil {
		return nil
	}
	calls, err := h.callsOf(done.Action())
	if err != nil {
		h.config.Logger.Warn("hooks are not told what was done", "err", err)
		return nil
	}
	room := addedTotal
	for i, c := range calls {
		if c.event != skill.BeforeTool || i >= len(results) {
			continue
		}
		hooks := h.config.Skills().Hooks(skill.AfterTool, c.tool)
		if len(hooks) == 0 {
			continue
		}
		r := &results[i]
		fields := append(c.fields, protocol.Field{Key: "verdict", Value: protocol.Keyword(r.Verdict)},
			protocol.Field{Key: "result", Value: short(r.Text, resultLimit)}, protocol.Field{Key: "bytes", Value: int64(len(r.Text))})
		refused, more := h.told(within(h.ask(ctx, hooks, eventOf(skill.AfterTool, where, fields)), &room))
		if refused != "" {
			r.Text = "the result is withheld: " + refused
		}
		added = append(added, more...)
	}
	return added
}

// Tell tells hooks of an event that is about no tool, and returns what they add, and why they
// refuse it, "" if none does.
func (h *Hooks) Tell(ctx context.Context, event skill.HookEvent, where policy.Where, fields protocol.Object) (refused string, added []Added) {
	if h == nil {
		return "", nil
	}
	room := addedTotal
	return h.told(within(h.ask(ctx, h.config.Skills().Hooks(event, ""), eventOf(event, where, fields)), &room))
}

// Listens reports whether any hook is about an event that is about no tool.
func (h *Hooks) Listens(event skill.HookEvent) bool {
	return h != nil && len(h.config.Skills().Hooks(event, "")) > 0
}

// told is what comes of what hooks said of what is not about to be done. What is no answer to
// that is logged.
func (h *Hooks) told(all []said) (refused string, added []Added) {
	var reasons []string
	for _, s := range all {
		place := []any{"hook", s.hook.Name, "file", s.hook.File, "line", s.hook.Line}
		switch {
		case s.err != nil:
			h.config.Logger.Warn("a hook failed", append(place, "err", short(s.err.Error(), whyLimit))...)
			continue
		case s.verdict == policy.Ask:
			h.config.Logger.Warn("a hook asked where nothing can be asked about", append(place, "event", string(s.hook.Event))...)
		case s.verdict == policy.Refuse:
			reasons = append(reasons, "the hook "+s.hook.Name+" ("+filepath.Base(s.hook.File)+") refuses it"+s.because())
		}
		if s.added != "" {
			added = append(added, Added{Hook: s.hook.Name, Text: s.added})
		}
	}
	return strings.Join(reasons, "; "), added
}
