package clients

import (
	"context"
	"time"
)

// Linger waits until no client was connected and the kernel was not busy for that long. It returns
// false if ctx ends first.
func (c *Clients) Linger(ctx context.Context, long time.Duration, busy func() bool) bool {
	idle := time.Now()
	tick := time.NewTicker(max(long/20, 10*time.Millisecond))
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case now := <-tick.C:
			if c.Count() > 0 || busy() {
				idle = now
			} else if now.Sub(idle) >= long {
				return true
			}
		}
	}
}
