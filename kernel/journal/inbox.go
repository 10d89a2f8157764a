package journal

import (
	"context"
	"fmt"
	"time"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// The limits of the inbox. Beyond them the oldest item is forgotten, one that was read before one that was not, and the
// end of a text is left out. Whole texts are in the conversations.
const (
	inboxLimit     = 500
	inboxTitle     = 200     // characters
	inboxTextLimit = 8 << 10 // characters
)

// InboxStore holds what is kept for the owner until they read it.
type InboxStore struct{ *database }

// inboxRow is the data of a row of the kind inbox.
type inboxRow struct {
	Kind  protocol.InboxKind `json:"kind"`
	Title string             `json:"title"`
}

// Put keeps an item, once for its id, and reports whether it is new. Only the first five fields of the item are read: it is unread, and
// of the moment at. Whom an item is about who is a stranger is in its id. forgotten is how many unread items were forgotten for it.
func (s *InboxStore) Put(ctx context.Context, item protocol.InboxItem, at time.Time) (fresh bool, forgotten int, err error) {
	if item.ID == "" || item.Kind == "" {
		return false, 0, protocol.Errorf(protocol.CodeInvalidParams, "an item of the inbox needs an id and a kind, not %q and %q", item.ID, item.Kind)
	}
	item.Title, item.Text = text.PlainLine(item.Title, inboxTitle), text.Clip(item.Text, inboxTextLimit)
	err = s.transact(ctx, "keep something in the inbox", func(ctx context.Context, tx *writer) error {
		var known bool
		if err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM inbox WHERE id = ?)", item.ID).Scan(&known); err != nil || known {
			return err
		}
		row, err := record(ctx, tx, Entry{Kind: KindInbox, Session: item.Session, ID: item.ID}, inboxRow{item.Kind, item.Title})
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO inbox (seq, id, kind, session, title, text, time) VALUES (?, ?, ?, ?, ?, ?, ?)",
			row.Seq, item.ID, string(item.Kind), item.Session, item.Title, item.Text, micros(at)); err != nil {
			return fmt.Errorf("keep the item %s: %w", item.ID, err)
		}
		fresh = true
		forgotten, err = forgetItems(ctx, tx)
		return err
	})
	return fresh, forgotten, err
}

// forgetItems removes what is beyond the limit, and returns how much of it was unread.
func forgetItems(ctx context.Context, tx *writer) (unread int, err error) {
	const excess = "SELECT seq FROM inbox ORDER BY read = 0, seq LIMIT max(0, (SELECT count(*) FROM inbox) - ?)"
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM inbox WHERE read = 0 AND seq IN ("+excess+")", inboxLimit).Scan(&unread); err != nil {
		return 0, fmt.Errorf("count what is forgotten: %w", err)
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM inbox WHERE seq IN ("+excess+")", inboxLimit)
	return unread, err
}

const inboxQuery = "SELECT id, kind, session, title, text, time, read <> 0 FROM inbox ORDER BY read <> 0, seq DESC"

// Items returns all items, the unread first, and then the latest first.
func (s *InboxStore) Items(ctx context.Context) ([]protocol.InboxItem, error) {
	items, err := collect(ctx, s.readers, func(row scanner) (i protocol.InboxItem, err error) {
		var at int64
		err = row.Scan(&i.ID, &i.Kind, &i.Session, &i.Title, &i.Text, &at, &i.Read)
		i.Time = instant(at).Format(time.RFC3339)
		if i.Kind == protocol.InboxStranger {
			channel, sender := protocol.Stranger(i.ID)
			i.Channel, i.Sender = protocol.Channel(channel), sender
		}
		return i, err
	}, inboxQuery)
	return items, s.failure(ctx, "read the inbox", err)
}

// Unread returns how many items were not read.
func (s *InboxStore) Unread(ctx context.Context) (count int, err error) {
	err = s.readers.QueryRowContext(ctx, "SELECT count(*) FROM inbox WHERE read = 0").Scan(&count)
	return count, s.failure(ctx, "count what is unread", err)
}

// Mark records that items were read at a moment, or with a zero time that they were not. CodeNotFound if one of the ids is
// that of no item; then nothing is marked.
func (s *InboxStore) Mark(ctx context.Context, ids []string, at time.Time) error {
	return s.transact(ctx, "mark what was read", func(ctx context.Context, tx *writer) error {
		for _, id := range ids {
			result, err := tx.ExecContext(ctx, "UPDATE inbox SET read = ? WHERE id = ?", micros(at), id)
			if err != nil {
				return fmt.Errorf("mark the item %s: %w", id, err)
			}
			if n, err := result.RowsAffected(); err != nil {
				return err
			} else if n == 0 {
				return protocol.Errorf(protocol.CodeNotFound, "the inbox has no item %q", id)
			}
		}
		return nil
	})
}

// MarkAll is Mark for every item.
func (s *InboxStore) MarkAll(ctx context.Context, at time.Time) error {
	return s.transact(ctx, "mark what was read", func(ctx context.Context, tx *writer) error {
		_, err := tx.ExecContext(ctx, "UPDATE inbox SET read = ? WHERE (read = 0) = ?", micros(at), !at.IsZero())
		return err
	})
}
