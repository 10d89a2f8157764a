package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
)

// The full-text index returns the latest rows that have all words of a query. Where no row has
// them it scans back to the first row. With common words that takes a second per million texts.
// So the rows are grouped into buckets, which are runs of rows of three lengths. Each row of the
// index also has a word for each of its buckets. A search asks for one bucket after the other,
// the latest first, until its time budget is used up.

// bucketShifts gives the lengths of buckets: 1<<shift rows.
var bucketShifts = [...]uint{13, 17, 21}

// searchBudget is how long a search reads the index before it returns what it has.
const searchBudget = 25 * time.Millisecond

// markerPrefix begins every word of the index's column "place". No word of a text begins with it.
const markerPrefix = "\ue000"

// copyWord marks the rows that a fork copied.
const copyWord = markerPrefix + "copy"

// sessionWord is the word that marks the rows of a session; first is the session's first row.
func sessionWord(first int64) string { return fmt.Sprint(markerPrefix, "s", first) }

// bucketWord is the word of the bucket of the given level that contains row.
func bucketWord(level int, row int64) string {
	return fmt.Sprintf("%s%c%d", markerPrefix, 'a'+level, row>>bucketShifts[level])
}

// bucketWords is the text with the words of all buckets that contain row.
func bucketWords(row int64) (words string) {
	for level := range bucketShifts {
		words += " " + bucketWord(level, row)
	}
	return words
}

// rowSpan is the range of rows from (inclusive) to until (exclusive).
type rowSpan struct{ from, until int64 }

// indexScan is one search through the index, from the latest row back.
type indexScan struct {
	words, session string  // session is the word that marks a session's rows, or ""
	span           rowSpan // the rows to search
	budget         time.Duration
	from           int64 // the first row that was searched; all later rows of the span were, too
}

// run returns the latest rows that contain the words, 300 at most, latest first. It stops when the
// budget is used up. s.from is then the first row that it searched.
func (s *indexScan) run(ctx context.Context, from reader) (rows []int64, err error) {
	began := time.Now()
	s.from = s.span.until
	perRow := -1.0 // the time for a row of the last window; less than 0: not known
	for s.from > s.span.from {
		spent := time.Since(began)
		if perRow >= 0 && spent >= s.budget {
			break
		}
		level := s.level(perRow, s.budget-spent)
		window := s.window(level)
		found, err := s.rowsOf(ctx, from, window, level, candidates-len(rows))
		if err != nil {
			return nil, err
		}
		rows = append(rows, found...)
		if len(rows) == candidates {
			s.from = rows[len(rows)-1]
			break
		}
		perRow = float64(time.Since(began)-spent) / float64(window.until-window.from)
		s.from = window.from
	}
	return rows, nil
}

// level returns the level of the longest window that can be searched in the time left, if a row
// takes as long as in the last window. len(bucketShifts) stands for the whole rest.
func (s *indexScan) level(perRow float64, left time.Duration) int {
	if perRow < 0 {
		return 0
	}
	for level := len(bucketShifts); level > 0; level-- {
		w := s.window(level)
		if perRow*float64(w.until-w.from) <= float64(left) {
			return level
		}
	}
	return 0
}

// window is the part of the bucket of that level that lies before s.from.
func (s *indexScan) window(level int) rowSpan {
	w := rowSpan{s.span.from, s.from}
	if level < len(bucketShifts) {
		w.from = max(w.from, (s.from-1)>>bucketShifts[level]<<bucketShifts[level])
	}
	return w
}

// rowsQuery returns one row, because the driver can stop a query for an ended context only before
// its first row.
const rowsQuery = `SELECT json_group_array(rowid) FROM (
	SELECT rowid FROM search WHERE search MATCH ? AND rowid >= ? AND rowid < ? ORDER BY rowid DESC LIMIT ?)`

// rowsOf returns the latest rows in the window that have the words.
func (s *indexScan) rowsOf(ctx context.Context, from reader, window rowSpan, level, limit int) (rows []int64, err error) {
	expression := s.words
	if level < len(bucketShifts) {
		expression = fmt.Sprintf(`({place} : "%s") AND (%s)`, bucketWord(level, window.from), expression)
	}
	if s.session == "" {
		expression = fmt.Sprintf(`(%s) NOT ({place} : "%s")`, expression, copyWord)
	} else {
		expression = fmt.Sprintf(`({place} : "%s") AND (%s)`, s.session, expression)
	}
	var list []byte
	err = from.QueryRowContext(ctx, rowsQuery, expression, window.from, window.until, limit).Scan(&list)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(list, &rows); err != nil {
		return nil, fmt.Errorf("read the rows that were found: %w", err)
	}
	slices.SortFunc(rows, func(a, b int64) int { return int(b - a) })
	return rows, nil
}

// searchSpan returns the rows that a search has to read. The rows of a fork are not in the order of
// time.
func (s *SearchIndex) searchSpan(ctx context.Context, query Search, fork bool) (span rowSpan, err error) {
	var last int64
	if err := s.readers.QueryRowContext(ctx, "SELECT coalesce(max(seq), 0) FROM journal").Scan(&last); err != nil {
		return span, err
	}
	span = rowSpan{1, last + 1}
	if !query.Since.IsZero() && !fork {
		if span.from, err = s.rowAt(ctx, query.Since, last); err != nil {
			return span, err
		}
	}
	if !query.Until.IsZero() && !fork {
		if span.until, err = s.rowAt(ctx, query.Until, last); err != nil {
			return span, err
		}
	}
	if query.Before > 0 {
		span.until = min(span.until, query.Before)
	}
	return span, nil
}

// rowAt returns the first row that was written at that time or later, or the row after the last.
// Rows are in the order of time, except copies and after the clock was set back.
func (s *SearchIndex) rowAt(ctx context.Context, at time.Time, last int64) (int64, error) {
	from, until := int64(1), last+1
	for from < until {
		middle := (from + until) / 2
		t, err := s.timeOf(ctx, middle)
		if err != nil {
			return 0, err
		}
		if t.Before(at) {
			from = middle + 1
		} else {
			until = middle
		}
	}
	return from, nil
}

const timeOfQuery = `SELECT j.time FROM journal AS j LEFT JOIN turn AS t ON t.id = j.turn
	WHERE j.seq >= ? AND coalesce(t.origin, '') = '' ORDER BY j.seq LIMIT 1`

// timeOf returns the time of the row, or of the first existing row after it. Copies do not count,
// because they have the times of their originals.
func (s *SearchIndex) timeOf(ctx context.Context, row int64) (time.Time, error) {
	var at int64
	err := s.readers.QueryRowContext(ctx, timeOfQuery, row).Scan(&at)
	if errors.Is(err, sql.ErrNoRows) {
		return now(), nil
	}
	return instant(at), err
}
