package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"org-agent/kernel/protocol"
)

// Digest is how models are shown the beginning of a session. Turns and rounds themselves
// stay as they are: another digest can show all of them again.
type Digest struct {
	Seq int64 `json:"-"`
	// Base is the digest that it followed, which is what counts again when it is undone, or the
	// one that counts again by it where it undoes one; 0 for none.
	Base int64 `json:"base,omitempty"`
	// Through is the last turn that is not shown, by its Seq; Turns is how many are not.
	Through int64 `json:"through,omitempty"`
	Turns   int   `json:"turns,omitempty"`
	// Summary stands for the turns up to Summarised, which Told counts; those behind it, up
	// to Through, are left out.
	Summary    json.RawMessage `json:"summary,omitempty"`
	Summarised int64           `json:"summarised,omitempty"`
	Told       int             `json:"told,omitempty"`
	// Results of rounds up to Shortened are shown in part, those up to Omitted not at all.
	Shortened int64 `json:"shortened,omitempty"`
	Omitted   int64 `json:"omitted,omitempty"`
	// By says how it came about; Model is what wrote the summary.
	By    DigestBy `json:"by"`
	Model string   `json:"model,omitempty"`
	// Before and After are what the earlier turns took of the model's window, in tokens.
	Before int `json:"before,omitempty"`
	After  int `json:"after,omitempty"`
}

// DigestBy is how a digest came about.
type DigestBy string

const (
	DigestBySummary DigestBy = "summary" // a model summarised, since the window was filling
	DigestByPerson  DigestBy = "person"  // a model summarised, since a person wanted it
	DigestByPruning DigestBy = "pruning" // results were shortened
	DigestByCut     DigestBy = "cut"     // there was no room and no summary yet
	DigestByUndo    DigestBy = "undo"    // a person took the last one back
	DigestByFork    DigestBy = "fork"    // it is the parent's
)

// digestsLimit is how far back one is looked for that applies: an earlier turn is asked again
// seldom, and without a digest it is only shown less.
const digestsLimit = 64

// Digests returns the digests of a session that are not stale, the last first, at most 64.
func (j *Journal) Digests(ctx context.Context, session string) ([]Digest, error) {
	digests, err := collect(ctx, j.readers, scanDigest, `SELECT d.seq, j.data FROM digest AS d JOIN journal AS j ON j.seq = d.seq
		WHERE d.session = ? AND d.stale = 0 ORDER BY d.seq DESC LIMIT 0 + ?`, session, digestsLimit)
	return digests, j.failure(ctx, "read the digests of a session", err)
}

// Digest returns the digest of this row, or CodeNotFound.
func (j *Journal) Digest(ctx context.Context, seq int64) (Digest, error) {
	d, err := scanDigest(j.readers.QueryRowContext(ctx, "SELECT seq, data FROM journal WHERE seq = ? AND kind = 'digest'", seq))
	return d, j.failure(ctx, "read a digest", notFound(err, "digest", fmt.Sprint(seq)))
}

func scanDigest(row scanner) (d Digest, err error) {
	var seq int64
	var data []byte
	if err := row.Scan(&seq, &data); err != nil {
		return d, err
	}
	err = json.Unmarshal(data, &d)
	d.Seq = seq
	return d, err
}

// PutDigest records a digest that was made when the last one that is not stale was latest,
// 0 for none. CodeConflict if another one has come meanwhile, or that one has become stale.
func (j *Journal) PutDigest(ctx context.Context, session string, digest Digest, latest int64) (Digest, error) {
	err := j.transact(ctx, "record a digest", func(ctx context.Context, tx *writer) error {
		var last int64
		err := tx.QueryRowContext(ctx, "SELECT coalesce(max(seq), 0) FROM digest WHERE session = ? AND stale = 0", session).Scan(&last)
		if err != nil {
			return fmt.Errorf("look for the last digest: %w", err)
		}
		if last != latest {
			return protocol.Errorf(protocol.CodeConflict, "what is shown of the conversation has changed meanwhile")
		}
		digest.Seq, err = putDigest(ctx, tx, session, digest)
		return err
	})
	return digest, err
}

func putDigest(ctx context.Context, tx *writer, session string, digest Digest) (int64, error) {
	row, err := record(ctx, tx, Entry{Kind: KindDigest, Session: session}, digest)
	if err != nil {
		return 0, err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO digest (seq, session, through) VALUES (?, ?, ?)", row.Seq, session, digest.Through)
	if err != nil {
		return 0, fmt.Errorf("write the digest: %w", err)
	}
	return row.Seq, nil
}

// staleDigests makes those digests stale that stand for a turn whose answer has changed.
func staleDigests(ctx context.Context, tx *writer, t Turn) error {
	if _, err := tx.ExecContext(ctx, "UPDATE digest SET stale = 1 WHERE session = ? AND through >= ? AND stale = 0", t.Session, t.Seq); err != nil {
		return fmt.Errorf("mark the digests of the turn %s: %w", t.ID, err)
	}
	return nil
}

// copyDigest gives a fork the last digest of its parent that stands for copied turns only.
// Rounds are the rows of the copied rounds, by those of their origins.
func copyDigest(ctx context.Context, tx *writer, fork Fork, rounds map[int64]int64) error {
	if len(fork.Copies) == 0 {
		return nil
	}
	last := fork.Copies[len(fork.Copies)-1].Origin
	d, err := scanDigest(tx.QueryRowContext(ctx, `SELECT d.seq, j.data FROM digest AS d JOIN journal AS j ON j.seq = d.seq
		WHERE d.session = ? AND d.stale = 0 AND d.through <= (SELECT seq FROM turn WHERE id = ?) ORDER BY d.seq DESC LIMIT 1`, fork.Parent, last))
	if errors.Is(err, sql.ErrNoRows) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for the digest of %s: %w", fork.Parent, err)
	}
	d.By, d.Base = DigestByFork, 0
	for _, turn := range []*int64{&d.Through, &d.Summarised} {
		if *turn == 0 {
			continue
		}
		err := tx.QueryRowContext(ctx, "SELECT seq FROM turn WHERE session = ? AND origin = (SELECT id FROM turn WHERE seq = ?)", fork.Session, *turn).Scan(turn)
		if errors.Is(err, sql.ErrNoRows) {
			return nil // that turn was not copied
		}
		if err != nil {
			return fmt.Errorf("look for the turn of a digest: %w", err)
		}
	}
	for _, bound := range []*int64{&d.Shortened, &d.Omitted} {
		var copied int64
		for origin, row := range rounds {
			if origin <= *bound {
				copied = max(copied, row)
			}
		}
		*bound = copied
	}
	_, err = putDigest(ctx, tx, fork.Session, d)
	return err
}
