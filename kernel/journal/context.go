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

// told is the items without what they hold, for the event's own row: that one is read
// for many turns at a time.
func told(items []protocol.ContextItem) []protocol.ContextItem {
	if len(items) == 0 {
		return nil
	}
	list := make([]protocol.ContextItem, len(items))
	for i, item := range items {
		list[i] = item.Told()
	}
	return list
}

// recordContext writes what went along with the event of a row, if anything did.
func recordContext(ctx context.Context, tx *writer, event Entry, items []protocol.ContextItem) error {
	if len(items) == 0 {
		return nil
	}
	_, err := record(ctx, tx, Entry{Time: event.Time, Kind: KindContext, Session: event.Session, Turn: event.Turn, ID: event.ID}, contextData{items})
	return err
}

// copyContext writes what went along with the event of the turn origin once more, for an
// event that is a copy of it.
func copyContext(ctx context.Context, tx *writer, origin string, event Entry) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO journal (time, kind, session, turn, id, data)
		SELECT time, kind, ?, ?, ?, data FROM journal WHERE kind = ? AND id = (SELECT event FROM turn WHERE id = ?)`,
		event.Session, event.Turn, event.ID, string(KindContext), origin)
	if err != nil {
		return fmt.Errorf("copy the context of the turn %s: %w", origin, err)
	}
	return nil
}

// Context returns what went along with an event, whole; nothing if nothing did.
func (j *Journal) Context(ctx context.Context, event string) ([]protocol.ContextItem, error) {
	var row []byte
	err := j.readers.QueryRowContext(ctx, "SELECT data FROM journal WHERE id = ? AND kind = ?", event, string(KindContext)).Scan(&row)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	var data contextData
	if err == nil {
		err = json.Unmarshal(row, &data)
	}
	if err != nil {
		return nil, j.failure(ctx, "read the context of an event", fmt.Errorf("of the event %s: %w", event, err))
	}
	return data.Items, nil
}
