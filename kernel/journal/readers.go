package journal

import (
	"context"
	"database/sql"
	"errors"
	"sync"
)

// readers are the connections that read. As a [writer] they keep their statements: most
// reads are of one row or two, and to read their SQL takes longer than that. Of a LIMIT that is a
// parameter and nothing else SQLite wants to know the value, and reads the SQL anew each time it
// is given one: "LIMIT 0 + ?" is none in the queries that a turn waits for.
type readers struct {
	db *sql.DB

	mu         sync.Mutex
	statements map[string]*sql.Stmt
}

// readerLimit is the number of reads that run at once; more wait their turn.
const readerLimit = 4

// statementLimit is how many statements are kept. Almost all queries are constants; the
// others, which are put together, must not take memory for ever.
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

// statement is the query, prepared; nil if it is not kept: then it is read each time.
func (r *readers) statement(ctx context.Context, query string) *sql.Stmt {
	r.mu.Lock()
	known, full := r.statements[query], len(r.statements) >= statementLimit
	r.mu.Unlock()
	if known != nil || full {
		return known
	}
	fresh, err := r.db.PrepareContext(ctx, query) // not with mu: it may wait for a connection
	if err != nil {
		return nil // the query fails in the same way, and says so
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if known := r.statements[query]; known != nil {
		_ = fresh.Close() // another was faster; nothing depends on this one
		return known
	}
	r.statements[query] = fresh
	return fresh
}

// QueryContext does as of [sql.DB].
func (r *readers) QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	if statement := r.statement(ctx, query); statement != nil {
		return statement.QueryContext(ctx, args...)
	}
	return r.db.QueryContext(ctx, query, args...)
}

// QueryRowContext does as of [sql.DB].
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
