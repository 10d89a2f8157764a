package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"org-agent/kernel/protocol"
)

// Renaming is a change of a session's name. Earlier rows have the former name.
type Renaming struct {
	Seq    int64  `json:"-"`
	Former string `json:"former"`
	Name   string `json:"name"`
}

// Rename gives a session another name. Its turns, acts and asks belong to that name from then on,
// and its forks refer to it. The caller must rename the file. Until [SessionStore.MarkMoved] is
// called, [SessionStore.PendingMoves] returns the renaming. CodeConflict if there is a session
// of that name.
func (s *SessionStore) Rename(ctx context.Context, former, name string) (Renaming, error) {
	r := Renaming{Former: former, Name: name}
	if !protocol.ValidSession(name) {
		return r, protocol.Errorf(protocol.CodeInvalidParams, "rename a session: %q is no name of one", name)
	}
	return r, s.transact(ctx, "rename a session", func(ctx context.Context, tx *writer) error {
		if err := refuseSession(ctx, tx, name); err != nil {
			return err
		}
		row, err := record(ctx, tx, Entry{Kind: KindRename, Session: name}, r)
		if err != nil {
			return err
		}
		r.Seq = row.Seq
		if _, err := tx.ExecContext(ctx, "INSERT INTO rename (seq, former, name) VALUES (?, ?, ?)", r.Seq, former, name); err != nil {
			return fmt.Errorf("write the renaming: %w", err)
		}
		return renameRows(ctx, tx, former, name)
	})
}

// renameRows changes every table that names sessions. The new row of the session is written first
// and the old one is deleted last, because turns refer to one.
func renameRows(ctx context.Context, tx *writer, former, name string) error {
	for _, statement := range []string{
		"INSERT INTO session (name, turns, updated, first, parent, model, preset) SELECT ?1, turns, updated, first, parent, model, preset FROM session WHERE name = ?2",
		"UPDATE turn SET session = ?1 WHERE session = ?2",
		"UPDATE act SET session = ?1 WHERE session = ?2",
		"UPDATE ask SET session = ?1 WHERE session = ?2",
		"UPDATE inbox SET session = ?1 WHERE session = ?2",
		"UPDATE chat SET session = ?1 WHERE session = ?2",
		"UPDATE outgoing SET session = ?1 WHERE session = ?2",
		"UPDATE digest SET session = ?1 WHERE session = ?2",
		"UPDATE session SET parent = ?1 WHERE parent = ?2",
		"UPDATE spawn SET session = ?1 WHERE session = ?2",
		"UPDATE spawn SET child = ?1 WHERE child = ?2",
		"DELETE FROM session WHERE name = ?2 AND name <> ?1",
	} {
		if _, err := tx.ExecContext(ctx, statement, name, former); err != nil {
			return fmt.Errorf("rename the session %s: %w", former, err)
		}
	}
	return nil
}

// refuseSession refuses the name of an existing session.
func refuseSession(ctx context.Context, tx *writer, name string) error {
	var exists bool
	if err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM session WHERE name = ?)", name).Scan(&exists); err != nil {
		return err
	}
	if exists {
		return protocol.Errorf(protocol.CodeConflict, "there is a conversation %q already: choose another name", name)
	}
	return nil
}

// HasSession reports whether the journal has a session of that name.
func (s *SessionStore) HasSession(ctx context.Context, name string) (has bool, err error) {
	err = s.readers.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM session WHERE name = ?)", name).Scan(&has)
	return has, s.failure(ctx, "look for a session", err)
}

// MarkMoved records that the file of a renamed session has its new name.
func (s *SessionStore) MarkMoved(ctx context.Context, seq int64) error {
	return s.transact(ctx, "note that a file was moved", func(ctx context.Context, tx *writer) error {
		_, err := tx.ExecContext(ctx, "UPDATE rename SET moved = 1 WHERE seq = ?", seq)
		return err
	})
}

const pendingMovesQuery = "SELECT seq, former, name FROM rename WHERE moved = 0 ORDER BY seq"

// PendingMoves returns the renamings whose files may still have their former names, the oldest
// first.
func (s *SessionStore) PendingMoves(ctx context.Context) ([]Renaming, error) {
	found, err := collect(ctx, s.readers, scanRenaming, pendingMovesQuery)
	return found, s.failure(ctx, "read the renamings", err)
}

func scanRenaming(row scanner) (r Renaming, err error) {
	return r, row.Scan(&r.Seq, &r.Former, &r.Name)
}

const (
	latestRenamingQuery = "SELECT seq, former, name FROM rename WHERE former = ? ORDER BY seq DESC LIMIT 1"
	nextRenamingQuery   = "SELECT seq, former, name FROM rename WHERE former = ? AND seq > ? ORDER BY seq LIMIT 1"
)

// NameNow returns the present name of the session whose last former name is former; "" if there is
// none.
func (s *SessionStore) NameNow(ctx context.Context, former string) (string, error) {
	r, err := scanRenaming(s.readers.QueryRowContext(ctx, latestRenamingQuery, former))
	for err == nil {
		var next Renaming
		if next, err = scanRenaming(s.readers.QueryRowContext(ctx, nextRenamingQuery, r.Name, r.Seq)); err == nil {
			r = next
		}
	}
	if errors.Is(err, sql.ErrNoRows) {
		err = nil
	}
	return r.Name, s.failure(ctx, "look for a session's name", err)
}

// span is the range of rows that were written under one name: after from, up to until.
type span struct {
	name        string
	from, until int64
}

const spanQuery = `SELECT seq, former, name FROM (
	SELECT * FROM (SELECT seq, former, name FROM rename WHERE former = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT 1)
	UNION ALL SELECT * FROM (SELECT seq, former, name FROM rename WHERE name = ?1 AND seq < ?2 ORDER BY seq DESC LIMIT 1))
	ORDER BY seq DESC LIMIT 1`

// spans returns the names of the session, the latest first, and the rows of each.
func spans(ctx context.Context, from reader, session string) ([]span, error) {
	var spans []span
	for name, until := session, int64(1<<62); ; {
		r, err := scanRenaming(from.QueryRowContext(ctx, spanQuery, name, until))
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return nil, err
		}
		spans = append(spans, span{name, r.Seq - 1, until - 1})
		if err != nil || r.Name != name { // the first name, or another session had the name before
			return spans, nil
		}
		name, until = r.Former, r.Seq
	}
}
