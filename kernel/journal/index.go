package journal

import (
	"context"
	"errors"
	"fmt"

	"org-agent/kernel/protocol"
)

// indexText makes the text of a row findable; places are the words of its session and of
// a copy.
func indexText(ctx context.Context, tx *writer, seq int64, text, places string) error {
	words := indexed(text)
	if words == "" {
		return nil
	}
	if _, err := tx.ExecContext(ctx, "INSERT INTO search (rowid, words, place) VALUES (?, ?, ?)", seq, words, places+eraWords(seq)); err != nil {
		return fmt.Errorf("index the row %d: %w", seq, err)
	}
	return nil
}

// findable reports whether the event is looked through: what a person said. (The text
// of a post is found as the answer that it becomes.)
func findable(event protocol.Event) bool { return event.Said() }

const unindexedQuery = `SELECT j.seq, j.kind, s.first, t.origin <> '', j.data FROM journal AS j
	JOIN turn AS t ON t.id = j.turn JOIN session AS s ON s.name = t.session
	LEFT JOIN act AS a ON a.seq = j.seq
	WHERE j.seq > ? AND (j.kind = 'event' AND t.seq = j.seq OR a.kind = 'answer') ORDER BY j.seq LIMIT ?`

// indexAll indexes what was said before there was an index like this one.
func indexAll(ctx context.Context, tx *writer) error {
	type row struct {
		seq, first int64
		kind       Kind
		copied     bool
		data       []byte
	}
	const page = 200
	for after := int64(0); ; {
		rows, err := collect(ctx, tx, func(from scanner) (r row, err error) {
			return r, from.Scan(&r.seq, &r.kind, &r.first, &r.copied, &r.data)
		}, unindexedQuery, after, page)
		if err != nil {
			return err
		}
		for _, r := range rows {
			after = r.seq
			text, err := searchable(r.kind, r.data)
			if r.kind == KindEvent && err == nil {
				event, readErr := Entry{Seq: r.seq, Kind: KindEvent, Data: r.data}.Event()
				if err = readErr; !findable(event) {
					continue
				}
			}
			places := placeWord(r.first)
			if r.copied {
				places += " " + copyWord
			}
			if err := errors.Join(err, indexText(ctx, tx, r.seq, text, places)); err != nil {
				return err
			}
		}
		if len(rows) < page {
			return nil
		}
	}
}
