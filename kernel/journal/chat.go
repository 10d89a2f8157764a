package journal

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// The limits of what is kept of a chat's message.
const (
	chatTextLimit = 256 << 10 // characters
	chatNameLimit = 200       // characters of a name or a title
)

// Chat is a conversation on a channel.
type Chat struct {
	Channel, Chat string
	Session       string // that of the agent in which it is answered
	Title         string
	Shared        bool // people other than the sender read it
	Last          time.Time
	Unread        int
}

// ChatMessage is a message in a chat, from others or from the agent.
type ChatMessage struct {
	Seq           int64
	Channel, Chat string
	ID            string // assigned by the chat, unique in the channel
	Sender        string // the permanent name of its author, "" for the agent
	Text          string // as people see it
	Time          time.Time
	Event         string // the question that it became, "" if it is none
	Act           string // what of the agent it is part of, "" for a message of others
	ChatFields
}

// ChatFields is what else is known of a message. It is the field fields of its row, and the data of its row in the journal.
type ChatFields struct {
	Kind        string       `json:"kind,omitempty"` // "" for a message, else what happened
	Name        string       `json:"name,omitempty"` // of the author, as they call themselves
	Myself      bool         `json:"myself,omitempty"`
	Mentions    bool         `json:"mentions,omitempty"`
	Forwarded   string       `json:"forwarded,omitempty"`
	ReplyTo     string       `json:"reply-to,omitempty"`
	Edited      time.Time    `json:"edited,omitzero"`
	Deleted     time.Time    `json:"deleted,omitzero"`
	Reactions   []Reaction   `json:"reactions,omitempty"`
	Attachments []Attachment `json:"attachments,omitempty"`
}

// Reaction is somebody's reaction to a message. Sender is "" for the agent.
type Reaction struct {
	Sender string `json:"sender,omitempty"`
	Emoji  string `json:"emoji"`
}

// Attachment is a file of a message. Path is where it is kept; without one Fault says why it is not.
type Attachment struct {
	Name  string `json:"name"`
	Media string `json:"media,omitempty"` // as its bytes say, else as the sender does
	Size  int64  `json:"size"`
	Voice bool   `json:"voice,omitempty"`
	Path  string `json:"path,omitempty"`
	Fault string `json:"fault,omitempty"`
}

// ChatStore holds what was written in the chats of channels.
type ChatStore struct{ *database }

// Put keeps a message with its chat, and reports whether it is new. A message with the same channel and id is kept once; it
// stays as it is, but for the event, which is set if it had none.
func (s *ChatStore) Put(ctx context.Context, chat Chat, m ChatMessage) (fresh bool, err error) {
	if m.ID == "" || m.Channel == "" || m.Chat == "" {
		return false, protocol.Errorf(protocol.CodeInvalidParams, "a message needs a channel, a chat and an id, not %q, %q and %q", m.Channel, m.Chat, m.ID)
	}
	err = s.transact(ctx, "keep a message of a chat", func(ctx context.Context, tx *writer) error {
		if err := putChat(ctx, tx, chat, m.Time); err != nil {
			return err
		}
		fresh, err = putChatMessage(ctx, tx, m, chat.Session)
		return err
	})
	return fresh, err
}

// putChat writes what is known of a chat. A title that is not known stays as it was, and so does a session that is known. A
// chat whose first message was a code has none before the second.
func putChat(ctx context.Context, tx *writer, c Chat, at time.Time) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO chat (channel, chat, session, title, shared, last) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
		ON CONFLICT (channel, chat) DO UPDATE SET session = iif(session = '', ?3, session), title = iif(?4 = '', title, ?4), shared = ?5, last = max(last, ?6)`,
		c.Channel, c.Chat, c.Session, text.PlainLine(c.Title, chatNameLimit), c.Shared, micros(at))
	if err != nil {
		return fmt.Errorf("write the chat %s of %s: %w", c.Chat, c.Channel, err)
	}
	return nil
}

// putChatMessage writes a message, once for its channel and id.
func putChatMessage(ctx context.Context, tx *writer, m ChatMessage, session string) (fresh bool, err error) {
	var event string
	err = tx.QueryRowContext(ctx, "SELECT event FROM chat_message WHERE channel = ? AND id = ?", m.Channel, m.ID).Scan(&event)
	if err == nil {
		if event == "" && m.Event != "" {
			_, err = tx.ExecContext(ctx, "UPDATE chat_message SET event = ? WHERE channel = ? AND id = ?", m.Event, m.Channel, m.ID)
		}
		return false, err
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return false, fmt.Errorf("look for the message %s: %w", m.ID, err)
	}
	m.Text, m.Name = text.Clip(m.Text, chatTextLimit), text.PlainLine(m.Name, chatNameLimit)
	fields, err := json.Marshal(m.ChatFields)
	if err != nil {
		return false, fmt.Errorf("write the message %s: %w", m.ID, err)
	}
	row, err := record(ctx, tx, Entry{Kind: KindChatMessage, Session: session, ID: cmp.Or(m.Event, m.Act)}, chatRow{m.Channel, m.Chat, m.ID, m.Sender, m.Name})
	if err != nil {
		return false, err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO chat_message (seq, channel, chat, id, sender, text, time, event, act, fields) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		row.Seq, m.Channel, m.Chat, m.ID, m.Sender, m.Text, micros(m.Time), m.Event, m.Act, string(fields))
	if err != nil {
		return false, fmt.Errorf("write the message %s: %w", m.ID, err)
	}
	return true, nil
}

// chatRow is the data of a row of the kind chat-message. The text is in the table, where a person can have it removed.
type chatRow struct {
	Channel string `json:"channel"`
	Chat    string `json:"chat"`
	ID      string `json:"id"`
	Sender  string `json:"sender,omitempty"`
	Name    string `json:"name,omitempty"`
}

// Change changes a message, if there is one of that channel and id, and reports whether there is.
func (s *ChatStore) Change(ctx context.Context, channel, id string, change func(*ChatMessage)) (found bool, err error) {
	err = s.transact(ctx, "change a message of a chat", func(ctx context.Context, tx *writer) (err error) {
		found, err = changeChatMessage(ctx, tx, channel, id, change)
		return err
	})
	return found, err
}

func changeChatMessage(ctx context.Context, tx *writer, channel, id string, change func(*ChatMessage)) (found bool, err error) {
	m, err := scanChatMessage(tx.QueryRowContext(ctx, chatMessageQuery+" WHERE channel = ? AND id = ?", channel, id))
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read the message %s: %w", id, err)
	}
	change(&m)
	fields, err := json.Marshal(m.ChatFields)
	if err != nil {
		return false, fmt.Errorf("write the message %s: %w", id, err)
	}
	_, err = tx.ExecContext(ctx, "UPDATE chat_message SET text = ?, fields = ? WHERE seq = ?", text.Clip(m.Text, chatTextLimit), string(fields), m.Seq)
	return true, err
}

const chatMessageQuery = "SELECT seq, channel, chat, id, sender, text, time, event, act, fields FROM chat_message"

func scanChatMessage(row scanner) (m ChatMessage, err error) {
	var at int64
	var fields string
	if err := row.Scan(&m.Seq, &m.Channel, &m.Chat, &m.ID, &m.Sender, &m.Text, &at, &m.Event, &m.Act, &fields); err != nil {
		return m, err
	}
	m.Time = instant(at)
	if fields == "" {
		return m, nil
	}
	return m, json.Unmarshal([]byte(fields), &m.ChatFields)
}

// Message returns a message by the id of its chat. CodeNotFound if there is none.
func (s *ChatStore) Message(ctx context.Context, channel, id string) (ChatMessage, error) {
	m, err := scanChatMessage(s.readers.QueryRowContext(ctx, chatMessageQuery+" WHERE channel = ? AND id = ?", channel, id))
	if errors.Is(err, sql.ErrNoRows) {
		return m, protocol.Errorf(protocol.CodeNotFound, "there is no message %q of %s", id, channel)
	}
	return m, s.failure(ctx, "read a message", err)
}

// Messages returns the last messages of a chat before a row, the oldest first. Row 0 means all.
func (s *ChatStore) Messages(ctx context.Context, channel, chat string, before int64, limit int) ([]ChatMessage, error) {
	messages, err := collect(ctx, s.readers, scanChatMessage, "SELECT * FROM ("+chatMessageQuery+
		" WHERE channel = ?1 AND chat = ?2 AND (?3 = 0 OR seq < ?3) ORDER BY seq DESC LIMIT ?4) ORDER BY seq", channel, chat, before, limit)
	return messages, s.failure(ctx, "read the messages of a chat", err)
}

// Chats returns all chats, the one with the latest message first.
func (s *ChatStore) Chats(ctx context.Context) ([]Chat, error) {
	chats, err := collect(ctx, s.readers, scanChat, chatQuery+" ORDER BY last DESC, channel, chat")
	return chats, s.failure(ctx, "read the chats", err)
}

// Chat returns a chat. CodeNotFound if it is not known.
func (s *ChatStore) Chat(ctx context.Context, channel, chat string) (Chat, error) {
	c, err := scanChat(s.readers.QueryRowContext(ctx, chatQuery+" WHERE channel = ? AND chat = ?", channel, chat))
	if errors.Is(err, sql.ErrNoRows) {
		return c, unknownChat(channel, chat)
	}
	return c, s.failure(ctx, "read a chat", err)
}

const chatQuery = `SELECT channel, chat, session, title, shared, last, (SELECT count(*) FROM chat_message AS m
	WHERE m.channel = chat.channel AND m.chat = chat.chat AND m.seq > chat.seen AND m.act = '') FROM chat`

func scanChat(row scanner) (c Chat, err error) {
	var last int64
	err = row.Scan(&c.Channel, &c.Chat, &c.Session, &c.Title, &c.Shared, &last, &c.Unread)
	c.Last = instant(last)
	return c, err
}

func unknownChat(channel, chat string) error {
	return protocol.Errorf(protocol.CodeNotFound, "nobody has written in the chat %q of %s yet", chat, channel)
}

// SessionOf returns the session in which a chat is answered, "" for a chat that is not known.
func (s *ChatStore) SessionOf(ctx context.Context, channel, chat string) (session string, err error) {
	err = s.readers.QueryRowContext(ctx, "SELECT session FROM chat WHERE channel = ? AND chat = ?", channel, chat).Scan(&session)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return session, s.failure(ctx, "read the session of a chat", err)
}

// SetSession has a chat answered in a session from now on. CodeNotFound if the chat is not known.
func (s *ChatStore) SetSession(ctx context.Context, channel, chat, session string) error {
	return s.transact(ctx, "carry a conversation into a chat", func(ctx context.Context, tx *writer) error {
		result, err := tx.ExecContext(ctx, "UPDATE chat SET session = ? WHERE channel = ? AND chat = ?", session, channel, chat)
		if err != nil {
			return fmt.Errorf("write the chat %s of %s: %w", chat, channel, err)
		}
		if n, err := result.RowsAffected(); err != nil || n > 0 {
			return err
		}
		return unknownChat(channel, chat)
	})
}

// MarkSeen records that the owner saw all messages of a chat.
func (s *ChatStore) MarkSeen(ctx context.Context, channel, chat string) error {
	return s.transact(ctx, "mark a chat as seen", func(ctx context.Context, tx *writer) error {
		_, err := tx.ExecContext(ctx, "UPDATE chat SET seen = (SELECT coalesce(max(seq), 0) FROM chat_message AS m WHERE m.channel = ?1 AND m.chat = ?2) WHERE channel = ?1 AND chat = ?2", channel, chat)
		return err
	})
}

// Said returns how many messages of a sender became questions since a moment.
func (s *ChatStore) Said(ctx context.Context, channel, sender string, since time.Time) (count int, err error) {
	err = s.readers.QueryRowContext(ctx, "SELECT count(*) FROM chat_message WHERE channel = ? AND sender = ? AND event <> '' AND time >= ?", channel, sender, micros(since)).Scan(&count)
	return count, s.failure(ctx, "count the messages of a sender", err)
}

// Spent returns what the answers to a sender have cost since a moment, in dollars.
func (s *ChatStore) Spent(ctx context.Context, channel, sender string, since time.Time) (cost float64, err error) {
	err = s.readers.QueryRowContext(ctx, `SELECT coalesce(sum(t.cost), 0) FROM chat_message AS m JOIN turn AS t ON t.event = m.event
		WHERE m.channel = ? AND m.sender = ? AND m.event <> '' AND m.time >= ?`, channel, sender, micros(since)).Scan(&cost)
	return cost, s.failure(ctx, "sum up what the answers to a sender cost", err)
}

// ChannelState keeps what drivers keep.
type ChannelState struct{ *database }

// Load returns a value of a channel, "" for one that was never stored.
func (s *ChannelState) Load(ctx context.Context, channel, key string) (value string, err error) {
	err = s.readers.QueryRowContext(ctx, "SELECT value FROM channel_state WHERE channel = ? AND key = ?", channel, key).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return value, s.failure(ctx, "read what a channel keeps", err)
}

// Store stores a value of a channel. An empty one is removed.
func (s *ChannelState) Store(ctx context.Context, channel, key, value string) error {
	return s.transact(ctx, "keep something for a channel", func(ctx context.Context, tx *writer) error {
		query := "INSERT INTO channel_state (channel, key, value) VALUES (?1, ?2, ?3) ON CONFLICT (channel, key) DO UPDATE SET value = ?3"
		if value == "" {
			query = "DELETE FROM channel_state WHERE channel = ?1 AND key = ?2 AND ?3 = ''"
		}
		_, err := tx.ExecContext(ctx, query, channel, key, value)
		return err
	})
}
