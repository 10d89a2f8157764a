package journal

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// reader is a source of rows: a pool of connections or a writer.
type reader interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// scanner is one row to read: a [*sql.Row] or [*sql.Rows].
type scanner interface{ Scan(dest ...any) error }

// collect reads every row of a query with scan.
func collect[T any](ctx context.Context, from reader, scan func(scanner) (T, error), query string, args ...any) ([]T, error) {
	rows, err := from.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	var found []T
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		found = append(found, one)
	}
	return found, rows.Err()
}

// textColumn reads rows of one text column.
func textColumn(row scanner) (s string, err error) { return s, row.Scan(&s) }

// micros returns a time in the form of the file; the zero time is 0.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}

// instant is the inverse of micros.
func instant(micros int64) time.Time {
	if micros == 0 {
		return time.Time{}
	}
	return time.UnixMicro(micros).UTC()
}

// now returns the present in the precision of the file.
func now() time.Time { return instant(micros(time.Now())) }
