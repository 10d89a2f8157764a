package rpc

import (
	"errors"
	"sync"
	"unicode/utf8"

	"github.com/sourcegraph/jsonrpc2"

	"org-agent/kernel/protocol"
)

const (
	queueLimit = 64 << 20  // bytes that may wait for one peer
	batchSize  = 64 << 10  // bytes that are written together
	mergeLimit = 256 << 10 // bytes of text of a merged delta
	entryCost  = 256       // bytes an entry is counted for beside its content
)

var errQueueFull = errors.New("too much waits for a peer that does not read")

// queue holds the messages to one peer that are not written yet. Any goroutine may push, one takes. A
// push never blocks: a full queue is an error.
type queue struct {
	mu       sync.Mutex
	entries  []entry
	bytes    int
	previews map[string]*preview // deltas that may still grow, by act id
	closed   bool
	wake     chan struct{} // holds a token when there may be something to take
}

// entry is an encoded frame or a preview.
type entry struct {
	frame   []byte
	preview *preview
}

// preview is a turn/delta, with the later deltas that were merged into it.
type preview struct {
	delta protocol.TurnDelta // without its text
	text  []byte
	end   int // the code point after the text
}

func (p *preview) message() message {
	d := p.delta
	d.Text = string(p.text)
	return message{kind: notification, method: protocol.MethodTurnDelta, params: &d}
}

func newQueue() *queue {
	return &queue{previews: map[string]*preview{}, wake: make(chan struct{}, 1)}
}

// push adds a frame, which the queue then owns. Later deltas do not overtake it.
func (q *queue) push(frame []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	clear(q.previews)
	return q.add(entry{frame: frame}, len(frame)+entryCost)
}

// pushDelta adds a delta or merges it into the one it continues.
func (q *queue) pushDelta(d protocol.TurnDelta) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	p := q.previews[d.ID]
	if p != nil && p.end == d.Offset && p.delta.Turn == d.Turn && len(p.text)+len(d.Text) <= mergeLimit {
		if err := q.charge(len(d.Text)); err != nil {
			return err
		}
		p.text = append(p.text, d.Text...)
		p.end += utf8.RuneCountInString(d.Text)
		return nil
	}
	p = &preview{delta: d, text: []byte(d.Text), end: d.Offset + utf8.RuneCountInString(d.Text)}
	p.delta.Text = ""
	if err := q.add(entry{preview: p}, len(d.Text)+entryCost); err != nil {
		return err
	}
	q.previews[d.ID] = p
	return nil
}

func (q *queue) add(e entry, size int) error {
	if err := q.charge(size); err != nil {
		return err
	}
	q.entries = append(q.entries, e)
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return nil
}

func (q *queue) charge(size int) error {
	switch {
	case q.closed:
		return jsonrpc2.ErrClosed
	case q.bytes+size > queueLimit:
		return errQueueFull
	}
	q.bytes += size
	return nil
}

// take waits for entries and returns about batchSize bytes of them, at least one entry. It returns
// none if the queue is closed and empty.
func (q *queue) take() []entry {
	for {
		q.mu.Lock()
		batch := q.cut()
		closed := q.closed
		q.mu.Unlock()
		if len(batch) > 0 || closed {
			return batch
		}
		<-q.wake
	}
}

func (q *queue) cut() []entry {
	n, size := 0, 0
	for n < len(q.entries) && (n == 0 || size < batchSize) {
		e := q.entries[n]
		if e.preview != nil {
			size += len(e.preview.text)
			if q.previews[e.preview.delta.ID] == e.preview {
				delete(q.previews, e.preview.delta.ID)
			}
		}
		size += len(e.frame)
		n++
	}
	batch := q.entries[:n:n]
	q.entries = q.entries[n:]
	if len(q.entries) == 0 {
		q.entries = nil
	}
	q.bytes -= size + n*entryCost
	return batch
}

// close ends the queue for new entries. The taker receives the waiting entries and then none.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.closed {
		q.closed = true
		close(q.wake)
	}
}

// pending returns how many messages wait, and their bytes.
func (q *queue) pending() (messages, bytes int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.entries), q.bytes
}
