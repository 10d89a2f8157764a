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
	if err := a.Steps.Steer(ctx); err != nil {
		return composer.Composition{}, err
	}
	composed, err := a.Requests.Compose(ctx, ask)
	if err == nil {
		a.keep(ctx, composed)
	}
	return composed, err
}

// keep does what has to be done before a composition is sent: it records what was found for it, warns
// the person of a small window, and starts a summary that is due.
func (a *asker) keep(ctx context.Context, c composer.Composition) {
	a.purpose = c.Purpose
	a.Steps.Quotable(c.Quotable) // a proposal that stands in these texts is a quotation
	if c.Recalled != nil {
		a.Rows.Record(ctx, journal.KindRecall, c.Recalled)
	}
	if c.Warning != "" && a.Sender.warned.first(a.Record.Session+" "+a.Requests.Model()) {
		a.Screen.Notify(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelWarn, Text: c.Warning})
	}
	if c.Past != nil {
		a.keepPast(ctx, *c.Past)
	}
	if c.SummaryDue {
		a.Sender.config.Summarise(a.Record.Session)
	}
	if c.Question != "" && !a.Resumed && !a.recorded && c.Question != a.Record.Question.Words() {
		a.recorded = true // later turns show the question in the same words
		a.Rows.RecordLater(ctx, journal.KindAsked, a.Screen.AnswerID(), map[string]string{"text": c.Question})
	}
}

// keepPast records what is shown of the earlier turns, so that the next turn is shown the same. It
// warns the person if turns are no longer shown.
func (a *asker) keepPast(ctx context.Context, shown history.Shown) {
	if err := a.Sender.config.Past.Keep(ctx, a.Record.Session, shown); err != nil {
		a.Log.Warn("the next turn may be shown something else of the earlier ones", "err", err)
	}
	if shown.Changed && shown.Compaction.By == journal.CompactionByCut {
		a.Screen.Notify(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelWarn, Text: fmt.Sprintf(
			"the first %d turns do not fit the window of %s any more: it is not shown them", shown.Compaction.Turns, a.Requests.Model())})
	}
}
