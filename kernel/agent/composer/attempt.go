package composer

import (
	"context"
	"encoding/json"
	"fmt"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// Attempt reads a turn and earlier attempts at it from the journal. Its methods serve as functions of a
// [Program].
type Attempt struct {
	Turn journal.Turn
	// Progress is the progress of the turn before a restart of the kernel. AwaitsPerson is set if the
	// turn waited for a person then.
	Progress     journal.Progress
	AwaitsPerson bool
	Rows         Rows
	Attachments  Attachments
}

// Rows are rows of the journal.
type Rows interface {
	Entries(ctx context.Context, query journal.Query) ([]journal.Entry, error)
}

// Attachments reads the items that were sent along with a question, by the question's event.
type Attachments interface {
	Context(ctx context.Context, event string) ([]protocol.ContextItem, error)
}

// Items returns the items that the person sent along with the question, with their data.
func (a Attempt) Items(ctx context.Context) ([]protocol.ContextItem, error) {
	if len(a.Turn.Question.Context) == 0 {
		return nil, nil
	}
	items, err := a.Attachments.Context(ctx, a.Turn.Event)
	if err != nil {
		return nil, fmt.Errorf("read the attachments of the message: %w", err)
	}
	return items, nil
}

// System returns the system prompt of an earlier attempt. A turn that waited for a person during a
// restart of the kernel sends the same one again, even if files have changed since, as it would have
// done without the restart.
func (a Attempt) System(ctx context.Context, purpose string) (string, bool, error) {
	for _, sent := range a.Progress.Requests {
		if sent.For != purpose || !a.AwaitsPerson {
			continue
		}
		rows, err := a.Rows.Entries(ctx, journal.Query{
			Turn: a.Turn.ID, Kinds: []journal.Kind{journal.KindModelRequest}, After: sent.Seq - 1, Limit: 1})
		if err != nil || len(rows) == 0 {
			return "", false, fmt.Errorf("read the system prompt of an earlier attempt: %w", err)
		}
		var request struct {
			System string
			journal.Stub
		}
		if err := json.Unmarshal(rows[0].Data, &request); err != nil {
			return "", false, fmt.Errorf("read the system prompt of an earlier attempt: %w", err)
		}
		if request.Missing != "" {
			return "", false, nil // the archive was removed: it is made again
		}
		return request.System, true, nil
	}
	return "", false, nil
}

// Reminders returns the reminders of an earlier attempt at the turn, nil if there was none.
func (a Attempt) Reminders(ctx context.Context) (*Reminders, error) {
	rows, err := a.Rows.Entries(ctx, journal.Query{Turn: a.Turn.ID, Kinds: []journal.Kind{journal.KindRecall}, Latest: true, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		if a.Progress.First() > 0 { // the model was asked, and there were no reminders
			return &Reminders{}, nil
		}
		return nil, nil
	}
	var recalled Reminders
	if err := json.Unmarshal(rows[0].Data, &recalled); err != nil {
		return nil, fmt.Errorf("read the reminders of the turn: %w", err)
	}
	return &recalled, nil
}
