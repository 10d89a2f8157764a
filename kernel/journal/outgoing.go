package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"org-agent/kernel/protocol"
)

// OutgoingState is what became of a message that is to be sent.
type OutgoingState string

// The states. The last three are final.
const (
	OutgoingWaiting OutgoingState = "waiting" // for its turn, or to be tried again
	OutgoingSending OutgoingState = "sending" // it is being sent, or was when the kernel ended
	OutgoingSent    OutgoingState = "sent"
	OutgoingFailed  OutgoingState = "failed"
	OutgoingUnknown OutgoingState = "unknown" // it may have been sent
)

// Outgoing is a message that is to be sent to a chat.
type Outgoing struct {
	Seq           int64
	ID            string // the same message has the same id
	Act           string // the act that it is part of
	Turn          string // of the act, "" for none
	Session       string // in which the act stands, "" for none
	Channel, Chat string
	Body          json.RawMessage // what the channel sends; it is not interpreted here
	State         OutgoingState
	Attempts      int
	Next          time.Time // when it is tried again
	Queued        time.Time
	Sent          string // the id that the chat gave to it
	Failure       string // why it was not sent the last time
	// Removed is the id of a message of the chat that was deleted for it. It is only given to Set.
	Removed string
}

// OutgoingStore holds what is to be sent to chats.
type OutgoingStore struct{ *database }

// Queue has messages wait, in their order, each once for its id.
func (s *OutgoingStore) Queue(ctx context.Context, messages ...Outgoing) error {
	if len(messages) == 0 {
		return nil
	}
	return s.transact(ctx, "queue a message", func(ctx context.Context, tx *writer) error { return queueOutgoing(ctx, tx, messages) })
}

func queueOutgoing(ctx context.Context, tx *writer, messages []Outgoing) error {
	for _, m := range messages {
		if m.ID == "" || m.Channel == "" || m.Chat == "" {
			return protocol.Errorf(protocol.CodeInvalidParams, "a message to a chat needs an id, a channel and a chat, not %q, %q and %q", m.ID, m.Channel, m.Chat)
		}
		var known bool
		if err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM outgoing WHERE id = ?)", m.ID).Scan(&known); err != nil {
			return fmt.Errorf("look for the message %s: %w", m.ID, err)
		}
		if known {
			continue
		}
		row, err := record(ctx, tx, Entry{Kind: KindOutgoing, Session: m.Session, Turn: m.Turn, ID: m.Act}, outgoingRow{m.ID, m.Channel, m.Chat})
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO outgoing (seq, id, act, turn, session, channel, chat, body, queued) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
			row.Seq, m.ID, m.Act, m.Turn, m.Session, m.Channel, m.Chat, string(m.Body), micros(m.Queued))
		if err != nil {
			return fmt.Errorf("queue the message %s: %w", m.ID, err)
		}
	}
	return nil
}

// outgoingRow is the data of a row of the kind outgoing.
type outgoingRow struct {
	ID      string `json:"id"`
	Channel string `json:"channel"`
	Chat    string `json:"chat"`
}

const outgoingQuery = "SELECT seq, id, act, turn, session, channel, chat, body, state, attempts, next, queued, sent, failure FROM outgoing"

func scanOutgoing(row scanner) (m Outgoing, err error) {
	var next, queued int64
	var body string
	err = row.Scan(&m.Seq, &m.ID, &m.Act, &m.Turn, &m.Session, &m.Channel, &m.Chat, &body, &m.State, &m.Attempts, &next, &queued, &m.Sent, &m.Failure)
	m.Body, m.Next, m.Queued = json.RawMessage(body), instant(next), instant(queued)
	return m, err
}

// Open returns the first message of each chat of a channel that is not sent yet, in the order in which they were queued.
func (s *OutgoingStore) Open(ctx context.Context, channel string) ([]Outgoing, error) {
	messages, err := collect(ctx, s.readers, scanOutgoing, outgoingQuery+
		" WHERE seq IN (SELECT min(seq) FROM outgoing WHERE channel = ? AND state IN ('waiting', 'sending') GROUP BY chat) ORDER BY seq", channel)
	return messages, s.failure(ctx, "read what is to be sent", err)
}

// Of returns the messages that are part of an act, in their order.
func (s *OutgoingStore) Of(ctx context.Context, act string) ([]Outgoing, error) {
	messages, err := collect(ctx, s.readers, scanOutgoing, outgoingQuery+" WHERE act = ? ORDER BY seq", act)
	return messages, s.failure(ctx, "read what an act sends", err)
}

// OfTurn returns the messages of a turn, in their order.
func (s *OutgoingStore) OfTurn(ctx context.Context, turn string) ([]Outgoing, error) {
	if turn == "" {
		return nil, nil
	}
	messages, err := collect(ctx, s.readers, scanOutgoing, outgoingQuery+" WHERE turn = ? ORDER BY seq", turn)
	return messages, s.failure(ctx, "read what a turn sends", err)
}

// Set records what became of a message: its State, Attempts, Next, Sent and Failure. A sent message becomes a message of its
// chat with text, as people see it; a message of that id which an act sent before is changed to it. CodeNotFound if there is no message of that id, CodeConflict if its state is final.
func (s *OutgoingStore) Set(ctx context.Context, m Outgoing, text string, fields ChatFields, at time.Time) error {
	return s.transact(ctx, "record what became of a message", func(ctx context.Context, tx *writer) error {
		before, err := scanOutgoing(tx.QueryRowContext(ctx, outgoingQuery+" WHERE id = ?", m.ID))
		if errors.Is(err, sql.ErrNoRows) {
			return protocol.Errorf(protocol.CodeNotFound, "there is no message %q to be sent", m.ID)
		}
		if err != nil {
			return fmt.Errorf("read the message %s: %w", m.ID, err)
		}
		if before.State != OutgoingWaiting && before.State != OutgoingSending {
			return protocol.Errorf(protocol.CodeConflict, "the message %s is %s already", m.ID, before.State)
		}
		if _, err := tx.ExecContext(ctx, "UPDATE outgoing SET state = ?, attempts = ?, next = ?, sent = ?, failure = ? WHERE seq = ?",
			string(m.State), m.Attempts, micros(m.Next), m.Sent, m.Failure, before.Seq); err != nil {
			return fmt.Errorf("change the message %s: %w", m.ID, err)
		}
		if m.State == OutgoingWaiting || m.State == OutgoingSending {
			return nil
		}
		if _, err := record(ctx, tx, Entry{Kind: KindOutgoingChange, Session: before.Session, Turn: before.Turn, ID: before.Act}, outgoingChange{m.ID, m.State, m.Sent, m.Failure}); err != nil {
			return err
		}
		if m.Removed != "" {
			_, err := changeChatMessage(ctx, tx, before.Channel, m.Removed, func(old *ChatMessage) { old.Text, old.Deleted = "", at })
			if err != nil {
				return err
			}
		}
		if m.State != OutgoingSent || m.Sent == "" {
			return nil
		}
		chat := Chat{Channel: before.Channel, Chat: before.Chat, Session: before.Session}
		if _, err := tx.ExecContext(ctx, "INSERT INTO chat (channel, chat, session, last) VALUES (?1, ?2, ?3, ?4) ON CONFLICT (channel, chat) DO UPDATE SET last = max(last, ?4)",
			chat.Channel, chat.Chat, chat.Session, micros(at)); err != nil {
			return fmt.Errorf("write the chat %s of %s: %w", chat.Chat, chat.Channel, err)
		}
		fresh, err := putChatMessage(ctx, tx, ChatMessage{Channel: before.Channel, Chat: before.Chat, ID: m.Sent, Text: text, Time: at, Act: before.Act, ChatFields: fields}, before.Session)
		if err == nil && !fresh {
			_, err = changeChatMessage(ctx, tx, before.Channel, m.Sent, func(old *ChatMessage) {
				if old.Act != "" {
					old.Text = text
				}
			})
		}
		return err
	})
}

// outgoingChange is the data of a row of the kind outgoing-change.
type outgoingChange struct {
	ID      string        `json:"id"`
	State   OutgoingState `json:"state"`
	Sent    string        `json:"sent,omitempty"`
	Failure string        `json:"failure,omitempty"`
}
