package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// What was sent to models and what they replied is most of a journal, and nothing needs it but explanations
// and replays. When it is old, it goes from the journal to the archive, a file beside it, in small pieces: a
// piece is on the disk in the archive before it leaves the journal. So at any moment a row's data is in one of
// the two. Everything else stays: what was said and done, verdicts, approvals and decisions.

const (
	archiveRows  = 1024    // the most rows of the journal in a piece
	archiveBytes = 1 << 20 // of data in a piece, without its last row
	archivePages = 64      // of the file that are given back at a time
)

// archiveRest is the pause between two rounds.
const archiveRest = time.Hour

// Archive moves old rows to the archive.
type Archive struct {
	*database
	ages chan time.Duration // has the latest age that [Archive.KeepArchived] does not know
}

func newArchive(d *database) *Archive { return &Archive{d, make(chan time.Duration, 1)} }

// SetAge has KeepArchived go on with another age. It does not block.
func (a *Archive) SetAge(age time.Duration) {
	for {
		select {
		case a.ages <- age:
			return
		default:
		}
		select {
		case <-a.ages: // it was not known yet
		default:
		}
	}
}

// KeepArchived moves what is older than an age to the archive, now and each hour, and when [Archive.SetAge]
// sets another age. An age of 0 moves nothing. It blocks until ctx ends, and logs errors.
func (a *Archive) KeepArchived(ctx context.Context, age time.Duration, logger *slog.Logger) {
	for {
		if age > 0 {
			began := time.Now()
			moved, err := a.Move(ctx, began.Add(-age))
			switch {
			case err != nil && ctx.Err() == nil:
				logger.Warn("old requests to models stay in the journal for now", "err", err)
			case moved > 0:
				logger.Info("old requests to models are in the archive", "rows", moved, "file", a.archive.path, "dur", time.Since(began))
			}
		}
		select {
		case <-time.After(archiveRest):
		case age = <-a.ages:
		case <-ctx.Done():
			return
		}
	}
}

// Move moves to the archive what turns that were asked before a time sent to models and were replied, and
// gives the space back. It returns the number of rows. Rows of turns that have not ended stay. It
// writes no more at a time than a message does, pauses as long as it works, and continues where an
// earlier call ended.
func (a *Archive) Move(ctx context.Context, before time.Time) (moved int, err error) {
	for {
		began := time.Now()
		n, more, err := a.movePiece(ctx, before)
		moved += n
		if err == nil && !more {
			more, err = a.shrink(ctx)
		}
		if err != nil || !more {
			return moved, a.failure(ctx, "archive old requests", err)
		}
		select {
		case <-time.After(time.Since(began)):
		case <-ctx.Done():
			return moved, fmt.Errorf("archive old requests: %w", context.Cause(ctx))
		}
	}
}

// archivedRow is a row that goes to the archive.
type archivedRow struct {
	seq  int64
	sum  string
	data json.RawMessage

	// What stays in the journal.
	time              time.Time
	kind              Kind
	session, turn, id string
	stub              json.RawMessage
}

// lastOldQuery finds the latest turn that is old. A clock that was wrong for a while does not stop it.
const lastOldQuery = "SELECT coalesce((SELECT seq FROM turn WHERE accepted < ? ORDER BY seq DESC LIMIT 1), 0), (SELECT until FROM archiving)"

// movePiece moves some rows, or notes that there are none among the next ones.
func (a *Archive) movePiece(ctx context.Context, before time.Time) (moved int, more bool, err error) {
	var last, until int64
	if err := a.readers.QueryRowContext(ctx, lastOldQuery, micros(before)).Scan(&last, &until); err != nil || last <= until {
		return 0, false, err
	}
	rows, through, err := a.oldRows(ctx, until, min(last, until+archiveRows))
	if err != nil {
		return 0, false, err
	}
	if len(rows) > 0 {
		if err := a.put(ctx, rows); err != nil {
			return 0, false, err
		}
	}
	err = a.transact(ctx, "archive old requests", func(ctx context.Context, tx *writer) error {
		result, err := tx.ExecContext(ctx, "UPDATE archiving SET moving = ? WHERE until = ?", through, until)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n == 0 {
			return err // another process archives, too
		}
		if err := shorten(ctx, tx, rows); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE archiving SET until = ?, moving = 0", through)
		return err
	})
	return len(rows), err == nil && through < last, err
}

// shorten puts the stubs in the place of rows.
func shorten(ctx context.Context, tx *writer, rows []archivedRow) error {
	for _, row := range rows {
		if _, err := tx.ExecContext(ctx, "DELETE FROM journal WHERE seq = ?", row.seq); err != nil {
			return fmt.Errorf("take row %d out: %w", row.seq, err)
		}
	}
	for _, row := range rows {
		_, err := tx.ExecContext(ctx, "INSERT INTO journal (seq, time, kind, session, turn, id, data) VALUES (?, ?, ?, ?, ?, ?, ?)",
			row.seq, micros(row.time), string(row.kind), row.session, row.turn, row.id, string(row.stub))
		if err != nil {
			return fmt.Errorf("shorten row %d: %w", row.seq, err)
		}
	}
	return nil
}

// put writes rows to the archive, and salvages it first if it is damaged.
func (a *Archive) put(ctx context.Context, rows []archivedRow) error {
	err := a.archive.put(ctx, rows)
	if !Damaged(err) {
		return err
	}
	told, failed := a.archive.salvage(ctx)
	if failed != nil {
		return errors.Join(err, failed)
	}
	return errors.Join(a.writeIncidents(ctx, told), a.archive.put(ctx, rows))
}

// oldRowsQuery reads rows that can be archived. A turn that has not ended may need its own.
const oldRowsQuery = "SELECT " + entryColumns + ` FROM journal WHERE seq > ? AND seq <= ? AND +kind IN ('model-request', 'model-reply', 'proposal') AND length(data) > 200
	AND NOT EXISTS (SELECT 1 FROM turn WHERE id = journal.turn AND finished = 0) ORDER BY seq`

// oldRows returns rows after a row that can be archived, and the row up to which there are no more of them.
func (a *Archive) oldRows(ctx context.Context, after, until int64) (rows []archivedRow, through int64, err error) {
	found, err := a.readers.QueryContext(ctx, oldRowsQuery, after, until)
	if err != nil {
		return nil, 0, err
	}
	defer found.Close()
	through = until
	for size := 0; found.Next(); {
		entry, err := scanEntry(found)
		if err != nil {
			return nil, 0, err
		}
		row := archivedRow{seq: entry.Seq, data: entry.Data, time: entry.Time, kind: entry.Kind, session: entry.Session, turn: entry.Turn, id: entry.ID}
		if size > archiveBytes {
			through = row.seq - 1
			break
		}
		size += len(row.data)
		if row.sum, row.stub, err = stubOf(row.data); err != nil {
			return nil, 0, fmt.Errorf("read row %d: %w", row.seq, err)
		}
		if row.stub != nil {
			rows = append(rows, row)
		}
	}
	return rows, through, found.Err()
}

// shrink gives some of the space back that rows had. It reports whether there is more.
func (a *Archive) shrink(ctx context.Context) (more bool, err error) {
	var free, shrinks int
	count := func(from reader) error {
		return from.QueryRowContext(ctx, "SELECT (SELECT freelist_count FROM pragma_freelist_count), (SELECT auto_vacuum FROM pragma_auto_vacuum)").Scan(&free, &shrinks)
	}
	if err := count(a.readers); err != nil || shrinks != shrinksOnDemand || free < archivePages {
		return false, err
	}
	err = a.transact(ctx, "give the space of old requests back", func(ctx context.Context, tx *writer) error {
		rows, err := tx.conn.QueryContext(ctx, fmt.Sprintf("PRAGMA incremental_vacuum(%d)", archivePages))
		if err != nil {
			return err
		}
		for rows.Next() { // a page is given back with each step
		}
		return rows.Err()
	})
	return err == nil && free >= 2*archivePages, err
}

// Archived measures the archive: the rows that it has, and the bytes of its file. Both are 0 if there is none.
type Archived struct {
	Path  string
	Rows  int
	Bytes int64
}

// State measures the archive.
func (a *Archive) State(ctx context.Context) (Archived, error) {
	state, err := a.archive.state(ctx)
	return state, a.failure(ctx, "look at the archive", err)
}

// Size returns the size of the archive on the disk in bytes.
func (a *Archive) Size() int64 { return max(0, fileSize(a.archive.path)) }

// Check examines the archive with SQLite and returns its faults, none if it is sound or is not there.
func (a *Archive) Check(ctx context.Context) ([]string, error) {
	faults, err := a.archive.check(ctx)
	return faults, a.failure(ctx, "check the archive", err)
}
