package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"org-agent/kernel/protocol"
)

// contextData is the data of a context row.
type contextData struct {
	Items []protocol.ContextItem `json:"items"`
}

// withoutContent returns the items without their content, for the row of the event, which is read
// for many turns at a time.
func withoutContent(items []protocol.ContextItem) []protocol.ContextItem {
	if len(items) == 0 {
		return nil
	}
	list := make([]protocol.ContextItem, len(items))
	for i, item := range items {
		list[i] = item.WithoutContent()
	}
	return list
}

// recordContext writes the context items that were sent with an event, if there are any.
func recordContext(ctx context.Context, tx *writer, event Entry, items []protocol.ContextItem) error {
	if len(items) == 0 {
		return nil
	}
	_, err := record(ctx, tx, Entry{Time: event.Time, Kind: KindContext, Session: event.Session, Turn: event.Turn, ID: event.ID}, contextData{items})
	return err
}

// copyContext copies the context items of the turn origin to an event that is a copy of its own.
func copyContext(ctx context.Context, tx *writer, origin string, event Entry) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO journal (time, kind, session, turn, id, data)
		SELECT time, kind, ?, ?, ?, data FROM journal WHERE kind = ? AND id = (SELECT event FROM turn WHERE id = ?)`,
		event.Session, event.Turn, event.ID, string(KindContext), origin)
	if err != nil {
		return fmt.Errorf("copy the context of the turn %s: %w", origin, err)
	}
	return nil
}

// Context returns the context items that were sent with an event, whole; nil if there were none.
func (s *TurnStore) Context(ctx context.Context, event string) ([]protocol.ContextItem, error) {
	var row []byte
	err := s.readers.QueryRowContext(ctx, "SELECT data FROM journal WHERE id = ? AND kind = ?", event, string(KindContext)).Scan(&row)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	var data contextData
	if err == nil {
		err = json.Unmarshal(row, &data)
	}
	if err != nil {
		return nil, s.failure(ctx, "read the context of an event", fmt.Errorf("of the event %s: %w", event, err))
	}
	return data.Items, nil
}
