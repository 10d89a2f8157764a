package agent

import (
	"context"
	"slices"

	"org-agent/kernel/hook"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
	"org-agent/kernel/skill"
)

// What hooks say of what is about to be done is part of the policy's verdict. Here stands what
// they are told beside that: of results, and of the beginning and the end of a turn.

// turnHooks asks and tells hooks in a turn.
type turnHooks struct {
	turn    *session.Turn
	hooks   *hook.Hooks
	journal entries
	rows    *recorder
	steps   *steps
	place   func() policy.Where
}

// entries are rows of the journal.
type entries interface {
	Entries(ctx context.Context, query journal.Query) ([]journal.Entry, error)
}

// hookVerdict is what a hook said, as the journal has it.
type hookVerdict struct {
	Hook    string `json:"hook"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Verdict string `json:"verdict"`
	Reason  string `json:"reason,omitempty"`
	Append  string `json:"append,omitempty"`
}

// hookVerdicts are what the hooks said of an action.
func hookVerdicts(verdict policy.Verdict) []hookVerdict {
	var all []hookVerdict
	for _, d := range verdict.Decisions {
		if d.Hook != "" {
			all = append(all, hookVerdict{Hook: d.Hook, File: d.File, Line: d.Line, Verdict: d.Kind.String(), Reason: d.Reason, Append: d.Append})
		}
	}
	return all
}

// heard takes up what hooks said of an action: what they add goes to the model with what comes of
// it.
func (h *turnHooks) heard(verdicts []hookVerdict) {
	h.steps.added = nil
	for _, v := range verdicts {
		if v.Append != "" {
			h.steps.added = append(h.steps.added, journal.StepHook{Hook: v.Hook, Text: v.Append})
		}
	}
}

// tellResult tells hooks what came of an action, and returns it without what one withholds.
func (h *turnHooks) tellResult(ctx context.Context, verified policy.Verified, res kind.Result, err error) (kind.Result, error) {
	if h.hooks == nil {
		return res, err
	}
	results := []hook.Result{{Verdict: "performed", Text: res.Text}}
	if err != nil {
		results[0] = hook.Result{Verdict: "failed", Text: err.Error()}
	}
	for i, c := range res.Calls {
		one := hook.Result{Verdict: "performed", Text: c.Text}
		if c.Failed {
			one.Verdict = "failed"
		}
		results = append(results[:i], one)
	}
	told := slices.Clone(results)
	h.steps.addHooks(h.hooks.After(ctx, verified, h.place(), results))
	for i := range res.Calls {
		res.Calls[i].Text = results[i].Text
	}
	switch {
	case len(res.Calls) > 0 || results[0] == told[0]:
	case err != nil:
		err = protocol.ToolErrorf(protocol.ToolErrorOf(err).Code, "%s", results[0].Text)
	default:
		res.Text = results[0].Text
	}
	return res, err
}

// tellBeginning tells hooks of the turn, and of the conversation when this is its first, before
// anything else. What they add stands behind the question. A turn that goes on after the
// kernel's end has begun already.
func (h *turnHooks) tellBeginning(ctx context.Context) error {
	hooks, begun := h.hooks, h.turn.Begun
	told := slices.ContainsFunc(begun.Steps, func(done journal.StepDone) bool { return len(done.Hooks) > 0 && !done.IsResult() })
	if h.turn.Waits() || begun.First() > 0 || told {
		return nil
	}
	var why string
	if hooks.Listens(skill.SessionStart) {
		first, err := h.isFirst(ctx)
		if err != nil {
			return err
		}
		if first {
			why = h.tell(ctx, skill.SessionStart)
		}
	}
	if why == "" && hooks.Listens(skill.TurnStart) {
		why = h.tell(ctx, skill.TurnStart)
	}
	if why != "" {
		return failf("this message was refused: %s", why)
	}
	h.steps.keepAdded(ctx)
	return nil
}

// tell tells hooks of an event of the turn.
func (h *turnHooks) tell(ctx context.Context, event skill.HookEvent) (refused string) {
	question := h.turn.Record.Question
	fields := protocol.Object{{Key: "sensor", Value: protocol.Keyword(question.Sensor)}, {Key: "text", Value: question.Words()}}
	refused, added := h.hooks.Tell(ctx, event, h.place(), fields)
	h.steps.addHooks(added)
	verdict := "allow"
	if refused != "" {
		verdict = "refuse"
	}
	h.rows.record(ctx, journal.KindVerdict, map[string]any{"gate": "hooks", "event": event, "verdict": verdict, "reason": refused})
	return refused
}

// isFirst reports whether the conversation has no earlier message.
func (h *turnHooks) isFirst(ctx context.Context) (bool, error) {
	rows, err := h.journal.Entries(ctx, journal.Query{Session: h.turn.Record.Session, Kinds: []journal.Kind{journal.KindEvent}, Limit: 2})
	return len(rows) < 2, err
}

// tellEnd tells hooks how the turn ended. One that was stopped, or that the kernel's end cuts
// short, waits for none of them.
func (h *turnHooks) tellEnd(ctx context.Context, o session.Outcome) {
	if ctx.Err() != nil || !h.hooks.Listens(skill.TurnEnd) {
		return
	}
	fields := protocol.Object{{Key: "state", Value: protocol.Keyword(o.State)}, {Key: "notice", Value: o.Notice},
		{Key: "text", Value: h.turn.Record.Question.Words()}}
	h.hooks.Tell(ctx, skill.TurnEnd, h.place(), fields)
}
