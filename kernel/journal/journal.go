// Package journal records everything that happens: one SQLite file with one row
// for every event, model call, proposal, verdict, act and receipt. History,
// log, explanation, replay and crash recovery read it and nothing else.
//
// Ownership: a [Journal] is safe for many goroutines, and several processes
// may have the same file open. Values it returns are the caller's.
//
// Order: writes are done one at a time, each in one transaction with its
// journal row; rows are numbered in the order of commitment. Reads run beside
// a write and see whole transactions only.
//
// Blocking: a write waits for the write before it, and up to five seconds for
// another process; cancelling its context ends the wait for its place, not a
// write that has begun, so an error of the context means that nothing was
// written. Reads end when their context does.
//
// Durability: what was written survives the death of the process at any
// moment. [Journal.Accept] also flushes to the disk before it returns;
// [Journal.AppendDeferred] writes together with the next change.
//
// Errors: a [*protocol.Error], with CodeStorage and advice when the file or
// its disk is at fault, CodeNotFound and CodeConflict as each method says; or
// one that wraps the error of the context.
package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"org-agent/kernel/lru"
)

// Journal is an open journal. Make one with [Open].
type Journal struct {
	path     string
	readers  *readers
	writers  *sql.DB
	writer   *writer       // the only one: a second one would have to read again what the first wrote
	writing  chan struct{} // holds one value while somebody uses the writer, or closed
	closed   bool
	queue    acceptQueue
	deferred deferredQueue
	// exchanges caches the exchanges that were read, by the answer's id.
	exchanges *lru.Cache[string, *Exchange]
	// turnOrders caches the turn order of each session, by its name.
	turnOrders *lru.Cache[string, turnOrder]
}

// Open opens the journal at path, which it creates (mode 0600) in a directory
// that must exist, and brings its schema up to date. It fails with CodeStorage
// when the file cannot be created or written, is no journal, is damaged, or
// was written by a newer org-agent.
func Open(ctx context.Context, path string) (*Journal, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find the journal %s: %w", path, err)
	}
	j := newJournal(absolute)
	if err := j.createFile(); err != nil {
		return nil, err
	}
	if err := j.open(ctx); err != nil {
		return nil, errors.Join(j.failure(ctx, "open the journal", err), j.Close())
	}
	return j, nil
}

func newJournal(path string) *Journal {
	return &Journal{path: path, writing: make(chan struct{}, 1), deferred: deferredQueue{longest: deferredTime}, exchanges: lru.New[string, *Exchange](exchangesKept),
		turnOrders: lru.New[string, turnOrder](turnOrdersKept)}
}

// open connects: to write, then to read.
func (j *Journal) open(ctx context.Context) (err error) {
	if j.writers, err = sql.Open("sqlite", dataSource(j.path)); err != nil {
		return err
	}
	if j.writer, err = newWriter(ctx, j.writers); err != nil {
		return err
	}
	if err := j.migrate(ctx); err != nil {
		return err
	}
	j.readers, err = newReaders(dataSource(j.path, "query_only(true)"))
	return err
}

// Close waits for what runs and closes the file. A second call does nothing.
func (j *Journal) Close() error {
	waiting := j.deferred.close()
	j.writing <- struct{}{}
	defer func() { <-j.writing }()
	if j.closed {
		return nil
	}
	j.closed = true
	err := j.flushDeferred(context.Background(), waiting)
	if j.writer != nil {
		err = errors.Join(err, j.writer.close())
	}
	if j.readers != nil {
		err = errors.Join(err, j.readers.close())
	}
	if j.writers != nil {
		err = errors.Join(err, j.writers.Close())
	}
	if err != nil {
		return fmt.Errorf("close the journal %s: %w", j.path, err)
	}
	return nil
}

// Path is the absolute path of the journal's file.
func (j *Journal) Path() string { return j.path }

// createFile makes a missing file, since SQLite would make one that others can
// read, and takes such a right away from an old one. A file that exists is not
// opened here: closing it would drop the locks SQLite holds in this process.
func (j *Journal) createFile() error {
	info, err := os.Stat(j.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		file, err := os.OpenFile(j.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			return nil // another process was faster
		}
		if err != nil {
			return j.unusable(err)
		}
		return j.unusable(file.Close())
	case err != nil:
		return j.unusable(err)
	case !info.Mode().IsRegular():
		return j.unusable(errors.New("it is not a regular file"))
	case info.Mode().Perm()&0o077 != 0:
		return j.unusable(os.Chmod(j.path, 0o600))
	}
	return nil
}

// dataSource is the driver's name for the file. Every connection waits five
// seconds for another process. (Recursive triggers: a REPLACE counts as the
// removal it is.)
func dataSource(path string, pragmas ...string) string {
	query := url.Values{}
	for _, pragma := range append([]string{
		"busy_timeout(5000)", "foreign_keys(true)", "recursive_triggers(true)", "journal_size_limit(67108864)",
	}, pragmas...) {
		query.Add("_pragma", pragma)
	}
	return (&url.URL{Scheme: "file", OmitHost: true, Path: path, RawQuery: query.Encode()}).String()
}

// errReadOnly: the journal was opened by [OpenToRead].
var errReadOnly = errors.New("the journal was opened to be read")

// transact runs change in a transaction once it is this caller's turn to
// write. doing names the change in errors.
func (j *Journal) transact(ctx context.Context, doing string, change func(context.Context, *writer) error) error {
	select {
	case j.writing <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("%s: %w", doing, context.Cause(ctx))
	}
	defer func() { <-j.writing }()
	if j.writer == nil {
		return fmt.Errorf("%s: %w", doing, errReadOnly)
	}
	ctx = context.WithoutCancel(ctx)
	return j.failure(ctx, doing, j.withDeferred(ctx, change))
}

// reader is what reads: a pool of connections or a writer.
type reader interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// scanner is one row to be read: a [*sql.Row] or [*sql.Rows].
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

// micros is a time as the file holds it; the zero time is 0.
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

// now is the present as the file can hold it.
func now() time.Time { return instant(micros(time.Now())) }
