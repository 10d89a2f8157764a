package agent

import (
	"context"
	"fmt"

	"org-agent/kernel/agent/composer"
	"org-agent/kernel/agent/history"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
)

// window is how much a model can be shown, "" being the one that answers where none is chosen. Its
// server is asked only if ask is true.
func (a *Agent) window(ctx context.Context, model string, ask bool) llm.Window {
	if a.config.Window == nil {
		return llm.Window{}
	}
	return a.config.Window(ctx, model, ask)
}

// compose returns the request of an ask. It has what people said to the turn since the last one.
func (a *asker) compose(ctx context.Context, ask skill.Ask) (composer.Composition, error) {
	if err := a.run.steps.Steer(ctx); err != nil {
		return composer.Composition{}, err
	}
	composed, err := a.run.compose.Compose(ctx, ask)
	if err == nil {
		a.keep(ctx, composed)
	}
	return composed, err
}

// keep does what has to be done before a composition is sent: it records what was found for it, warns
// the person of a small window, and starts a summary that is due.
func (a *asker) keep(ctx context.Context, c composer.Composition) {
	r := a.run
	a.purpose = c.Purpose
	r.steps.Quotable(c.Quotable) // a proposal that stands in these texts is a quotation
	if c.Recalled != nil {
		r.Record(ctx, journal.KindRecall, c.Recalled)
	}
	if c.Warning != "" && r.agent.warned.first(r.turn.Record.Session+" "+r.compose.Model()) {
		r.turn.Notify(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelWarn, Text: c.Warning})
	}
	if c.Past != nil {
		a.keepPast(ctx, *c.Past)
	}
	if c.SummaryDue {
		r.agent.compaction.Start(r.turn.Record.Session)
	}
	if c.Question != "" && !r.questionKept && c.Question != r.turn.Record.Question.Words() {
		r.questionKept = true // later turns show the question in the same words
		r.RecordLater(ctx, journal.KindAsked, r.turn.AnswerID(), map[string]string{"text": c.Question})
	}
}

// keepPast records what is shown of the earlier turns, so that the next turn is shown the same. It
// warns the person if turns are no longer shown.
func (a *asker) keepPast(ctx context.Context, shown history.Shown) {
	r := a.run
	if err := r.agent.composer.Past.Keep(ctx, r.turn.Record.Session, shown); err != nil {
		r.log.Warn("the next turn may be shown something else of the earlier ones", "err", err)
	}
	if shown.Changed && shown.Compaction.By == journal.CompactionByCut {
		r.turn.Notify(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelWarn, Text: fmt.Sprintf(
			"the first %d turns do not fit the window of %s any more: it is not shown them", shown.Compaction.Turns, r.compose.Model())})
	}
}
