package journal

import (
	"context"
	"fmt"

	"org-agent/kernel/protocol"
)

// indexText makes the text of a row findable; places are the words of its session and of
// a copy.
func indexText(ctx context.Context, tx *writer, seq int64, text, places string) error {
	return indexWords(ctx, tx, seq, indexed(text), places)
}

// indexWords does so with the words of the text.
func indexWords(ctx context.Context, tx *writer, seq int64, words, places string) error {
	if words == "" {
		return nil
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO search (rowid, words, place) VALUES (?, ?, ?)", seq, words, places+bucketWords(seq)); err != nil {
		return fmt.Errorf("index the row %d: %w", seq, err)
	}
	return nil
}

// findable reports whether the event is looked through: what a person said. (The text
// of a post is found as the answer that it becomes.)
func findable(event protocol.Event) bool { return event.Said() }
