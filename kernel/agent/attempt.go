package agent

import (
	"context"
	"encoding/json"
	"fmt"

	"org-agent/kernel/agent/composer"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
)

// attempt reads what the journal has of a turn and of earlier attempts at it.
type attempt struct {
	turn  *session.Turn
	rows  entries
	turns Turns
}

// items are what the person sent along with the question, with their data.
func (a attempt) items(ctx context.Context) ([]protocol.ContextItem, error) {
	if len(a.turn.Record.Question.Context) == 0 {
		return nil, nil
	}
	items, err := a.turns.Context(ctx, a.turn.Record.Event)
	if err != nil {
		return nil, fmt.Errorf("read what went along with the message: %w", err)
	}
	return items, nil
}

// system is the system prompt of an earlier attempt. A turn that waited for a person while the kernel
// was restarted sends the same one again, even if files have changed since: without the restart it
// would have done so, too.
func (a attempt) system(ctx context.Context, purpose string) (string, bool, error) {
	for _, sent := range a.turn.Begun.Requests {
		if sent.For != purpose || !a.turn.Waits() {
			continue
		}
		rows, err := a.rows.Entries(ctx, journal.Query{
			Turn: a.turn.Record.ID, Kinds: []journal.Kind{journal.KindModelRequest}, After: sent.Seq - 1, Limit: 1})
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

// recalled is what an earlier attempt at the turn was reminded of, nil if there was no attempt.
func (a attempt) recalled(ctx context.Context) (*composer.Recalled, error) {
	rows, err := a.rows.Entries(ctx, journal.Query{Turn: a.turn.Record.ID, Kinds: []journal.Kind{journal.KindRecall}, Latest: true, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		if a.turn.Begun.First() > 0 { // the model was asked, and nothing was recalled
			return &composer.Recalled{}, nil
		}
		return nil, nil
	}
	var recalled composer.Recalled
	if err := json.Unmarshal(rows[0].Data, &recalled); err != nil {
		return nil, fmt.Errorf("read what the turn was reminded of: %w", err)
	}
	return &recalled, nil
}
