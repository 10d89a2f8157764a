package journal

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// readers are the connections that read. Like a [writer] they cache prepared statements, because
// most reads return a row or two, and parsing their SQL takes longer than that. SQLite parses a
// query again each time the value of a bare LIMIT parameter is bound. The queries that a turn waits
// for therefore have "LIMIT 0 + ?".
type readers struct {
	db *sql.DB

	mu         sync.Mutex
	statements map[string]*sql.Stmt
}

// readerLimit is the number of reads that run at once. More reads wait.
const readerLimit = 4

// statementLimit is the number of cached statements. Almost all queries are constants. The others
// are composed, and must not use memory without a bound.
const statementLimit = 200

// newReaders opens connections that only read.
func newReaders(source string) (*readers, error) {
	db, err := sql.Open("sqlite", source)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(readerLimit)
	db.SetMaxIdleConns(readerLimit)
	return &readers{db: db, statements: map[string]*sql.Stmt{}}, nil
}

// statement returns the prepared query, or nil if it is not cached. Then it is parsed each time.
func (r *readers) statement(ctx context.Context, query string) *sql.Stmt {
	r.mu.Lock()
	known, full := r.statements[query], len(r.statements) >= statementLimit
	r.mu.Unlock()
	if known != nil || full {
		return known
	}
	fresh, err := r.db.PrepareContext(ctx, query) // without mu, because it may wait for a connection
	if err != nil {
		return nil // the query itself fails in the same way and returns the error
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.statements[query]; known != nil {
		_ = fresh.Close() // another goroutine was faster, and nothing depends on this one
		return known
	}
	r.statements[query] = fresh
	return fresh
}

// QueryContext is like [sql.DB.QueryContext].
func (r *readers) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if statement := r.statement(ctx, query); statement != nil {
		return statement.QueryContext(ctx, args...)
	}
	return r.db.QueryContext(ctx, query, args...)
}

// QueryRowContext is like [sql.DB.QueryRowContext].
func (r *readers) QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row {
	if statement := r.statement(ctx, query); statement != nil {
		return statement.QueryRowContext(ctx, args...)
	}
	return r.db.QueryRowContext(ctx, query, args...)
}

func (r *readers) close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	var err error
	for _, statement := range r.statements {
		err = errors.Join(err, statement.Close())
	}
	return errors.Join(err, r.db.Close())
}
