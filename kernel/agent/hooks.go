package agent

import (
	"context"
	"fmt"
	"slices"

	"org-agent/kernel/agent/composer"
	"org-agent/kernel/agent/loop"
	"org-agent/kernel/hook"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
	"org-agent/kernel/skill"
)

// The policy asks hooks about actions before they are performed. This file notifies hooks of results,
// and of the beginning and the end of turns and conversations.

// turnHooks runs the hooks of a turn.
type turnHooks struct {
	turn    *session.Turn
	hooks   *hook.Hooks
	journal composer.Rows
	rows    *recorder
	steps   *loop.Steps
	where   func() policy.Where
}

// Result implements [gate.Hooks]: it passes the result of an action to the hooks, which may change it.
func (h *turnHooks) Result(ctx context.Context, verified policy.Verified, res kind.Result, err error) (kind.Result, []journal.StepHook, error) {
	if h.hooks == nil {
		return res, nil, err
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
	before := slices.Clone(results)
	added := stepHooks(h.hooks.After(ctx, verified, h.where(), results))
	for i := range res.Calls {
		res.Calls[i].Text = results[i].Text
	}
	switch {
	case len(res.Calls) > 0 || results[0] == before[0]:
	case err != nil:
		err = protocol.ToolErrorf(protocol.ToolErrorOf(err).Code, "%s", results[0].Text)
	default:
		res.Text = results[0].Text
	}
	return res, added, err
}

// stepHooks returns the additions of hooks in the form of a step.
func stepHooks(added []hook.Addition) []journal.StepHook {
	all := make([]journal.StepHook, len(added))
	for i, a := range added {
		all[i] = journal.StepHook(a)
	}
	return all
}

// notifyStart notifies hooks of the beginning of the turn, and before that of the conversation if this
// is its first turn. Their additions follow the question. It does nothing for a turn of which an
// earlier kernel notified them.
func (h *turnHooks) notifyStart(ctx context.Context) error {
	hooks, begun := h.hooks, h.turn.Checkpoint
	known := slices.ContainsFunc(begun.Steps, func(done journal.StepDone) bool { return len(done.Hooks) > 0 && !done.IsResult() })
	if h.turn.Waits() || begun.First() > 0 || known {
		return nil
	}
	var why string
	var added []journal.StepHook
	if hooks.HasHook(skill.SessionStart) {
		first, err := h.isFirst(ctx)
		if err != nil {
			return err
		}
		if first {
			why, added = h.notify(ctx, skill.SessionStart)
		}
	}
	if why == "" && hooks.HasHook(skill.TurnStart) {
		var more []journal.StepHook
		why, more = h.notify(ctx, skill.TurnStart)
		added = append(added, more...)
	}
	if why != "" {
		return fmt.Errorf("this message was refused: %s", why)
	}
	h.steps.AddHooks(ctx, added)
	return nil
}

// notify notifies hooks of an event of the turn.
func (h *turnHooks) notify(ctx context.Context, event skill.HookEvent) (refused string, adds []journal.StepHook) {
	question := h.turn.Record.Question
	fields := protocol.Object{{Key: "sensor", Value: protocol.Keyword(question.Sensor)}, {Key: "text", Value: question.Words()}}
	refused, added := h.hooks.Notify(ctx, event, h.where(), fields)
	verdict := "allow"
	if refused != "" {
		verdict = "refuse"
	}
	h.rows.Record(ctx, journal.KindVerdict, map[string]any{"gate": "hooks", "event": event, "verdict": verdict, "reason": refused})
	return refused, stepHooks(added)
}

// isFirst reports whether the conversation has no earlier message.
func (h *turnHooks) isFirst(ctx context.Context) (bool, error) {
	rows, err := h.journal.Entries(ctx, journal.Query{Session: h.turn.Record.Session, Kinds: []journal.Kind{journal.KindEvent}, Limit: 2})
	return len(rows) < 2, err
}

// notifyEnd notifies hooks of the end of the turn, unless a person or the end of the kernel stopped it.
func (h *turnHooks) notifyEnd(ctx context.Context, o session.Outcome) {
	if ctx.Err() != nil || !h.hooks.HasHook(skill.TurnEnd) {
		return
	}
	fields := protocol.Object{{Key: "state", Value: protocol.Keyword(o.State)}, {Key: "notice", Value: o.Notice},
		{Key: "text", Value: h.turn.Record.Question.Words()}}
	h.hooks.Notify(ctx, skill.TurnEnd, h.where(), fields)
}

// SessionEnded notifies hooks that nobody shows a conversation any more and nothing is left to be answered in it. last is
// its last turn.
func (a *Agent) SessionEnded(ctx context.Context, last journal.Turn) {
	where := policy.Where{Session: last.Session, Turn: last.ID, Route: last.Question.Route}
	fields := protocol.Object{{Key: "sensor", Value: protocol.Keyword(last.Question.Sensor)}, {Key: "state", Value: protocol.Keyword(last.State)}}
	a.config.Hooks.Notify(ctx, skill.SessionEnd, where, fields)
}
