package sandbox

import (
	"sync"
	"time"
)

// lookInterval is the shortest time between two scans of the directory of a running command. After
// a scan that takes long the wait is longer, so that scanning takes at most a twentieth of one
// processor.
const lookInterval = 2 * time.Second

// scanRepeatedly scans the directory while the command runs. A command can run for days, and until
// it ends the person's own git would run what it made. stop ends the scanning and waits for it.
func (p *Process) scanRepeatedly() (stop func()) {
	if p.before == nil {
		return func() {}
	}
	stopping := make(chan struct{})
	var work sync.WaitGroup
	work.Go(func() {
		var reported Left
		timer := time.NewTimer(lookInterval)
		defer timer.Stop()
		for {
			select {
			case <-stopping:
				return
			case <-timer.C:
			}
			began := time.Now()
			found := p.before.cleanUp(true)
			found.Unseen = false // directories come and go; the scan at the end decides
			p.left = p.left.With(found)
			if fresh := found.Without(reported); !fresh.Empty() && p.found != nil {
				reported = reported.With(fresh)
				p.found(fresh)
			}
			timer.Reset(max(lookInterval, 20*time.Since(began)))
		}
	})
	return func() {
		close(stopping)
		work.Wait()
	}
}
