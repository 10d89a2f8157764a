package reply

import (
	"context"
	"fmt"

	"org-agent/kernel/agent/composer"
	"org-agent/kernel/agent/history"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
)

// compose returns the request of an ask. It has what people said to the turn since the last one.
func (a *asker) compose(ctx context.Context, ask skill.Ask) (composer.Composition, error) {
	if err := a.turn.Steps.Steer(ctx); err != nil {
		return composer.Composition{}, err
	}
	composed, err := a.turn.Requests.Compose(ctx, ask)
	if err == nil {
		a.keep(ctx, composed)
	}
	return composed, err
}

// keep does what has to be done before a composition is sent: it records what was found for it, warns
// the person of a small window, and starts a summary that is due.
func (a *asker) keep(ctx context.Context, c composer.Composition) {
	a.purpose = c.Purpose
	a.turn.Steps.Quotable(c.Quotable) // a proposal that stands in these texts is a quotation
	if c.Recalled != nil {
		a.turn.Rows.Record(ctx, journal.KindRecall, c.Recalled)
	}
	if c.Warning != "" && a.turn.Sender.warned.first(a.turn.Record.Session+" "+a.turn.Requests.Model()) {
		a.turn.Screen.Notify(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelWarn, Text: c.Warning})
	}
	if c.Past != nil {
		a.keepPast(ctx, *c.Past)
	}
	if c.SummaryDue {
		a.turn.Sender.config.Summarise(a.turn.Record.Session)
	}
	if c.Question != "" && !a.turn.Resumed && !a.turn.recorded && c.Question != a.turn.Record.Question.Words() {
		a.turn.recorded = true // later turns show the question in the same words
		a.turn.Rows.RecordLater(ctx, journal.KindAsked, a.turn.Screen.AnswerID(), map[string]string{"text": c.Question})
	}
}

// keepPast records what is shown of the earlier turns, so that the next turn is shown the same. It
// warns the person if turns are no longer shown.
func (a *asker) keepPast(ctx context.Context, shown history.Shown) {
	if err := a.turn.Sender.config.Past.Keep(ctx, a.turn.Record.Session, shown); err != nil {
		a.turn.Log.Warn("the next turn may be shown something else of the earlier ones", "err", err)
	}
	if shown.Changed && shown.Compaction.By == journal.CompactionByCut {
		a.turn.Screen.Notify(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelWarn, Text: fmt.Sprintf(
			"the first %d turns do not fit the window of %s any more: it is not shown them", shown.Compaction.Turns, a.turn.Requests.Model())})
	}
}
