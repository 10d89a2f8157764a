package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"org-agent/kernel/protocol"
)

const lastStampQuery = "SELECT stamp FROM turn WHERE session = ? AND stamp <> '' ORDER BY seq DESC LIMIT 1"

// stampAfter is when the event was sent, or when the turn before it in the session was, where
// that is later: what a clock that was set back says is not told to a model.
func stampAfter(ctx context.Context, tx *writer, event protocol.Event) (time.Time, error) {
	stamp := event.Stamp.Truncate(time.Second) // as the file holds it
	if stamp.IsZero() {
		return stamp, nil
	}
	var text string
	err := tx.QueryRowContext(ctx, lastStampQuery, event.Session).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return stamp, nil
	}
	if err != nil {
		return stamp, fmt.Errorf("look for the time of the turn before: %w", err)
	}
	before, err := readStamp(text)
	if err != nil {
		return stamp, err
	}
	if before.After(stamp) {
		stamp = before.In(stamp.Location())
	}
	return stamp, nil
}

// stampText is a stamp as the file holds it.
func stampText(stamp time.Time) string {
	if stamp.IsZero() {
		return ""
	}
	return stamp.Format(time.RFC3339)
}

func readStamp(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	stamp, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("read when a question was asked: %w", err)
	}
	return stamp, nil
}
