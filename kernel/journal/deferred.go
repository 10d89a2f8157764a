package journal

import (
	"context"
	"slices"
	"sync"
	"time"
)

// deferredQueue holds the writes that wait for the next change, in the order of the calls.
type deferredQueue struct {
	sync.Mutex
	waiting []deferredWrite
	size    int // of the waiting writes, in bytes
	closed  bool
	longest time.Duration // how long a write waits at most
	timer   *time.Timer   // runs while a write waits for a change
	writing sync.WaitGroup
}

// deferredWrite is a write that waits. It fails only if the journal cannot be written at all.
type deferredWrite struct {
	size  int // its approximate size in memory: deferredSize and its texts
	write func(ctx context.Context, tx *writer) error
}

// deferredBytes is how many bytes may wait; a write beyond that is done at once. deferredSize is
// the size of a write without its texts. deferredTime is how long a write may wait.
const (
	deferredBytes = 16 << 20
	deferredSize  = 500
	deferredTime  = 100 * time.Millisecond
)

// AppendDeferred writes a row in the transaction of the next change, before the change itself. The
// row is written after 100 ms at the latest, or when the journal is closed. Use it for rows that
// explain a change that follows at once, because a commit costs more than a row. Readers do not see
// the row before it is written. If the process is killed before, the journal has neither the row
// nor the change. If the change fails, the row waits for the next change. Errors are those of
// [RecordStore.Append].
func (s *RecordStore) AppendDeferred(ctx context.Context, entry Entry) error {
	if err := entry.check(); err != nil {
		return err
	}
	if entry.Time.IsZero() {
		entry.Time = time.Now()
	}
	return s.deferWrite(ctx, "append to the journal", deferredWrite{len(entry.Data) + deferredSize, func(ctx context.Context, tx *writer) error {
		_, err := insert(ctx, tx, entry)
		return err
	}})
}

// deferWrite queues a write for the next change, or does it now if the queue is full or closed.
func (d *database) deferWrite(ctx context.Context, what string, l deferredWrite) error {
	if d.writer != nil && d.deferred.add(l, d.writeWaiting) {
		return nil
	}
	return d.transact(ctx, what, l.write)
}

// writeWaiting writes the queue if no change came in time. A write that fails stays in the queue,
// and the next change returns the error.
func (d *database) writeWaiting() {
	_ = d.transact(context.Background(), "write the last rows", func(context.Context, *writer) error { return nil })
}

// add queues a write. It returns false if there is no room. It starts the timer that calls write if
// no change comes.
func (q *deferredQueue) add(l deferredWrite, write func()) bool {
	q.Lock()
	defer q.Unlock()
	if q.closed || q.size+l.size > deferredBytes {
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

// disarm stops the timer. The caller holds the mutex.
func (q *deferredQueue) disarm() {
	if q.timer != nil && q.timer.Stop() {
		q.timer = nil
		q.writing.Done()
	}
}

// write does the waiting writes in its caller's transaction, and returns how many.
func (q *deferredQueue) write(ctx context.Context, tx *writer) (written int, err error) {
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

// forget removes the first writes of the queue, which are in the file now.
func (q *deferredQueue) forget(written int) {
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

// close refuses further writes, waits for the timer's write if it runs, and returns how many
// writes still wait.
func (q *deferredQueue) close() int {
	q.Lock()
	q.closed = true
	q.disarm()
	q.Unlock()
	q.writing.Wait()
	return len(q.waiting)
}

// withDeferred does the waiting writes and then change, in one transaction. The caller must hold
// the right to write.
func (d *database) withDeferred(ctx context.Context, change func(context.Context, *writer) error) error {
	written := 0
	err := d.writer.transaction(ctx, syncNormal, func(ctx context.Context, tx *writer) (err error) {
		if written, err = d.deferred.write(ctx, tx); err != nil {
			return err
		}
		return change(ctx, tx)
	})
	if err == nil {
		d.deferred.forget(written)
	}
	return err
}

// flushDeferred does the waiting writes when the journal closes; waiting is their number.
func (d *database) flushDeferred(ctx context.Context, waiting int) error {
	if waiting == 0 || d.writer == nil {
		return nil
	}
	return d.failure(ctx, "write the last rows", d.withDeferred(ctx, func(context.Context, *writer) error { return nil }))
}
