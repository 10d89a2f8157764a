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

// The index finds the latest rows that have some words, but where none have them it goes
// on to the first row there is: with common words that is a second for a million texts.
// So each row of the index also has the words of its eras, which are runs of rows of three
// lengths, and a search asks for one era after the other, the latest first, as long as it
// may take.

// eraShifts say how long eras are: 1<<shift rows.
var eraShifts = [...]uint{13, 17, 21}

// searchBudget is how long a search looks through the index before it says where it is.
const searchBudget = 25 * time.Millisecond

// placePrefix begins every word of the index's column "place". No word of a text has it.
const placePrefix = "\ue000"

// copyWord is in the places of what a fork copied.
const copyWord = placePrefix + "copy"

// placeWord is the word that the rows of a session have.
func placeWord(first int64) string { return fmt.Sprint(placePrefix, "s", first) }

// eraWord is the word of the era of that length which row is in.
func eraWord(level int, row int64) string {
	return fmt.Sprintf("%s%c%d", placePrefix, 'a'+level, row>>eraShifts[level])
}

// eraWords are those that row has in the index.
func eraWords(row int64) (words string) {
	for level := range eraShifts {
		words += " " + eraWord(level, row)
	}
	return words
}

// rowSpan is the rows from (inclusive) to until (exclusive).
type rowSpan struct{ from, until int64 }

// looking is a search on its way through the index.
type looking struct {
	words, place string
	span         rowSpan // of what is to be looked at
	budget       time.Duration
	from         int64 // what is from here on was looked at
}

// through returns the latest rows that have the words, 300 at most, latest first, of what
// it can look at within the budget.
func (l *looking) through(ctx context.Context, from reader) (rows []int64, err error) {
	began := time.Now()
	l.from = l.span.until
	perRow := -1.0 // what a row took of the last window; less than 0: not known
	for l.from > l.span.from {
		spent := time.Since(began)
		if perRow >= 0 && spent >= l.budget {
			break
		}
		level := l.level(perRow, l.budget-spent)
		window := l.window(level)
		found, err := l.rowsOf(ctx, from, window, level, candidates-len(rows))
		if err != nil {
			return nil, err
		}
		rows = append(rows, found...)
		if len(rows) == candidates {
			l.from = rows[len(rows)-1]
			break
		}
		perRow = float64(time.Since(began)-spent) / float64(window.until-window.from)
		l.from = window.from
	}
	return rows, nil
}

// level is that of the longest window which can be looked at in the time that is left, if
// a row takes as long as in the last one; len(eraShifts) is all that is left.
func (l *looking) level(perRow float64, left time.Duration) int {
	if perRow < 0 {
		return 0
	}
	for level := len(eraShifts); level > 0; level-- {
		w := l.window(level)
		if perRow*float64(w.until-w.from) <= float64(left) {
			return level
		}
	}
	return 0
}

// window is what is left of the era of that length before l.from.
func (l *looking) window(level int) rowSpan {
	w := rowSpan{l.span.from, l.from}
	if level < len(eraShifts) {
		w.from = max(w.from, (l.from-1)>>eraShifts[level]<<eraShifts[level])
	}
	return w
}

// rowsQuery has one row for its result: the driver can end what a query does for its first
// row, when its context ends, and nothing after it.
const rowsQuery = `SELECT json_group_array(rowid) FROM (
	SELECT rowid FROM search WHERE search MATCH ? AND rowid >= ? AND rowid < ? ORDER BY rowid DESC LIMIT ?)`

// rowsOf returns the latest rows in the window that have the words.
func (l *looking) rowsOf(ctx context.Context, from reader, window rowSpan, level, limit int) (rows []int64, err error) {
	expression := l.words
	if level < len(eraShifts) {
		expression = fmt.Sprintf(`({place} : "%s") AND (%s)`, eraWord(level, window.from), expression)
	}
	if l.place == "" {
		expression = fmt.Sprintf(`(%s) NOT ({place} : "%s")`, expression, copyWord)
	} else {
		expression = fmt.Sprintf(`({place} : "%s") AND (%s)`, l.place, expression)
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

// searchSpan is the rows that a search is to look at. Those of a fork are not in the order
// of time.
func (j *Journal) searchSpan(ctx context.Context, s Search, fork bool) (span rowSpan, err error) {
	var last int64
	if err := j.readers.QueryRowContext(ctx, "SELECT coalesce(max(seq), 0) FROM journal").Scan(&last); err != nil {
		return span, err
	}
	span = rowSpan{1, last + 1}
	if !s.Since.IsZero() && !fork {
		if span.from, err = j.rowAt(ctx, s.Since, last); err != nil {
			return span, err
		}
	}
	if !s.Until.IsZero() && !fork {
		if span.until, err = j.rowAt(ctx, s.Until, last); err != nil {
			return span, err
		}
	}
	if s.Before > 0 {
		span.until = min(span.until, s.Before)
	}
	return span, nil
}

// rowAt is the first row that was written at that time or later, or the one behind the
// last. Rows are written in the order of time, but for copies and a clock that is set back.
func (j *Journal) rowAt(ctx context.Context, at time.Time, last int64) (int64, error) {
	from, until := int64(1), last+1
	for from < until {
		middle := (from + until) / 2
		t, err := j.timeOf(ctx, middle)
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

// timeOf is when the row was written, or the first behind it that is there; copies have
// the times of their origins and do not count.
func (j *Journal) timeOf(ctx context.Context, row int64) (time.Time, error) {
	var at int64
	err := j.readers.QueryRowContext(ctx, timeOfQuery, row).Scan(&at)
	if errors.Is(err, sql.ErrNoRows) {
		return now(), nil
	}
	return instant(at), err
}
