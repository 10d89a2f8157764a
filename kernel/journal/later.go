package journal

import (
	"context"
	"slices"
	"sync"
	"time"
)

// laterQueue holds the rows that wait for the next change, in the order of the calls.
type laterQueue struct {
	sync.Mutex
	waiting []Entry
	size    int // of them, in bytes
	closed  bool
}

// laterBytes is how much may wait; what would be more is written at once.
const laterBytes = 16 << 20

// Later writes a row together with the next change that anybody makes, before it and in the same
// transaction, or when the journal is closed. It is for what says how something came about that
// is written right behind it: a commit costs more than a row. Nobody who reads sees the row until
// then, and if the process is killed before, the journal has neither the row nor what was to come
// of it. A change that fails leaves the row for the next one. Errors are those of [Journal.Append].
func (j *Journal) Later(ctx context.Context, entry Entry) error {
	if err := entry.check(); err != nil {
		return err
	}
	if entry.Time.IsZero() {
		entry.Time = time.Now()
	}
	if j.writer != nil && j.later.add(entry) {
		return nil
	}
	_, err := j.Append(ctx, entry)
	return err
}

// add reports whether there is room for the row.
func (q *laterQueue) add(entry Entry) bool {
	q.Lock()
	defer q.Unlock()
	if q.closed || q.size+entry.size() > laterBytes {
		return false
	}
	q.waiting, q.size = append(q.waiting, entry), q.size+entry.size()
	return true
}

// size is about what the row takes in memory.
func (e Entry) size() int { return len(e.Data) + 200 }

// write writes what waits, in a transaction of its caller.
func (q *laterQueue) write(ctx context.Context, tx *writer) (written int, err error) {
	q.Lock()
	rows := slices.Clip(q.waiting)
	q.Unlock()
	for _, entry := range rows {
		if _, err := insert(ctx, tx, entry); err != nil {
			return 0, err
		}
	}
	return len(rows), nil
}

// forget drops the first rows, which are in the file now.
func (q *laterQueue) forget(written int) {
	if written == 0 {
		return
	}
	q.Lock()
	defer q.Unlock()
	q.waiting, q.size = slices.Clone(q.waiting[written:]), 0
	for _, entry := range q.waiting {
		q.size += entry.size()
	}
}

// close lets no more rows in, and returns how many wait.
func (q *laterQueue) close() int {
	q.Lock()
	defer q.Unlock()
	q.closed = true
	return len(q.waiting)
}

// withLater runs a change in a transaction behind the rows that wait. Only who holds the turn to
// write may call it.
func (j *Journal) withLater(ctx context.Context, change func(context.Context, *writer) error) error {
	written := 0
	err := j.writer.transaction(ctx, process, func(ctx context.Context, tx *writer) (err error) {
		if written, err = j.later.write(ctx, tx); err != nil {
			return err
		}
		return change(ctx, tx)
	})
	if err == nil {
		j.later.forget(written)
	}
	return err
}

// writeLater writes what waits when nothing more comes.
func (j *Journal) writeLater(ctx context.Context) error {
	if j.later.close() == 0 || j.writer == nil {
		return nil
	}
	return j.failure(ctx, "write the last rows", j.withLater(ctx, func(context.Context, *writer) error { return nil }))
}
