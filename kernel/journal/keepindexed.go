package journal

import (
	"context"
	"log/slog"
	"time"
)

// indexAgain is when the index of words is gone on with after it could not be written.
const indexAgain = time.Minute

// KeepIndexed makes the index of what was said, if an older kernel left none like it. It
// returns when the index is whole, or ctx ends.
func (s *SearchIndex) KeepIndexed(ctx context.Context, logger *slog.Logger) {
	before, err := s.Unindexed(ctx)
	if err == nil && before.Rows > 0 {
		logger.Info("the index of words is made", "left", before.Percent())
	}
	for began := time.Now(); ; {
		err := s.Index(ctx)
		if err == nil && before.Rows > 0 {
			logger.Info("the index of words is whole", "dur", time.Since(began))
		}
		if err == nil || ctx.Err() != nil {
			return
		}
		logger.Warn("the index of words is not made on for a minute; searches take longer until it is whole", "err", err)
		select {
		case <-time.After(indexAgain):
		case <-ctx.Done():
			return
		}
	}
}
