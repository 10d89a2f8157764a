package journal

import (
	"context"
	"fmt"

	"org-agent/kernel/protocol"
)

// indexText adds the text of a row to the index. markers are the words that mark its session and a
// copy.
func indexText(ctx context.Context, tx *writer, seq int64, text, markers string) error {
	return indexWords(ctx, tx, seq, indexed(text), markers)
}

// indexWords adds the words of a text to the index.
func indexWords(ctx context.Context, tx *writer, seq int64, words, markers string) error {
	if words == "" {
		return nil
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO search (rowid, words, place) VALUES (?, ?, ?)", seq, words, markers+bucketWords(seq)); err != nil {
		return fmt.Errorf("index the row %d: %w", seq, err)
	}
	return nil
}

// findable reports whether searches find the event: a person wrote it. The text of a post is found
// as the answer that it becomes.
func findable(event protocol.Event) bool { return event.HasHeading() }
