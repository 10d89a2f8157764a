package journal

import (
	"context"
	"log/slog"
	"time"
)

// indexAgain is the pause after which indexing continues if the index could not be written.
const indexAgain = time.Minute

// KeepIndexed completes the index of a journal that an older kernel wrote. It blocks until the
// index is complete or ctx ends, and logs errors.
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
