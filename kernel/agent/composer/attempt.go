package composer

import (
	"context"
	"encoding/json"
	"fmt"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// Attempt reads what the journal has of a turn and of earlier attempts at it. Its methods are those of a
// [Program].
type Attempt struct {
	Turn journal.Turn
	// Begun is what was done for the answer before the kernel ended. Waits is set if the turn waited for
	// a person then.
	Begun journal.Progress
	Waits bool
	Rows  Rows
	Sent  SentItems
}

// Rows are rows of the journal.
type Rows interface {
	Entries(ctx context.Context, query journal.Query) ([]journal.Entry, error)
}

// SentItems reads the items that were sent along with a question, by the question's event.
type SentItems interface {
	Context(ctx context.Context, event string) ([]protocol.ContextItem, error)
}

// Items are what the person sent along with the question, with their data.
func (a Attempt) Items(ctx context.Context) ([]protocol.ContextItem, error) {
	if len(a.Turn.Question.Context) == 0 {
		return nil, nil
	}
	items, err := a.Sent.Context(ctx, a.Turn.Event)
	if err != nil {
		return nil, fmt.Errorf("read what went along with the message: %w", err)
	}
	return items, nil
}

// System is the system prompt of an earlier attempt. A turn that waited for a person while the kernel
// was restarted sends the same one again, even if files have changed since: without the restart it
// would have done so, too.
func (a Attempt) System(ctx context.Context, purpose string) (string, bool, error) {
	for _, sent := range a.Begun.Requests {
		if sent.For != purpose || !a.Waits {
			continue
		}
		rows, err := a.Rows.Entries(ctx, journal.Query{
			Turn: a.Turn.ID, Kinds: []journal.Kind{journal.KindModelRequest}, After: sent.Seq - 1, Limit: 1})
		if err != nil || len(rows) == 0 {
			return "", false, fmt.Errorf("read the system prompt of an earlier attempt: %w", err)
		}
		var request struct{ System string }
		if err := json.Unmarshal(rows[0].Data, &request); err != nil {
			return "", false, fmt.Errorf("read the system prompt of an earlier attempt: %w", err)
		}
		return request.System, true, nil
	}
	return "", false, nil
}

// Recalled is what an earlier attempt at the turn was reminded of, nil if there was no attempt.
func (a Attempt) Recalled(ctx context.Context) (*Recalled, error) {
	rows, err := a.Rows.Entries(ctx, journal.Query{Turn: a.Turn.ID, Kinds: []journal.Kind{journal.KindRecall}, Latest: true, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		if a.Begun.First() > 0 { // the model was asked, and nothing was recalled
			return &Recalled{}, nil
		}
		return nil, nil
	}
	var recalled Recalled
	if err := json.Unmarshal(rows[0].Data, &recalled); err != nil {
		return nil, fmt.Errorf("read what the turn was reminded of: %w", err)
	}
	return &recalled, nil
}
