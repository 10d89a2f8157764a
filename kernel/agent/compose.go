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

// window is how much the model can be shown, "" being the one that answers where none is chosen.
// Its server is asked if ask says so.
func (a *Agent) window(ctx context.Context, model string, ask bool) llm.Window {
	if a.config.Window == nil {
		return llm.Window{}
	}
	return a.config.Window(ctx, model, ask)
}

// compose is the request that asks, with what people said to the turn meanwhile.
func (a *asker) compose(ctx context.Context, ask skill.Ask) (composer.Composition, error) {
	if err := a.run.hear(ctx); err != nil {
		return composer.Composition{}, err
	}
	composed, err := a.run.compose.Compose(ctx, ask)
	if err == nil {
		a.keep(ctx, composed)
	}
	return composed, err
}

// keep does what a composition has made necessary before it is sent.
func (a *asker) keep(ctx context.Context, c composer.Composition) {
	r := a.run
	r.purpose = c.Purpose
	r.input = append(c.Quotable, r.input...) // a reply that repeats what stands here quotes it
	if c.Recalled != nil {
		r.record(ctx, journal.KindRecall, c.Recalled)
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
	if c.Question != "" && !r.asked && c.Question != r.turn.Record.Question.Words() {
		r.asked = true // later turns show it in the same words
		r.recordLater(ctx, journal.KindAsked, r.turn.AnswerID(), map[string]string{"text": c.Question})
	}
}

// keepPast keeps what is shown of the earlier turns, so that the next turn is shown the same.
func (a *asker) keepPast(ctx context.Context, shown history.Shown) {
	r := a.run
	if err := r.agent.composer.Past.Keep(ctx, r.turn.Record.Session, shown); err != nil {
		r.log.Warn("the next turn may be shown something else of the earlier ones", "err", err)
	}
	if shown.Changed && shown.Digest.By == journal.CompactionByCut {
		r.turn.Notify(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelWarn, Text: fmt.Sprintf(
			"the first %d turns do not fit the window of %s any more: it is not shown them", shown.Digest.Turns, r.compose.Model())})
	}
}
