package journal

import (
	"context"
	"database/sql"
	"errors"
)

// writer is a connection that writes. It keeps its statements: reading SQL
// takes longer than doing what it says. Only who holds the turn to write may
// use it.
type writer struct {
	conn       *sql.Conn
	statements map[string]*sql.Stmt
}

// newWriter takes a connection of its own, with SQLite's "synchronous" set.
func newWriter(ctx context.Context, db *sql.DB, synchronous string) (*writer, error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return nil, err
	}
	if _, err := conn.ExecContext(ctx, "PRAGMA synchronous = "+synchronous); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return &writer{conn, map[string]*sql.Stmt{}}, nil
}

// statement is the query, prepared. The queries of this package are constants,
// so that there are not many.
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

// ExecContext does as of [sql.Tx].
func (w *writer) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	statement, err := w.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return statement.ExecContext(ctx, args...)
}

// QueryContext does as of [sql.Tx].
func (w *writer) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	statement, err := w.statement(ctx, query)
	if err != nil {
		return nil, err
	}
	return statement.QueryContext(ctx, args...)
}

// QueryRowContext does as of [sql.Tx].
func (w *writer) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	statement, err := w.statement(ctx, query)
	if err != nil {
		return w.conn.QueryRowContext(ctx, query, args...) // fails in the same way, and says so in the row
	}
	return statement.QueryRowContext(ctx, args...)
}

// transaction runs change in a transaction. After an error nothing of it is in
// the file.
func (w *writer) transaction(ctx context.Context, change func(context.Context, *writer) error) error {
	if _, err := w.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := change(ctx, w)
	if err == nil {
		_, err = w.ExecContext(ctx, "COMMIT")
	}
	if err != nil {
		// SQLite has rolled back by itself after some errors, as of a full disk;
		// then this one fails, and says nothing that the first does not.
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
