package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"
)

// While the kernel works, it indexes the texts of an older journal, the latest first. It does so in
// small pieces and records after each how far it is, so that the end of the process costs one
// piece. Meanwhile a search reads the texts that are not indexed yet.

const (
	indexingRows  = 4096    // the most rows of the journal in a piece
	indexingBytes = 8 << 10 // of text in a piece, without its last row
	formerPages   = 100     // pages of a former index that are deleted at once
)

// putIndexAside renames the index of schema 2, so that a new index can be created.
// [SearchIndex.Index] deletes it.
func putIndexAside(ctx context.Context, tx *writer) error {
	var full bool
	if err := tx.conn.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM search_docsize)").Scan(&full); err != nil {
		return fmt.Errorf("look at the former index: %w", err)
	}
	if !full {
		return nil
	}
	if _, err := tx.conn.ExecContext(ctx, "ALTER TABLE search RENAME TO former_search"); err != nil {
		return fmt.Errorf("put the former index aside: %w", err)
	}
	return nil
}

// Unindexed is the number of rows that are not in the index yet, and the number of all rows for it.
// Both are 0 when the index is complete.
type Unindexed struct{ Rows, All int64 }

// Percent returns the part that is not in the index yet, rounded up. It is 0 when the index is
// complete.
func (u Unindexed) Percent() int {
	if u.Rows == 0 {
		return 0
	}
	return int((100*u.Rows + u.All - 1) / u.All)
}

// Unindexed returns the progress of [SearchIndex.Index].
func (s *SearchIndex) Unindexed(ctx context.Context) (Unindexed, error) {
	u, err := unindexed(ctx, s.readers)
	return u, s.failure(ctx, "look how much is indexed", err)
}

func unindexed(ctx context.Context, from reader) (u Unindexed, err error) {
	err = from.QueryRowContext(ctx, "SELECT until - 1, began - 1 FROM indexing").Scan(&u.Rows, &u.All)
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return u, err
}

// Index adds the texts from before the present index to it, and then deletes the former index. It
// continues where an earlier call ended. It writes no more at a time than a message does, pauses as
// long as it works, and longer while others write. It returns nil at once if the index is complete,
// and the error of ctx when ctx ends.
func (s *SearchIndex) Index(ctx context.Context) (err error) {
	merger, err := s.writers.Conn(ctx)
	if err != nil {
		return s.failure(ctx, "index what was said", err)
	}
	defer func() { err = errors.Join(err, merger.Close()) }()
	var last int64 // the last row that others wrote
	for _, step := range []func(context.Context) (more bool, err error){s.indexPiece, s.removeFormer} {
		for more := true; more; {
			began := time.Now()
			if more, err = step(ctx); err != nil {
				return err
			}
			// The checkpoint runs here, so that no writer waits for it.
			if _, err := merger.ExecContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)"); err != nil {
				return s.failure(ctx, "merge what was indexed", err)
			}
			if more {
				if err := s.restFromIndexing(ctx, time.Since(began), &last); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Indexing pauses for seconds while others write, but not for ever.
const (
	busyRest  = time.Second
	busyRests = 5
)

// restFromIndexing waits for the time rest, and longer while others write rows after the row known.
// It sets known to the last row.
func (s *SearchIndex) restFromIndexing(ctx context.Context, rest time.Duration, known *int64) error {
	for range busyRests {
		select {
		case <-time.After(rest):
		case <-ctx.Done():
			return fmt.Errorf("index what was said: %w", context.Cause(ctx))
		}
		before := *known
		if err := s.readers.QueryRowContext(ctx, "SELECT max(seq) FROM journal").Scan(known); err != nil {
			return s.failure(ctx, "index what was said", err)
		}
		if *known == before {
			return nil
		}
		rest = busyRest
	}
	return nil
}

// indexPiece indexes the latest texts that are not in the index. It reads them before its
// transaction, so that a message waits only for the write.
func (s *SearchIndex) indexPiece(ctx context.Context) (more bool, err error) {
	before, err := s.Unindexed(ctx)
	if err != nil || before.Rows == 0 {
		return false, err
	}
	span := rowSpan{max(1, before.Rows+1-indexingRows), before.Rows + 1}
	type piece struct {
		seq            int64
		words, markers string
	}
	var pieces []piece
	size := 0
	span.from, err = s.unindexedTexts(ctx, span, func(t unindexedText) bool {
		words := indexed(t.text())
		size += len(words)
		pieces = append(pieces, piece{t.seq, words, t.markers()})
		return size < indexingBytes
	})
	if err != nil {
		return false, s.failure(ctx, "read what is to be indexed", err)
	}
	return span.from > 1, s.transact(ctx, "index what was said", func(ctx context.Context, tx *writer) error {
		if now, err := unindexed(ctx, tx); err != nil || now != before {
			return err // another process indexes, too
		}
		for _, p := range slices.Backward(pieces) { // the index takes rows fastest in ascending order
			if err := indexWords(ctx, tx, p.seq, p.words, p.markers); err != nil {
				return err
			}
		}
		query, args := "UPDATE indexing SET until = ?", []any{span.from}
		if span.from == 1 {
			query, args = "DELETE FROM indexing", nil
		}
		if _, err := tx.ExecContext(ctx, query, args...); err != nil {
			return fmt.Errorf("note how far the index is: %w", err)
		}
		return nil
	})
}

// removeFormer deletes a part of the former index.
func (s *SearchIndex) removeFormer(ctx context.Context) (more bool, err error) {
	if more, err = hasFormer(ctx, s.readers); err != nil || !more {
		return false, s.failure(ctx, "look for the former index", err)
	}
	return true, s.transact(ctx, "remove the former index", func(ctx context.Context, tx *writer) error {
		if more, err := hasFormer(ctx, tx); err != nil || !more {
			return err // another process deleted it
		}
		for _, statement := range []string{
			// Rows up to 10 are not content of the index: they describe it.
			"DELETE FROM former_search_data WHERE id IN (SELECT id FROM former_search_data WHERE id > 10 LIMIT ?)",
			"DELETE FROM former_search_docsize WHERE id IN (SELECT id FROM former_search_docsize LIMIT 20 * ?)",
		} {
			done, err := tx.ExecContext(ctx, statement, formerPages)
			if err != nil {
				return err
			}
			if n, err := done.RowsAffected(); err != nil || n > 0 {
				return err
			}
		}
		_, err := tx.conn.ExecContext(ctx, "DROP TABLE former_search")
		return err
	})
}

func hasFormer(ctx context.Context, from reader) (there bool, err error) {
	err = from.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'former_search')").Scan(&there)
	return there, err
}

// unindexedText is a row with a text that is not in the index.
type unindexedText struct {
	seq, first int64
	kind       Kind
	copied     bool
	session    string
	data       []byte
}

// markers returns the words that mark the session of the text.
func (t unindexedText) markers() string {
	if t.copied {
		return sessionWord(t.first) + " " + copyWord
	}
	return sessionWord(t.first)
}

// text returns the text for the index, "" for a row without one. A row that cannot be read has no
// words, so that it does not prevent others from being found.
func (t unindexedText) text() string {
	if t.kind == KindEvent {
		event, err := Entry{Seq: t.seq, Kind: t.kind, Data: t.data}.Event()
		if err != nil || !findable(event) {
			return ""
		}
	}
	text, err := searchable(t.kind, t.data)
	if err != nil {
		return ""
	}
	return text
}

const unindexedQuery = `SELECT j.seq, j.kind, s.first, t.origin <> '', t.session, j.data FROM journal AS j NOT INDEXED
	CROSS JOIN turn AS t ON t.id = j.turn CROSS JOIN session AS s ON s.name = t.session
	LEFT JOIN act AS a ON a.seq = j.seq
	WHERE j.seq >= ? AND j.seq < ? AND (j.kind = 'event' AND t.seq = j.seq OR j.kind = 'act' AND a.kind = 'answer') ORDER BY j.seq DESC`

// unindexedTexts calls each with the texts of these rows, the latest first, until each returns
// false. It returns the last row that it read.
func (s *SearchIndex) unindexedTexts(ctx context.Context, span rowSpan, each func(unindexedText) (on bool)) (reached int64, err error) {
	rows, err := s.readers.QueryContext(ctx, unindexedQuery, span.from, span.until)
	if err != nil {
		return 0, err
	}
	defer rows.Close()
	for rows.Next() {
		var t unindexedText
		if err := rows.Scan(&t.seq, &t.kind, &t.first, &t.copied, &t.session, &t.data); err != nil {
			return 0, err
		}
		if !each(t) {
			return t.seq, rows.Err()
		}
	}
	return span.from, rows.Err()
}

// reading is a search that reads the texts themselves instead of the index.
type reading struct {
	phrases []phrase
	session string // "" for all
	span    rowSpan
	from    int64 // all rows from here on have been read
	until   time.Time
}

// readingRows is the number of rows that are read between two looks at the clock.
const readingRows = 256

// through adds the rows that contain the phrases, the latest first, until there are enough or the
// time is up.
func (r *reading) through(ctx context.Context, index *SearchIndex, rows []int64) ([]int64, error) {
	for more := true; more && r.from > r.span.from; more = time.Now().Before(r.until) {
		var err error
		piece := rowSpan{max(r.span.from, r.from-readingRows), r.from}
		r.from, err = index.unindexedTexts(ctx, piece, func(t unindexedText) bool {
			if r.has(t) {
				rows = append(rows, t.seq)
			}
			return len(rows) < candidates
		})
		if err != nil || len(rows) == candidates {
			return rows, err
		}
	}
	return rows, nil
}

// has reports whether the text belongs to the session, or for all sessions is not a copy, and
// contains every phrase.
func (r *reading) has(t unindexedText) bool {
	if r.session == "" && t.copied || r.session != "" && r.session != t.session {
		return false
	}
	matches, _ := matchesIn(t.text(), r.phrases)
	seen := map[int]bool{}
	for _, m := range matches {
		seen[m.phrase] = true
	}
	return len(seen) == len(r.phrases)
}
