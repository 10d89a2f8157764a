package journal

import (
	"context"
	"database/sql"
	"embed"
	"time"
)

// Tests ask in SQL for what must be true of a file and what no store returns, such as its
// integrity. They change in SQL what no store changes, such as the size that a file may have.

// QueryRow runs a query on a connection that reads.
func (j *Journal) QueryRow(ctx context.Context, query string) *sql.Row {
	return j.database.readers.QueryRowContext(ctx, query)
}

// Exec runs a statement on the connection that writes.
func (j *Journal) Exec(ctx context.Context, statement string, args ...any) error {
	_, err := j.database.writer.conn.ExecContext(ctx, statement, args...)
	return err
}

// QueryRow runs a query on a connection that reads.
func (f *Files) QueryRow(ctx context.Context, query string) *sql.Row {
	return f.readers.QueryRowContext(ctx, query)
}

// Exec runs a statement on the connection that writes.
func (f *Files) Exec(ctx context.Context, statement string) error {
	_, err := f.writer.ExecContext(ctx, statement)
	return err
}

// Journals of older schemas are made from what the package has of them.

// ApplicationID and SchemaVersion are what a file says about itself.
const (
	ApplicationID = applicationID
	SchemaVersion = schemaVersion
)

// Schemas returns the scripts that make and change the tables.
func Schemas() embed.FS { return schemas }

// DataSource is dataSource.
func DataSource(path string) string { return dataSource(path) }

// The bounds of the package are no part of its contract. Tests go to them and beyond.
const (
	Candidates     = candidates
	CommonParts    = commonParts
	DataLimit      = dataLimit
	DeferredBytes  = deferredBytes
	EntriesBytes   = entriesBytes
	HistoryBytes   = historyBytes
	QuestionLength = questionLength
	SearchLimit    = searchLimit
)

// The order of goroutines and the time of deferred writes have no door, because they are the
// package's own.

// HoldWriter keeps others from writing until release is called.
func (j *Journal) HoldWriter() (release func()) {
	j.database.writing <- struct{}{}
	return func() { <-j.database.writing }
}

// WaitingEvents is the number of events that wait for the writer.
func (s *TurnStore) WaitingEvents() int {
	s.queue.Lock()
	defer s.queue.Unlock()
	return len(s.queue.waiting)
}

// SetDeferredTime sets how long a deferred write waits at most. Call it before the first one.
func (j *Journal) SetDeferredTime(longest time.Duration) { j.database.deferred.longest = longest }

// DeferredSize is the size of the writes that wait.
func (j *Journal) DeferredSize() int { return j.database.deferred.size }

// ErrReadOnly is errReadOnly. Consumers that only read have no use for it.
var ErrReadOnly = errReadOnly

// SearchWithin is search. [SearchIndex.Search] has a budget of its own.
func (s *SearchIndex) SearchWithin(ctx context.Context, query Search, budget time.Duration) (SearchResult, error) {
	return s.search(ctx, query, budget)
}

// IndexPiece and RemoveFormer are the steps of [SearchIndex.Index]. Tests work and stop between
// them.

// IndexPiece is indexPiece.
func (s *SearchIndex) IndexPiece(ctx context.Context) (more bool, err error) {
	return s.indexPiece(ctx)
}

// RemoveFormer is removeFormer.
func (s *SearchIndex) RemoveFormer(ctx context.Context) (more bool, err error) {
	return s.removeFormer(ctx)
}

// ReadTurnOrder reads a part of a session's order into the cache, as only [TranscriptStore] does.
func (s *TranscriptStore) ReadTurnOrder(ctx context.Context, session string, from int64, most int) error {
	_, err := s.readTurnOrder(ctx, session, from, most)
	return err
}

// StampText is stampText, the form that a file has a stamp in.
func StampText(stamp time.Time) string { return stampText(stamp) }

// SetBenchDirectory sets the directory of the benchmarks, which fill a journal from inside.
func SetBenchDirectory(path string) { benchDirectory = path }
