package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"org-agent/kernel/agent/composer"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
)

// records is what is read of the journal for a turn.
type records interface {
	Entries(ctx context.Context, query journal.Query) ([]journal.Entry, error)
	Context(ctx context.Context, event string) ([]protocol.ContextItem, error)
	ToolStep(ctx context.Context, session string, seq int64) (journal.ToolStep, error)
}

// attempt reads what the journal has of a turn, and of earlier attempts at it.
type attempt struct {
	turn    *session.Turn
	journal records
}

// items are what the person sent along with the question, whole.
func (b attempt) items(ctx context.Context) ([]protocol.ContextItem, error) {
	if len(b.turn.Record.Question.Context) == 0 {
		return nil, nil
	}
	items, err := b.journal.Context(ctx, b.turn.Record.Event)
	if err != nil {
		return nil, fmt.Errorf("read what went along with the message: %w", err)
	}
	return items, nil
}

// system is what the model was told before the conversation by an earlier attempt. A turn
// that waited for a person while the kernel was started anew tells it that again, though files may
// have changed since: so would it have done without the kernel's end.
func (b attempt) system(ctx context.Context, purpose string) (string, bool, error) {
	for _, sent := range b.turn.Begun.Requests {
		if sent.For != purpose || !b.turn.Waits() {
			continue
		}
		rows, err := b.journal.Entries(ctx, journal.Query{
			Turn: b.turn.Record.ID, Kinds: []journal.Kind{journal.KindModelRequest}, After: sent.Seq - 1, Limit: 1})
		if err != nil || len(rows) == 0 {
			return "", false, fmt.Errorf("read what the model was told: %w", err)
		}
		var told struct{ System string }
		if err := json.Unmarshal(rows[0].Data, &told); err != nil {
			return "", false, fmt.Errorf("read what the model was told: %w", err)
		}
		return told.System, true, nil
	}
	return "", false, nil
}

// recalled is what an earlier attempt at the turn was reminded of; nil where there was none.
func (b attempt) recalled(ctx context.Context) (*composer.Recalled, error) {
	rows, err := b.journal.Entries(ctx, journal.Query{Turn: b.turn.Record.ID, Kinds: []journal.Kind{journal.KindRecall}, Latest: true, Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		if b.turn.Begun.First() > 0 { // it was asked, and reminded of nothing
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

// result is what came of a call of this conversation: the number of its round, and of a
// batch the number of the call behind a point.
func (b attempt) result(ctx context.Context, id string) (string, error) {
	number, call, batch := strings.Cut(strings.TrimSpace(id), ".")
	seq, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		return "", fmt.Errorf("%q is the id of no result: it is the number that stands where one is left out", id)
	}
	round, err := b.journal.ToolStep(ctx, b.turn.Record.Session, seq)
	if err != nil {
		return "", err
	}
	if !batch {
		return round.Text, nil
	}
	n, err := strconv.Atoi(call)
	if err != nil || n < 1 || n > len(round.Calls) {
		return "", fmt.Errorf("the batch %d has %d calls, and %q is none of them", seq, len(round.Calls), id)
	}
	return round.Calls[n-1].Text, nil
}
