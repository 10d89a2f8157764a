package lisp

import "time"

// sleep waits as long as the note says, at most until the call's own time is over or its
// context ends: a note that sleeps too long ends as one that computes too long does.
func sleep(c *Call, seconds Value) Value {
	if c.number(seconds); c.compare(seconds, Integer(0)) < 0 {
		c.TypeError(seconds, "UNSIGNED-BYTE")
	}
	left := time.Until(c.deadline) + time.Millisecond
	if wanted := double(seconds); wanted < left.Seconds() {
		left = time.Duration(wanted * float64(time.Second))
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-c.ctx.Done():
	}
	c.poll()
	return Nil
}
