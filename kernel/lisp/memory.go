package lisp

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// Memory is a budget of bytes that the calls of several environments share. [Limits] bound what
// one call has in use; Memory bounds what all calls that run at once have in use together, with
// the garbage that ended calls leave.
//
// A call takes from it as it allocates and as it recurses, and gives all of it back when it ends.
// Where too little is left, the garbage of ended calls is collected. Where that is too little as
// well, the call waits until others end. Its clock stands meanwhile, but it waits for no longer
// than Limits.Duration. It ends as if it had exceeded its own limit when that time is over, or when
// all calls that have taken anything wait: then the last one to ask ends, and the others go on.
//
// What environments hold between calls is not counted. Limits.Retained bounds that.
//
// A Memory is safe for many goroutines.
type Memory struct {
	total int64
	mutex sync.Mutex
	// lent is what calls that run have taken, garbage what ended calls had since the last collection.
	lent, garbage int64
	// borrowers are the calls that have taken anything, waiting those of them that wait.
	borrowers, waiting int
	// returned is closed and made anew when a call gives back what it took.
	returned chan struct{}
}

// NewMemory returns a budget of so many bytes.
func NewMemory(bytes int64) *Memory { return &Memory{total: bytes, returned: make(chan struct{})} }

// loan is what one call has taken from a Memory.
type loan struct {
	memory *Memory
	lent   int64
	// unused is what of it was not allocated. It is known when the call ends.
	unused int64
}

const (
	// loanBytes is the least that a call takes at once, so that it seldom asks.
	loanBytes = 1 << 20
	// levelBytes is what a level of nesting takes of the Go stack and in frames, and loanLevels
	// the number of levels that are paid for at once. So many are free.
	levelBytes = 512
	loanLevels = 8192
)

var (
	errMemoryTaken = errors.New("other programs use the memory that all share")
	errLoanTooLong = errors.New("other programs used the memory that all share for too long")
)

// take lends n more bytes. It waits until ctx is done, and no longer than patience. It returns how
// long it waited.
func (l *loan) take(ctx context.Context, n int64, patience time.Duration) (waited time.Duration, err error) {
	m := l.memory
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if !m.fits(n) {
		waited, err = m.wait(ctx, l, n, patience)
	}
	if err != nil {
		return waited, err
	}
	if l.lent == 0 {
		m.borrowers++
	}
	l.lent += n
	m.lent += n
	return waited, nil
}

// fits reports whether n more bytes can be lent, and collects garbage where that helps.
func (m *Memory) fits(n int64) bool {
	if m.lent+m.garbage+n > m.total && m.garbage > 0 && m.lent+n <= m.total {
		m.collect()
	}
	return m.lent+m.garbage+n <= m.total
}

// collect frees what ended calls left, and gives it back to the system.
func (m *Memory) collect() {
	debug.FreeOSMemory()
	m.garbage = 0
}

// wait waits until n bytes fit. The mutex is held when it begins and when it ends.
func (m *Memory) wait(ctx context.Context, l *loan, n int64, patience time.Duration) (time.Duration, error) {
	began := time.Now()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for !m.fits(n) {
		running := m.borrowers - m.waiting
		if l.lent > 0 {
			running--
		}
		if running <= 0 {
			return time.Since(began), errMemoryTaken
		}
		if l.lent > 0 {
			m.waiting++
		}
		returned, err := m.returned, error(nil)
		m.mutex.Unlock()
		select {
		case <-returned: // which counts nobody as waiting any more
		case <-ctx.Done():
			err = ctx.Err()
		case <-timer.C:
			err = errLoanTooLong
		}
		m.mutex.Lock()
		if returned == m.returned && l.lent > 0 {
			m.waiting--
		}
		if err != nil {
			return time.Since(began), err
		}
	}
	return time.Since(began), nil
}

// giveBack ends a loan. What the call allocated is garbage from now on.
func (l *loan) giveBack() {
	m := l.memory
	if l.lent == 0 {
		return
	}
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.borrowers--
	m.lent -= l.lent
	m.garbage += l.lent - l.unused
	if m.lent == 0 && m.garbage > m.total/4 {
		m.collect()
	}
	m.waiting = 0
	close(m.returned)
	m.returned = make(chan struct{})
}

// grant gives the call at least n more bytes, from its own limit and from the memory that it
// shares. The error ends the call.
func (c *Call) grant(n int64) *Error {
	if n < 0 || n > c.left() {
		return &Error{Class: storageCondition, Message: fmt.Sprintf("the limit of %d bytes of memory is exceeded", c.limits.Bytes)}
	}
	wanted := min(max(n-c.bytes, loanBytes), c.ungranted)
	if failed := c.borrow(wanted); failed != nil {
		return failed
	}
	c.bytes += wanted
	c.ungranted -= wanted
	return nil
}

// borrow takes n bytes from the shared memory. The clock of the call stands while it waits.
func (c *Call) borrow(n int64) *Error {
	waited, err := c.loan.take(c.ctx, n, c.limits.Duration)
	c.deadline = c.deadline.Add(waited)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errMemoryTaken), errors.Is(err, errLoanTooLong):
		return &Error{Class: storageCondition, Message: fmt.Sprintf("the %d bytes of memory of all programs together are not enough", c.loan.memory.total), Cause: err}
	case errors.Is(err, context.DeadlineExceeded):
		return &Error{Class: timeCondition, Message: "the time the caller allowed is over", Cause: err}
	}
	return &Error{Class: cancelCondition, Message: "cancelled", Cause: err}
}

// left is how many bytes the call may still allocate.
func (c *Call) left() int64 { return c.bytes + c.ungranted }

// deepen lets the call nest deeper, by some thousand levels, or ends it.
func (c *Call) deepen() {
	for c.depth > c.deepest {
		if c.depth > c.limits.Depth {
			c.abort(storageCondition, "the recursion is too deep (control stack exhausted)")
		}
		if c.loan != nil {
			if failed := c.borrow(loanLevels * levelBytes); failed != nil {
				c.end(failed)
			}
		}
		c.deepest = min(c.deepest+loanLevels, c.limits.Depth)
	}
}
