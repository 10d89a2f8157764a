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

// hookVerdict is what a hook said, as the journal has it.
type hookVerdict struct {
	Hook    string `json:"hook"`
	File    string `json:"file"`
	Line    int    `json:"line"`
	Verdict string `json:"verdict"`
	Reason  string `json:"reason,omitempty"`
	Append  string `json:"append,omitempty"`
}

// objections are what the hooks said of a proposal. What they add goes to the model with what
// comes of it.
func (r *run) objections(verdict policy.Verdict) []hookVerdict {
	var all []hookVerdict
	r.added = nil
	for _, d := range verdict.Decisions {
		if d.Hook == "" {
			continue
		}
		all = append(all, hookVerdict{Hook: d.Hook, File: d.File, Line: d.Line, Verdict: d.Kind.String(), Reason: d.Reason, Append: d.Append})
		if d.Append != "" {
			r.added = append(r.added, journal.RoundHook{Hook: d.Hook, Text: d.Append})
		}
	}
	return all
}

// add keeps what hooks add for the round that comes next.
func (r *run) add(added []hook.Added) {
	for _, a := range added {
		r.added = append(r.added, journal.RoundHook(a))
	}
}

// tellResult tells hooks what came of an action, and returns it without what one withholds.
func (r *run) tellResult(ctx context.Context, verified policy.Verified, res kind.Result, err error) (kind.Result, error) {
	if r.agent.config.Hooks == nil {
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
	r.add(r.agent.config.Hooks.After(ctx, verified, r.where(), results))
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
func (r *run) tellBeginning(ctx context.Context) error {
	hooks, begun := r.agent.config.Hooks, r.turn.Begun
	told := slices.ContainsFunc(begun.Rounds, func(done journal.RoundDone) bool { return len(done.Hooks) > 0 && !done.Came() })
	if r.turn.Waits() || begun.First() > 0 || told {
		return nil
	}
	var why string
	if hooks.Listens(skill.SessionStart) {
		first, err := r.isFirst(ctx)
		if err != nil {
			return err
		}
		if first {
			why = r.tell(ctx, skill.SessionStart)
		}
	}
	if why == "" && hooks.Listens(skill.TurnStart) {
		why = r.tell(ctx, skill.TurnStart)
	}
	if why != "" {
		return failf("this message was refused: %s", why)
	}
	if len(r.added) > 0 {
		r.keepRound(ctx, journal.Round{Hooks: r.added})
		r.input = append(r.input, textsOf(r.added)...)
		r.added = nil
	}
	return nil
}

// tell tells hooks of an event of the turn.
func (r *run) tell(ctx context.Context, event skill.HookEvent) (refused string) {
	question := r.turn.Record.Question
	fields := protocol.Object{{Key: "sensor", Value: protocol.Keyword(question.Sensor)}, {Key: "text", Value: question.Words()}}
	refused, added := r.agent.config.Hooks.Tell(ctx, event, r.where(), fields)
	r.add(added)
	verdict := "allow"
	if refused != "" {
		verdict = "refuse"
	}
	r.record(ctx, journal.KindVerdict, map[string]any{"gate": "hooks", "event": event, "verdict": verdict, "reason": refused})
	return refused
}

// isFirst reports whether the conversation has no earlier message.
func (r *run) isFirst(ctx context.Context) (bool, error) {
	rows, err := r.agent.config.Journal.Entries(ctx, journal.Query{Session: r.turn.Record.Session, Kinds: []journal.Kind{journal.KindEvent}, Limit: 2})
	return len(rows) < 2, err
}

// tellEnd tells hooks how the turn ended. One that was stopped, or that the kernel's end cuts
// short, waits for none of them.
func (r *run) tellEnd(ctx context.Context, o session.Outcome) {
	hooks := r.agent.config.Hooks
	if ctx.Err() != nil || !hooks.Listens(skill.TurnEnd) {
		return
	}
	fields := protocol.Object{{Key: "state", Value: protocol.Keyword(o.State)}, {Key: "notice", Value: o.Notice},
		{Key: "text", Value: r.turn.Record.Question.Words()}}
	hooks.Tell(ctx, skill.TurnEnd, r.where(), fields)
}

// textsOf are the texts that hooks added.
func textsOf(added []journal.RoundHook) (texts []string) {
	for _, a := range added {
		texts = append(texts, a.Text)
	}
	return texts
}
