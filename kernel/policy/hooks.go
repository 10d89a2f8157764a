package policy

import (
	"context"
	"slices"
	"strings"

	"org-agent/kernel/action"
	"org-agent/kernel/protocol"
)

// Hooks are what a person has asked before something is done, beside the rules.
type Hooks interface {
	// Before is what each hook that is about the action, as it was judged, says of it, in a fixed order: Allow has
	// no objection. Of a hook that fails it is Ask.
	Before(ctx context.Context, a action.Action, where Where) []Decision
}

// Narrowed is a verdict with what the hooks say of the action. They only narrow: what is allowed
// without them they can ask about or refuse. Where one asks it does so each time, whatever was
// approved before: it may have had no objection then. What the rules refuse, and what only puts
// text where the turn came from, they are not asked about.
func (p *Policy) Narrowed(ctx context.Context, v Verdict, where Where) Verdict {
	if p.Hooks == nil || v.Kind == Refuse || v.Action.Type() != protocol.TypeRequest {
		return v
	}
	if p.Ends(v.Action, where) {
		return v
	}
	said := p.Hooks.Before(ctx, v.Action, p.at(where))
	if len(said) == 0 {
		return v
	}
	if len(v.Decisions) == 0 {
		v.Decisions = []Decision{{What: "action", Kind: v.Kind, Reason: v.Reason, OnceOnly: v.OnceOnly}}
	}
	v.Decisions = slices.Concat(v.Decisions, said)
	worst := Allow
	for _, d := range said {
		worst = min(worst, d.Kind)
	}
	if worst > v.Kind || worst == Allow {
		return v
	}
	var reasons []string
	if worst == v.Kind {
		reasons = append(reasons, v.Reason)
	}
	for _, d := range said {
		if d.Kind == worst {
			reasons = append(reasons, d.Reason)
		}
	}
	v.Kind, v.Reason, v.OnceOnly = worst, strings.Join(reasons, "; "), true
	return v
}
