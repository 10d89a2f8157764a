package policy

import (
	"context"
	"slices"
	"strings"

	"org-agent/kernel/action"
	"org-agent/kernel/protocol"
)

// Hooks are the person's own checks before an action, in addition to the rules.
type Hooks interface {
	// Before returns the decision of each hook that applies to the judged action, in a fixed order.
	// Where has the kinds of the turn.
	// Allow means that the hook has no objection. The decision of a hook that fails is Ask.
	Before(ctx context.Context, a action.Action, where Where) []Decision
}

// Narrowed adds the decisions of the hooks to a verdict. Hooks can only narrow: they can ask about
// or refuse an action that is allowed without them. A hook that asks does so each time, whatever
// was approved before, because it may have had no objection then. Hooks are not called for an
// action that the rules refuse, or for one that ends the turn.
func (p *Policy) Narrowed(ctx context.Context, v Verdict, where Where) Verdict {
	if p.Hooks == nil || v.Ends || v.Kind == Refuse || v.Action.Type() != protocol.TypeRequest {
		return v
	}
	decisions := p.Hooks.Before(ctx, v.Action, p.at(where))
	if len(decisions) == 0 {
		return v
	}
	if len(v.Decisions) == 0 {
		v.Decisions = []Decision{{What: "action", Kind: v.Kind, Reason: v.Reason, OnceOnly: v.OnceOnly}}
	}
	v.Decisions = slices.Concat(v.Decisions, decisions)
	worst := Allow
	for _, d := range decisions {
		worst = min(worst, d.Kind)
	}
	if worst > v.Kind || worst == Allow {
		return v
	}
	var reasons []string
	if worst == v.Kind {
		reasons = append(reasons, v.Reason)
	}
	for _, d := range decisions {
		if d.Kind == worst {
			reasons = append(reasons, d.Reason)
		}
	}
	v.Kind, v.Reason, v.OnceOnly = worst, strings.Join(reasons, "; "), true
	return v
}
