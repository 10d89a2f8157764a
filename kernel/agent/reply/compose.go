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

// compose returns the request of an ask. The request includes the messages that people sent to the turn
// since the last one.
func (a *asker) compose(ctx context.Context, ask skill.Ask) (composer.Composition, error) {
	if err := a.turn.Steps.Steer(ctx); err != nil {
		return composer.Composition{}, err
	}
	composed, err := a.turn.Requests.Compose(ctx, ask)
	if err == nil {
		a.recordComposition(ctx, composed)
	}
	return composed, err
}

// recordComposition does what a composition requires before it is sent: it records the reminders, the
// past and the question, warns the person of a small window, and starts a summary that is due.
func (a *asker) recordComposition(ctx context.Context, c composer.Composition) {
	a.purpose = c.Purpose
	a.turn.Steps.AddQuotable(c.Quotable) // a proposal in these texts is a quotation
	if c.Reminders != nil {
		a.turn.Rows.Record(ctx, journal.KindRecall, c.Reminders)
	}
	if c.Warning != "" && a.turn.Sender.warnings.isNew(a.turn.Record.Session+" "+a.turn.Requests.Model()) {
		a.turn.Screen.Notify(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelWarn, Text: c.Warning})
	}
	if c.Past != nil {
		a.recordPast(ctx, c.Past)
	}
	if c.SummaryDue {
		a.turn.Sender.config.Summarise(a.turn.Record.Session)
	}
	if c.Question != "" && !a.turn.Resumed && !a.turn.questionRecorded && c.Question != a.turn.Record.Question.Words() {
		a.turn.questionRecorded = true // so that later turns show the question in the same words
		a.turn.Rows.RecordLater(ctx, journal.KindShownQuestion, a.turn.Screen.AnswerID(), map[string]string{"text": c.Question})
	}
}

// recordPast records which part of the earlier turns is shown, so that the next turn shows the same. It
// warns the person if turns are no longer shown.
func (a *asker) recordPast(ctx context.Context, shown *history.Excerpt) {
	turns := shown.Compaction.Turns
	cut := shown.Changed && shown.Compaction.By == journal.CompactionByCut
	if err := a.turn.Sender.config.Past.RecordExcerpt(ctx, a.turn.Record.Session, shown); err != nil {
		a.turn.Log.Warn("the next turn may show another part of the earlier turns", "err", err)
	}
	if cut {
		a.turn.Screen.Notify(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelWarn, Text: fmt.Sprintf(
			"the first %d turns no longer fit the window of %s and are left out", turns, a.turn.Requests.Model())})
	}
}
