package logfile

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

const (
	// deliverEvery is how long lines are collected before followers are called.
	deliverEvery = 100 * time.Millisecond
	// pendingLines and pendingBytes limit the lines that wait for followers.
	pendingLines = 2000
	pendingBytes = 4 << 20
)

// Writer is the log that the kernel writes, one line for each call. It is safe for many goroutines.
// A write never waits for followers.
type Writer struct {
	path string
	file io.Writer

	mu        sync.Mutex
	followers map[any]follower
	pending   []string
	bytes     int
	dropped   int
	wake      chan struct{}
}

// follower receives the lines that match its filter.
type follower struct {
	filter Filter
	tell   func(records []Record, dropped int)
}

// NewWriter returns a writer of the log in file, which is at path. If a killed kernel left an
// unfinished last line there, NewWriter ends it.
func NewWriter(path string, file io.Writer) *Writer {
	if unfinished(path) {
		// An error here will recur at the next write, which reports it.
		_, _ = file.Write([]byte("\n"))
	}
	return &Writer{path: path, file: file, followers: map[any]follower{}, wake: make(chan struct{}, 1)}
}

func unfinished(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Size() == 0 {
		return false
	}
	last := make([]byte, 1)
	_, err = file.ReadAt(last, info.Size()-1)
	return err == nil && last[0] != '\n'
}

// Write implements [io.Writer] for one record.
func (b *Writer) Write(line []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n, err := b.file.Write(line)
	if len(b.followers) == 0 {
		return n, err
	}
	if len(b.pending) >= pendingLines || b.bytes+len(line) > pendingBytes {
		b.dropped++
		return n, err
	}
	b.pending = append(b.pending, string(bytes.TrimSuffix(line, []byte("\n"))))
	b.bytes += len(line)
	select {
	case b.wake <- struct{}{}:
	default: // it is awake already
	}
	return n, err
}

// Follow returns the last records that match the filter, at most count, latest last. more says
// whether older ones may exist. [Writer.Deliver] calls tell for the records after them until
// [Writer.Unfollow]. dropped counts the lines that were lost because too many were waiting. tell
// must not block. A second Follow of the same follower replaces the first. A nil tell follows
// nothing.
func (b *Writer) Follow(ctx context.Context, who any, filter Filter, count int, tell func(records []Record, dropped int)) ([]Record, bool, error) {
	b.mu.Lock()
	file, size := b.open()
	delete(b.followers, who)
	if tell != nil {
		b.followers[who] = follower{filter, tell}
	}
	// The waiting lines are already in the file, where this follower finds them.
	calls := b.flush(who)
	b.mu.Unlock()
	call(calls)
	found, left, err := tail(ctx, b.path, file, size, filter, count)
	if err != nil {
		b.Unfollow(who)
	}
	return found, left, err
}

// open opens the current file, or returns nil if there is none. The caller holds mu.
func (b *Writer) open() (*os.File, int64) {
	file, err := os.Open(b.path)
	if err != nil {
		return nil, 0
	}
	info, err := file.Stat()
	if err != nil {
		_ = file.Close() // it was only read
		return nil, 0
	}
	return file, info.Size()
}

// Unfollow stops following. It does nothing for a follower that does not follow.
func (b *Writer) Unfollow(who any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.followers, who)
}

// Deliver calls the followers with new lines, at most ten times a second, until ctx ends.
func (b *Writer) Deliver(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.wake:
		}
		b.mu.Lock()
		calls := b.flush(nil)
		b.mu.Unlock()
		call(calls)
		select {
		case <-ctx.Done():
			return
		case <-time.After(deliverEvery):
		}
	}
}

// call calls the followers. The caller must not hold mu, because followers may log.
func call(calls []func()) {
	for _, tell := range calls {
		tell()
	}
}

// flush returns the calls that deliver the waiting lines to all followers except one. The caller
// holds mu.
func (b *Writer) flush(except any) (calls []func()) {
	if len(b.pending) == 0 && b.dropped == 0 {
		return nil
	}
	dropped := b.dropped
	records := make([]Record, len(b.pending))
	for i, line := range b.pending {
		records[i] = Parse(line)
	}
	for who, f := range b.followers {
		var wanted []Record
		for _, r := range records {
			if f.filter.Matches(r) {
				wanted = append(wanted, r)
			}
		}
		if who != except && len(wanted)+dropped > 0 {
			calls = append(calls, func() { f.tell(wanted, dropped) })
		}
	}
	b.pending, b.bytes, b.dropped = nil, 0, 0
	return calls
}

// String returns a name of the file for errors.
func (b *Writer) String() string { return fmt.Sprintf("the log %s", b.path) }
