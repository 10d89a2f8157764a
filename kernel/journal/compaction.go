package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"org-agent/kernel/protocol"
)

// Compaction describes in which form models receive the beginning of a session: summarised,
// shortened or not at all. The turns and their steps stay in the journal unchanged, so that a later
// compaction can restore them. Its rows have the kind "digest".
type Compaction struct {
	Seq int64 `json:"-"`
	// Base is the compaction before this one. If this one is undone, Base applies again. If this
	// one itself is an undo, Base is the compaction that it restores. 0 for none.
	Base int64 `json:"base,omitempty"`
	// Through is the Seq of the last turn that models do not receive. Turns is the number of these
	// turns.
	Through int64 `json:"through,omitempty"`
	Turns   int   `json:"turns,omitempty"`
	// Summary replaces the turns up to Summarised. SummarisedTurns is their number. The
	// turns after Summarised, up to Through, are left out.
	Summary         json.RawMessage `json:"summary,omitempty"`
	Summarised      int64           `json:"summarised,omitempty"`
	SummarisedTurns int             `json:"told,omitempty"`
	// Results of steps up to the row Shortened are shortened, those up to the row Omitted are left
	// out.
	Shortened int64 `json:"shortened,omitempty"`
	Omitted   int64 `json:"omitted,omitempty"`
	// By is the cause of the compaction. Model is the model that wrote the summary.
	By    CompactionBy `json:"by"`
	Model string       `json:"model,omitempty"`
	// Before and After are the tokens of the earlier turns in the model's window, before and after.
	Before int `json:"before,omitempty"`
	After  int `json:"after,omitempty"`
}

// CompactionBy is the cause of a compaction.
type CompactionBy string

const (
	CompactionBySummary CompactionBy = "summary" // a model summarised because the window was nearly full
	CompactionByPerson  CompactionBy = "person"  // a model summarised because a person asked for it
	CompactionByPruning CompactionBy = "pruning" // results were shortened
	CompactionByCut     CompactionBy = "cut"     // there was no room, and no summary yet
	CompactionByUndo    CompactionBy = "undo"    // a person undid the last compaction
	CompactionByFork    CompactionBy = "fork"    // copied from the parent of a fork
)

// compactionsLimit is how many compactions are searched for one that applies. Only an early turn
// that is answered again needs an older one; without it the model receives less.
const compactionsLimit = 64

// Compactions returns the compactions of a session that are not stale, the last first, at most 64.
func (s *TranscriptStore) Compactions(ctx context.Context, session string) ([]Compaction, error) {
	compactions, err := collect(ctx, s.readers, scanCompaction, `SELECT d.seq, j.data FROM digest AS d JOIN journal AS j ON j.seq = d.seq
		WHERE d.session = ? AND d.stale = 0 ORDER BY d.seq DESC LIMIT 0 + ?`, session, compactionsLimit)
	return compactions, s.failure(ctx, "read the compactions of a session", err)
}

// Compaction returns the compaction of this row, or CodeNotFound.
func (s *TranscriptStore) Compaction(ctx context.Context, seq int64) (Compaction, error) {
	d, err := scanCompaction(s.readers.QueryRowContext(ctx, "SELECT seq, data FROM journal WHERE seq = ? AND kind = 'digest'", seq))
	return d, s.failure(ctx, "read a compaction", notFound(err, "compaction", fmt.Sprint(seq)))
}

func scanCompaction(row scanner) (d Compaction, err error) {
	var seq int64
	var data []byte
	if err := row.Scan(&seq, &data); err != nil {
		return d, err
	}
	err = json.Unmarshal(data, &d)
	d.Seq = seq
	return d, err
}

// PutCompaction records a compaction. latest is the row of the last compaction that was not stale
// when this one was made, 0 for none. CodeConflict if another one was recorded since, or if that
// one has become stale.
func (s *TranscriptStore) PutCompaction(ctx context.Context, session string, compaction Compaction, latest int64) (Compaction, error) {
	err := s.transact(ctx, "record a compaction", func(ctx context.Context, tx *writer) error {
		var last int64
		err := tx.QueryRowContext(ctx, "SELECT coalesce(max(seq), 0) FROM digest WHERE session = ? AND stale = 0", session).Scan(&last)
		if err != nil {
			return fmt.Errorf("look for the last compaction: %w", err)
		}
		if last != latest {
			return protocol.Errorf(protocol.CodeConflict, "what is shown of the conversation has changed meanwhile")
		}
		compaction.Seq, err = putCompaction(ctx, tx, session, compaction)
		return err
	})
	return compaction, err
}

func putCompaction(ctx context.Context, tx *writer, session string, compaction Compaction) (int64, error) {
	row, err := record(ctx, tx, Entry{Kind: KindCompaction, Session: session}, compaction)
	if err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO digest (seq, session, through) VALUES (?, ?, ?)", row.Seq, session, compaction.Through)
	if err != nil {
		return 0, fmt.Errorf("write the compaction: %w", err)
	}
	return row.Seq, nil
}

// staleCompactions marks the compactions stale that cover a turn whose answer has changed.
func staleCompactions(ctx context.Context, tx *writer, t Turn) error {
	if _, err := tx.ExecContext(ctx, "UPDATE digest SET stale = 1 WHERE session = ? AND through >= ? AND stale = 0", t.Session, t.Seq); err != nil {
		return fmt.Errorf("mark the compactions of the turn %s: %w", t.ID, err)
	}
	return nil
}

// copyCompaction gives a fork the last compaction of its parent that covers copied turns only.
// steps maps the rows of the original steps to those of their copies.
func copyCompaction(ctx context.Context, tx *writer, fork Fork, steps map[int64]int64) error {
	if len(fork.Copies) == 0 {
		return nil
	}
	last := fork.Copies[len(fork.Copies)-1].Origin
	d, err := scanCompaction(tx.QueryRowContext(ctx, `SELECT d.seq, j.data FROM digest AS d JOIN journal AS j ON j.seq = d.seq
		WHERE d.session = ? AND d.stale = 0 AND d.through <= (SELECT seq FROM turn WHERE id = ?) ORDER BY d.seq DESC LIMIT 1`, fork.Parent, last))
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for the compaction of %s: %w", fork.Parent, err)
	}
	d.By, d.Base = CompactionByFork, 0
	for _, turn := range []*int64{&d.Through, &d.Summarised} {
		if *turn == 0 {
			continue
		}
		err := tx.QueryRowContext(ctx, "SELECT seq FROM turn WHERE session = ? AND origin = (SELECT id FROM turn WHERE seq = ?)", fork.Session, *turn).Scan(turn)
		if errors.Is(err, sql.ErrNoRows) {
			return nil // that turn was not copied
		}
		if err != nil {
			return fmt.Errorf("look for the turn of a compaction: %w", err)
		}
	}
	for _, bound := range []*int64{&d.Shortened, &d.Omitted} {
		var copied int64
		for origin, row := range steps {
			if origin <= *bound {
				copied = max(copied, row)
			}
		}
		*bound = copied
	}
	_, err = putCompaction(ctx, tx, fork.Session, d)
	return err
}
