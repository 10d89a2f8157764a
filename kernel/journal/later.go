package journal

import (
	"context"
	"slices"
	"sync"
	"time"
)

// laterQueue holds what waits for the next change, in the order of the calls.
type laterQueue struct {
	sync.Mutex
	waiting []later
	size    int // of them, in bytes
	closed  bool
	longest time.Duration // that anything waits
	timer   *time.Timer   // runs while something waits that no change has taken along
	writing sync.WaitGroup
}

// later is something to write. It fails only when nothing can be written.
type later struct {
	size  int // in memory, about: laterSize and what it has of texts
	write func(ctx context.Context, tx *writer) error
}

// laterBytes is how much may wait; what would be more is written at once. laterTime is how long
// it may wait.
const (
	laterBytes = 16 << 20
	laterSize  = 500
	laterTime  = 100 * time.Millisecond
)

// Later writes a row together with the next change that anybody makes, before it and in the same
// transaction, or after 100 ms, or when the journal is closed. It is for what says how something came about that
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
	return j.whenever(ctx, "append to the journal", later{len(entry.Data) + laterSize, func(ctx context.Context, tx *writer) error {
		_, err := insert(ctx, tx, entry)
		return err
	}})
}

// whenever has something written with the next change, or now if no more may wait.
func (j *Journal) whenever(ctx context.Context, what string, l later) error {
	if j.writer != nil && j.later.add(l, j.writeWaiting) {
		return nil
	}
	return j.transact(ctx, what, l.write)
}

// writeWaiting writes what waits when no change has come. What cannot be written now waits for
// the next change, which says why.
func (j *Journal) writeWaiting() {
	_ = j.transact(context.Background(), "write the last rows", func(context.Context, *writer) error { return nil })
}

// add reports whether there is room for more. In a while write is called, if it still waits.
func (q *laterQueue) add(l later, write func()) bool {
	q.Lock()
	defer q.Unlock()
	if q.closed || q.size+l.size > laterBytes {
		return false
	}
	q.waiting, q.size = append(q.waiting, l), q.size+l.size
	if q.timer == nil {
		q.writing.Add(1)
		q.timer = time.AfterFunc(q.longest, func() {
			defer q.writing.Done()
			q.Lock()
			q.timer = nil
			q.Unlock()
			write()
		})
	}
	return true
}

// disarm has nothing written for a while having passed. The mutex is held.
func (q *laterQueue) disarm() {
	if q.timer != nil && q.timer.Stop() {
		q.timer = nil
		q.writing.Done()
	}
}

// write writes what waits, in a transaction of its caller.
func (q *laterQueue) write(ctx context.Context, tx *writer) (written int, err error) {
	q.Lock()
	all := slices.Clip(q.waiting)
	q.Unlock()
	for _, l := range all {
		if err := l.write(ctx, tx); err != nil {
			return 0, err
		}
	}
	return len(all), nil
}

// forget drops the first of what waits, which is in the file now.
func (q *laterQueue) forget(written int) {
	if written == 0 {
		return
	}
	q.Lock()
	defer q.Unlock()
	q.waiting, q.size = slices.Clone(q.waiting[written:]), 0
	for _, l := range q.waiting {
		q.size += l.size
	}
	if len(q.waiting) == 0 {
		q.disarm()
	}
}

// close lets no more in, waits until nothing is being written for having waited long, and returns
// how many wait.
func (q *laterQueue) close() int {
	q.Lock()
	q.closed = true
	q.disarm()
	q.Unlock()
	q.writing.Wait()
	return len(q.waiting)
}

// withLater runs a change in a transaction behind what waits. Only who holds the turn to
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

// writeLater writes what waits, which is so many, when nothing more comes.
func (j *Journal) writeLater(ctx context.Context, waiting int) error {
	if waiting == 0 || j.writer == nil {
		return nil
	}
	return j.failure(ctx, "write the last rows", j.withLater(ctx, func(context.Context, *writer) error { return nil }))
}
