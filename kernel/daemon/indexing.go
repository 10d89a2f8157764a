package daemon

import (
	"context"
	"time"
)

// indexAgain is when the index of words is gone on with after it could not be written.
const indexAgain = time.Minute

// indexJournal makes the index of what was said, if an older kernel left none like it.
func (d *daemon) indexJournal(ctx context.Context) {
	before, err := d.journal.Unindexed(ctx)
	if err == nil && before.Rows > 0 {
		d.log.Info("the index of words is made", "left", before.Percent())
	}
	for began := time.Now(); ; {
		err := d.journal.Index(ctx)
		if err == nil && before.Rows > 0 {
			d.log.Info("the index of words is whole", "dur", time.Since(began))
		}
		if err == nil || ctx.Err() != nil {
			return
		}
		d.log.Warn("the index of words is not made on for a minute; searches take longer until it is whole", "err", err)
		select {
		case <-time.After(indexAgain):
		case <-ctx.Done():
			return
		}
	}
}
