package lisp

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// Memory is a budget of bytes that the calls of several environments share. [Limits] bound what
// one call allocates in all; Memory bounds what all calls that run at once have in use together, with
// the garbage that they and ended calls leave.
//
// A call takes from it as it allocates and as it recurses, and gives back what it did not use while it
// waits for something outside: many calls that wait for a model take little. Where too little is left, the collector
// runs, and what is not in use any more is there again. Where that is too little as well, the call
// waits until others end. Its clock stands meanwhile, but it waits for no longer than
// Limits.Duration. It ends as if it had exceeded its own limit when that time is over, or when all
// calls that have taken anything wait: then the last one to ask ends, and the others go on.
//
// What is in use is measured: it is what the heap of the program has grown by since no call ran. A
// program that grows by itself meanwhile leaves the calls less. What environments hold between calls
// is not counted. Limits.Retained bounds that.
//
// A Memory is safe for many goroutines.
type Memory struct {
	total int64
	mutex sync.Mutex
	// held is what calls had in use at the last collection, taken what they took since. After it ended
	// calls may have left garbage.
	held, taken int64
	ended       bool
	// base is what the heap had when no call ran, measured at the time looked.
	base   int64
	looked time.Time
	// borrowers are the calls that have taken anything, waiting those of them that wait, pending what
	// each of them took last, of which it may not have allocated anything yet.
	borrowers, waiting int
	pending            int64
	// returned is closed and made anew when a call gives something back.
	returned chan struct{}
}

// NewMemory returns a budget of so many bytes.
func NewMemory(bytes int64) *Memory { return &Memory{total: bytes, returned: make(chan struct{})} }

// loan is what one call has taken from a Memory.
type loan struct {
	memory *Memory
	// lent is what it took in all, last what it took last.
	lent, last int64
	// unused is what of it was not allocated. It is known when the call ends.
	unused int64
}

const (
	// loanBytes is the least that a call takes at once, so that it seldom asks.
	loanBytes = 1 << 20
	// worthCollecting is the part of a Memory that must have been taken since the last collection for
	// another one, unless calls have ended.
	worthCollecting = 8
	// worthReturning is the part of a Memory that may be garbage when no call runs. A collection goes
	// through all that is in use, so in a large heap there may be more: the part liveShare of it.
	worthReturning, liveShare = 4, 2
	// lookEvery is how often the heap is looked at when a call begins and no other runs.
	lookEvery = time.Second
)

var (
	errMemoryTaken = errors.New("other programs use the memory that all share")
	errLoanTooLong = errors.New("other programs used the memory that all share for too long")
)

// take lends n more bytes. It waits until ctx is done, and no longer than timeout. It returns how
// long it waited.
func (l *loan) take(ctx context.Context, n int64, timeout time.Duration) (waited time.Duration, err error) {
	m := l.memory
	m.mutex.Lock()
	defer m.mutex.Unlock()
	if m.borrowers == 0 {
		m.look()
	}
	m.pending -= l.last // it has allocated that by now
	l.last = 0
	if !m.fits(n) {
		waited, err = m.wait(ctx, l, n, timeout)
	}
	if err != nil {
		return waited, err
	}
	if l.lent == 0 {
		m.borrowers++
	}
	l.lent += n
	m.taken += n
	m.pending += n
	l.last = n
	return waited, nil
}

// look measures the heap while no call runs. What calls have left in it is taken for garbage.
func (m *Memory) look() {
	if now := time.Now(); now.Sub(m.looked) >= lookEvery {
		m.looked, m.base = now, max(heapInUse()-m.held-m.taken, 0)
	}
}

// heapInUse is what the heap has, with garbage that was not collected and with the stacks.
func heapInUse() int64 {
	samples := [...]metrics.Sample{{Name: heapObjects}, {Name: heapStacks}}
	metrics.Read(samples[:])
	return int64(samples[0].Value.Uint64() + samples[1].Value.Uint64())
}

// fits reports whether n more bytes can be lent, and collects garbage where that helps.
func (m *Memory) fits(n int64) bool {
	if m.held+m.taken+n > m.total && (m.ended || m.taken > m.total/worthCollecting) {
		m.collect()
	}
	return m.held+m.taken+n <= m.total
}

// collect frees what is not in use, gives it back to the system, and measures what is.
func (m *Memory) collect() {
	debug.FreeOSMemory()
	live := heapInUse()
	if m.borrowers == 0 {
		m.held, m.base, m.looked = 0, live, time.Now()
	} else {
		m.held = min(m.held+m.taken, max(live-m.base, 0)+m.pending)
	}
	m.taken, m.ended = 0, false
}

// wait waits until n bytes fit. The mutex is held when it begins and when it ends.
func (m *Memory) wait(ctx context.Context, l *loan, n int64, timeout time.Duration) (time.Duration, error) {
	began := time.Now()
	timer := time.NewTimer(timeout)
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

// pause gives back n bytes that were taken and not used. The call goes on and may take more.
func (l *loan) pause(n int64) {
	m := l.memory
	m.mutex.Lock()
	defer m.mutex.Unlock()
	m.pending -= l.last
	l.last = 0
	m.taken = max(m.taken-n, 0)
	m.wake()
}

// wake lets the calls that wait look again. The mutex is held.
func (m *Memory) wake() {
	m.waiting = 0
	close(m.returned)
	m.returned = make(chan struct{})
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
	m.pending -= l.last
	m.taken, m.ended = max(m.taken-l.unused, 0), true
	if m.borrowers == 0 && m.held+m.taken > max(m.total/worthReturning, m.base/liveShare) {
		m.collect()
	}
	m.wake()
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

// giveBackUnused gives back what the call was granted of the shared memory and did not use. The call
// must have its guard.
func (c *Call) giveBackUnused() {
	if c.loan != nil && c.loan.lent > 0 {
		c.loan.pause(c.bytes)
		c.ungranted += c.bytes
		c.bytes = 0
	}
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
