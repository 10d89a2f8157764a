package outbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/journal"
)

// place is where a message comes: that of the draft of its turn.
type place struct {
	Draft string `json:"draft"` // the ID of the queued draft
	// Below says that the turn sent something below the draft. The draft is deleted then, and the message is sent as a new
	// one, because people read downwards.
	Below bool `json:"below,omitempty"`
}

// Draft returns the message as which a chat gets the beginning of an act that is still being written. There is one for an
// act. If it cannot be sent, it is dropped and nobody is told, because the answer follows it.
func Draft(name string, m Message, now time.Time) (journal.Outgoing, error) {
	data, err := json.Marshal(body{Text: m.Text.Plain, Spans: m.Text.Spans, Draft: true})
	if err != nil {
		return journal.Outgoing{}, fmt.Errorf("queue a draft to %s on %s: %w", m.Chat, name, err)
	}
	return journal.Outgoing{ID: m.Act + ".draft", Act: m.Act, Turn: m.Turn, Session: m.Session, Channel: name, Chat: m.Chat, Body: data, Queued: now}, nil
}

// Standing returns the draft that stands in a chat, or will, of the messages of a turn in their order. below says that others
// follow it there. A draft that a message replaces does not stand any more.
func Standing(messages []journal.Outgoing, name, chat string) (draft journal.Outgoing, below, stands bool) {
	for _, m := range messages {
		if m.Channel != name || m.Chat != chat {
			continue
		}
		b := bodyOf(m)
		switch {
		case b.Draft:
			draft, below, stands = m, false, m.State != journal.OutgoingFailed && m.State != journal.OutgoingUnknown
		case b.Replaces != nil && b.Replaces.Draft == draft.ID:
			stands = false
		default:
			below = true
		}
	}
	return draft, below, stands
}

// IsDraft reports whether a queued message is a draft.
func IsDraft(m journal.Outgoing) bool { return bodyOf(m).Draft }

// bodyOf returns what the journal keeps of a message, an empty body for one that cannot be read.
func bodyOf(m journal.Outgoing) (b body) {
	if json.Unmarshal(m.Body, &b) != nil {
		return body{}
	}
	return b
}

// replacing has the first of the messages come in the place of a draft. Without a message, the draft is only deleted.
func replacing(messages []journal.Outgoing, draft journal.Outgoing, below bool, act journal.Act, now time.Time) ([]journal.Outgoing, error) {
	if len(messages) == 0 {
		messages = []journal.Outgoing{{ID: act.ID + ".1", Act: act.ID, Turn: act.Turn, Session: act.Session, Channel: draft.Channel, Chat: draft.Chat, Body: json.RawMessage("{}"), Queued: now}}
	}
	b := bodyOf(messages[0])
	b.Replaces = &place{Draft: draft.ID, Below: below}
	data, err := json.Marshal(b)
	if err != nil {
		return nil, fmt.Errorf("queue a message to %s on %s: %w", draft.Chat, draft.Channel, err)
	}
	messages[0].Body = data
	return messages, nil
}

// draftOf returns the id that a chat gave to the draft which a message replaces, "" for none.
func (o *Outbox) draftOf(ctx context.Context, m journal.Outgoing) (string, error) {
	at := bodyOf(m).Replaces
	if at == nil {
		return "", nil
	}
	messages, err := o.config.Store.OfTurn(ctx, m.Turn)
	if err != nil {
		return "", fmt.Errorf("look for the draft %s: %w", at.Draft, err)
	}
	for _, other := range messages {
		if other.ID == at.Draft {
			return other.Sent, nil
		}
	}
	return "", nil
}

// replace puts a message in the place of a draft. done says that nothing is left to be sent. It may be called again: it
// leaves the same behind. A draft that cannot be changed is deleted.
func replace(ctx context.Context, d channel.Driver, draft string, m *journal.Outgoing, out channel.Outgoing) (done bool, err error) {
	at, empty := bodyOf(*m).Replaces, out.Text.Plain == "" && out.File == nil
	if draft == "" {
		return empty, nil
	}
	if editor, ok := d.(channel.Editor); ok && !at.Below && !empty && out.File == nil {
		if err := editor.Edit(ctx, out.Chat, draft, out.Text); err == nil {
			m.Sent = draft
			return true, nil
		} else if !isRefused(err) {
			return false, again(err)
		}
	}
	if deleter, ok := d.(channel.Deleter); ok {
		if err := deleter.Delete(ctx, out.Chat, draft); err != nil && !isRefused(err) {
			return false, again(err)
		}
	}
	m.Removed = draft
	return empty, nil
}

func isRefused(err error) bool {
	failure, ok := errors.AsType[*channel.Failure](err)
	return ok && failure.Class == channel.Refused
}

// again returns the error of a change, which is made again where it is not known whether it was made.
func again(err error) error {
	if failure, ok := errors.AsType[*channel.Failure](err); ok && failure.Class == channel.Unknown {
		return &channel.Failure{Class: channel.Temporary, RetryAfter: failure.RetryAfter, Err: err}
	}
	return err
}
