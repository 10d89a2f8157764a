package journal

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

// writer is the connection that writes. It caches prepared statements, because parsing SQL takes
// longer than executing it. Only the goroutine that holds the right to write may use it.
type writer struct {
	conn       *sql.Conn
	statements map[string]*sql.Stmt
	sync       syncMode
	flushes    *flushTimes
}

// syncMode is a value of SQLite's pragma "synchronous": what a committed transaction survives.
type syncMode string

const (
	syncNormal syncMode = "NORMAL" // the death of the process
	syncFull   syncMode = "FULL"   // the loss of power too: it is flushed to the disk
)

// newWriter takes a connection of its own.
func newWriter(ctx context.Context, db *sql.DB, flushes *flushTimes) (*writer, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	w := &writer{conn: conn, statements: map[string]*sql.Stmt{}, flushes: flushes}
	if err := w.setSync(ctx, syncNormal); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return w, nil
}

// setSync sets the mode for the next transactions.
func (w *writer) setSync(ctx context.Context, what syncMode) error {
	if w.sync == what {
		return nil
	}
	w.sync = "" // not known if the change fails
	_, err := w.conn.ExecContext(ctx, "PRAGMA synchronous = "+string(what))
	if err == nil {
		w.sync = what
	}
	return err
}

// statement returns the prepared query. The queries of this package are
// constants, so the cache stays small.
func (w *writer) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if known := w.statements[query]; known != nil {
		return known, nil
	}
	statement, err := w.conn.PrepareContext(ctx, query)
	if err == nil {
		w.statements[query] = statement
	}
	return statement, err
}

// ExecContext is like [sql.Tx.ExecContext].
func (w *writer) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	statement, err := w.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return statement.ExecContext(ctx, args...)
}

// QueryContext is like [sql.Tx.QueryContext].
func (w *writer) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	statement, err := w.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return statement.QueryContext(ctx, args...)
}

// QueryRowContext is like [sql.Tx.QueryRowContext].
func (w *writer) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	statement, err := w.statement(ctx, query)
	if err != nil {
		return w.conn.QueryRowContext(ctx, query, args...) // it fails in the same way and returns the error in the row
	}
	return statement.QueryRowContext(ctx, args...)
}

// transaction runs change in a transaction of that sync mode. After an error the file is unchanged.
func (w *writer) transaction(ctx context.Context, what syncMode, change func(context.Context, *writer) error) error {
	if err := w.setSync(ctx, what); err != nil {
		return err
	}
	if _, err := w.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := change(ctx, w)
	if err == nil {
		began := time.Now()
		_, err = w.ExecContext(ctx, "COMMIT")
		if what == syncFull {
			w.flushes.add(time.Since(began))
		}
	}
	if err != nil {
		// After some errors, such as a full disk, SQLite has rolled back by itself. Then this
		// statement fails, and its error adds nothing.
		_, _ = w.ExecContext(ctx, "ROLLBACK")
	}
	return err
}

func (w *writer) close() error {
	var err error
	for _, statement := range w.statements {
		err = errors.Join(err, statement.Close())
	}
	return errors.Join(err, w.conn.Close())
}
