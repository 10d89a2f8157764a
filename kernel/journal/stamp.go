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

// setBack is how far a clock may be set back without the time of messages going back. Where a clock was set
// back by more, it had been wrong before.
const setBack = 3 * time.Hour

// stampAfter returns the time at which the event was sent, but not before the turn before it in the
// session. A model must not receive the time of a clock that was set back, unless the former time was wrong.
func stampAfter(ctx context.Context, tx *writer, event protocol.Event) (time.Time, error) {
	stamp := event.Stamp.Truncate(time.Second) // the precision of the file
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
	if before.After(stamp) && before.Sub(stamp) <= setBack {
		stamp = before.In(stamp.Location())
	}
	return stamp, nil
}

// stampText returns a stamp in the form of the file.
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
