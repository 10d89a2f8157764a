package journal

import (
	"fmt"
	"time"
)

// upgrading reports how far a journal of an older schema was brought up to date. A large one takes minutes on a
// slow disk, in which nobody can use the kernel.
type upgrading struct {
	report func(text string) // nil: nobody is told
	size   int64             // of the journal when it began
	pause  time.Duration     // between two reports; default: half a second
	last   int               // the last report, in percent
}

// The shares of the work, in percent: after so much the copy is made, and the journal has the new schema.
const (
	upgradeCopied   = 33
	upgradeMigrated = 36
)

// during calls work, and reports meanwhile from time to time how far it is. part returns which part of the work is
// done, between 0 and 1; begin and end are the percentages before and after it.
func (u *upgrading) during(begin, end int, part func(spent time.Duration) float64, work func() error) error {
	if u.report == nil {
		return work()
	}
	done, reported := make(chan struct{}), make(chan struct{})
	pause, began := max(u.pause, time.Millisecond), time.Now()
	if u.pause == 0 {
		pause = 500 * time.Millisecond
	}
	go func() {
		defer close(reported)
		for tick := time.NewTicker(pause); ; {
			select {
			case <-done:
				tick.Stop()
				return
			case <-tick.C:
				u.at(begin + int(float64(end-begin)*min(max(part(time.Since(began)), 0), 1)))
			}
		}
	}()
	err := work()
	close(done)
	<-reported
	return err
}

// at reports a percentage, unless it was reported already.
func (u *upgrading) at(percent int) {
	if percent = min(percent, 99); percent > u.last {
		u.last = percent
		u.report(fmt.Sprintf("upgrading the journal, %d %%", percent))
	}
}

// ratio returns which part of the size the file has, 0 for a missing one.
func ratio(path string, size int64) float64 {
	return float64(max(fileSize(path), 0)) / float64(max(size, 1))
}
