package session

import (
	"slices"
	"sync"

	"org-agent/kernel/journal"
)

// turnQueue is the turns of a session that have not ended: those that wait, in the order of the
// journal, and the one that runs. The zero value is ready.
type turnQueue struct {
	mu      sync.Mutex
	waiting []journal.Turn
	working bool  // a goroutine takes the turns
	running *Turn // the turn that is being answered
}

// add puts a turn at the end. idle is true if the caller must start the goroutine that takes turns.
func (q *turnQueue) add(record journal.Turn) (idle bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, record)
	idle = !q.working
	q.working = true
	return idle
}

// next ends the running turn and makes the first turn for which begin returns one the running turn.
// begin is called with the lock held. nil means that none is left, and the goroutine must end.
func (q *turnQueue) next(begin func(journal.Turn) *Turn) *Turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.running = nil
	for len(q.waiting) > 0 {
		record := q.waiting[0]
		q.waiting = q.waiting[1:]
		if q.running = begin(record); q.running != nil {
			return q.running
		}
	}
	q.waiting, q.working = nil, false
	return nil
}

// stop returns the running turn if it is that turn, or any with turn "". Otherwise it takes the turn
// out of the queue, and removed tells whether it waited there.
func (q *turnQueue) stop(turn string) (running *Turn, removed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.running != nil && (turn == "" || q.running.Record.ID == turn) {
		return q.running, false
	}
	at := slices.IndexFunc(q.waiting, func(t journal.Turn) bool { return t.ID == turn })
	if at >= 0 {
		q.waiting = slices.Delete(q.waiting, at, at+1)
	}
	return nil, at >= 0
}

// current returns the running turn, or nil.
func (q *turnQueue) current() *Turn {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.running
}

// length returns how many turns wait.
func (q *turnQueue) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// busy reports whether a turn runs or waits, or one has just ended.
func (q *turnQueue) busy() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.working
}

// state returns the running turn, or nil, and the waiting turns at the same moment.
func (q *turnQueue) state() (running *Turn, waiting []journal.Turn) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.running, slices.Clone(q.waiting)
}
