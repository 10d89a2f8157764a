package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// A correction stays within these bounds. An estimate is never wrong by more, but a server may
// count something else.
const (
	leastCorrection = 0.25
	mostCorrection  = 4
	// surely is the number of tokens from which on an estimate is used for the correction.
	surely = 200
	// remembered is the number of replies over which a correction is averaged.
	remembered = 16
)

// Correction returns the ratio of the tokens that a model counts to those that are estimated. It is
// 1 while nothing is known.
func (s *UsageStore) Correction(ctx context.Context, model string) (float64, error) {
	factor, _, err := correction(ctx, s.readers, model)
	return factor, s.failure(ctx, "read how a model counts", err)
}

func correction(ctx context.Context, from reader, model string) (factor float64, replies int, err error) {
	err = from.QueryRowContext(ctx, "SELECT factor, replies FROM correction WHERE model = ?", model).Scan(&factor, &replies)
	if errors.Is(err, sql.ErrNoRows) {
		return 1, 0, nil
	}
	return factor, replies, err
}

// correct updates the correction with the usage of a reply.
func correct(ctx context.Context, tx *writer, spent ReplyUsage) error {
	if spent.Estimate < surely || spent.Input <= 0 {
		return nil
	}
	factor, replies, err := correction(ctx, tx, spent.RequestedModel)
	if err != nil {
		return fmt.Errorf("read how a model counts: %w", err)
	}
	seen := min(max(float64(spent.Input)/float64(spent.Estimate), leastCorrection), mostCorrection)
	factor += (seen - factor) / float64(min(replies+1, remembered))
	_, err = tx.ExecContext(ctx, `INSERT INTO correction (model, factor, replies) VALUES (?, ?, ?)
		ON CONFLICT (model) DO UPDATE SET factor = excluded.factor, replies = excluded.replies`, spent.RequestedModel, factor, replies+1)
	if err != nil {
		return fmt.Errorf("write how a model counts: %w", err)
	}
	return nil
}
