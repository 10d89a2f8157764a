package journal

import (
	"slices"
	"sync"
	"time"
)

// flushTimes measures the commits that are flushed to the disk.
type flushTimes struct {
	mu      sync.Mutex
	last    [flushesKept]time.Duration
	count   int
	longest time.Duration
}

// flushesKept is of how many flushes the times are kept.
const flushesKept = 512

func (f *flushTimes) add(took time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last[f.count%flushesKept] = took
	f.count++
	f.longest = max(f.longest, took)
}

// Flushes says how long the disk took. Median and P99 are of the last flushes, Longest is of all.
type Flushes struct {
	Count                int
	Median, P99, Longest time.Duration
}

// Flushes measures the commits that were flushed to the disk, which is what accepting a message waits for.
func (j *Journal) Flushes() Flushes {
	f := &j.database.flushes
	f.mu.Lock()
	defer f.mu.Unlock()
	all := slices.Clone(f.last[:min(f.count, flushesKept)])
	if len(all) == 0 {
		return Flushes{}
	}
	slices.Sort(all)
	at := func(percent int) time.Duration { return all[(len(all)-1)*percent/100] }
	return Flushes{Count: f.count, Median: at(50), P99: at(99), Longest: f.longest}
}

// Waiting returns how many rows wait for the next change.
func (j *Journal) Waiting() int {
	q := &j.database.deferred
	q.Lock()
	defer q.Unlock()
	return len(q.waiting)
}
