package hook

import (
	"context"
	"path/filepath"
	"strings"

	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
	"org-agent/kernel/text"
)

// resultLimit is how many bytes of a result an event holds.
const resultLimit = 32 << 10

// Result is the result of a call of a tool.
type Result struct {
	Verdict string // performed or failed
	Text    string
}

// After calls the hooks for the outcome of an action. The results are those of its calls, in their
// order. If a hook refuses a result, After replaces the text by the reason, and the result is shown
// to nobody.
func (h *Hooks) After(ctx context.Context, done policy.Verified, where policy.Where, results []Result) (added []Addition) {
	if h == nil {
		return nil
	}
	calls, err := callsOf(done.Action(), where.Kinds)
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
			protocol.Field{Key: "result", Value: text.Abridge(r.Text, resultLimit)}, protocol.Field{Key: "bytes", Value: int64(len(r.Text))})
		refused, more := h.combine(cutTo(h.ask(ctx, hooks, eventOf(skill.AfterTool, where, fields)), &room))
		if refused != "" {
			r.Text = "the result is withheld: " + refused
		}
		added = append(added, more...)
	}
	return added
}

// Notify calls the hooks for an event without a tool. It returns the texts that they add and the
// reason of a refusal, or "" if none refuses.
func (h *Hooks) Notify(ctx context.Context, event skill.HookEvent, where policy.Where, fields protocol.Object) (refused string, added []Addition) {
	if h == nil {
		return "", nil
	}
	room := addedTotal
	return h.combine(cutTo(h.ask(ctx, h.config.Skills().Hooks(event, ""), eventOf(event, where, fields)), &room))
}

// HasHook reports whether there is a hook for an event without a tool.
func (h *Hooks) HasHook(event skill.HookEvent) bool {
	return h != nil && len(h.config.Skills().Hooks(event, "")) > 0
}

// combine joins the responses to an event about which no person can be asked. A response that asks
// is logged, and so is a failure.
func (h *Hooks) combine(all []response) (refused string, added []Addition) {
	var reasons []string
	for _, r := range all {
		place := []any{"hook", r.hook.Name, "file", r.hook.File, "line", r.hook.Line}
		switch {
		case r.err != nil:
			h.config.Logger.Warn("a hook failed", append(place, "err", text.Abridge(r.err.Error(), whyLimit))...)
			continue
		case r.verdict == policy.Ask:
			h.config.Logger.Warn("a hook asked where nothing can be asked about", append(place, "event", string(r.hook.Event))...)
		case r.verdict == policy.Refuse:
			reasons = append(reasons, "the hook "+r.hook.Name+" ("+filepath.Base(r.hook.File)+") refuses it"+r.because())
		}
		if r.added != "" {
			added = append(added, Addition{Hook: r.hook.Name, Text: r.added})
		}
	}
	return strings.Join(reasons, "; "), added
}
