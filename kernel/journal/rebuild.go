package journal

import (
	"context"
	"errors"
	"fmt"

	"org-agent/kernel/protocol"
)

// rebuild makes the tables of a salvaged journal agree: rows of turns and acts are made again from the
// journal's own rows, and a row whose row of the journal is lost goes.
func rebuild(ctx context.Context, tx *writer) error {
	if err := removeUnfounded(ctx, tx); err != nil {
		return err
	}
	if err := returnNames(ctx, tx); err != nil {
		return err
	}
	names, err := renames(ctx, tx)
	if err != nil {
		return err
	}
	if err := rebuildTurns(ctx, tx, names); err != nil {
		return err
	}
	if err := rebuildActs(ctx, tx, names); err != nil {
		return err
	}
	for _, statement := range []string{
		`INSERT OR IGNORE INTO ask (seq, id, sort, session, turn, hash, closed) SELECT seq, id, kind, session, turn, coalesce(data ->> '$.hash', ''), time
			FROM journal WHERE kind IN ('approval', 'question') AND seq NOT IN (SELECT seq FROM ask)`,
		`UPDATE ask SET closed = (SELECT finished FROM turn WHERE id = ask.turn) WHERE closed = 0 AND EXISTS (SELECT 1 FROM turn WHERE id = ask.turn AND finished > 0)`,
		`INSERT OR IGNORE INTO session (name, turns, updated, first) SELECT session, 0, max(accepted), min(seq) FROM turn GROUP BY session`,
		`UPDATE session SET turns = (SELECT count(*) FROM turn WHERE session = session.name)`,
		`UPDATE turn SET answer = coalesce((SELECT id FROM act WHERE turn = turn.id AND kind = 'answer' ORDER BY seq DESC LIMIT 1), '')
			WHERE state = 'answered' AND answer = ''`,
	} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("make the tables agree: %w", err)
		}
	}
	return removeUnfounded(ctx, tx)
}

// returnNames gives acts and turns that have the id of another one, because a bit of it changed, the id that their
// row of the journal has. The one whose id it is had no place in the table.
func returnNames(ctx context.Context, tx *writer) error {
	for _, statement := range []string{
		`UPDATE OR IGNORE act SET id = (SELECT id FROM journal AS j WHERE j.seq = act.seq)
			WHERE EXISTS (SELECT 1 FROM journal AS j WHERE j.seq = act.seq AND j.kind = 'act' AND j.id NOT IN ('', act.id))
				AND EXISTS (SELECT 1 FROM journal AS j WHERE j.kind = 'act' AND j.id = act.id)`,
		`UPDATE OR IGNORE turn SET id = (SELECT turn FROM journal AS j WHERE j.seq = turn.seq)
			WHERE EXISTS (SELECT 1 FROM journal AS j WHERE j.seq = turn.seq AND j.kind = 'event' AND j.turn NOT IN ('', turn.id))
				AND EXISTS (SELECT 1 FROM journal AS j WHERE j.kind = 'event' AND j.turn = turn.id)`,
		`UPDATE OR IGNORE turn SET event = (SELECT id FROM journal AS j WHERE j.seq = turn.seq)
			WHERE EXISTS (SELECT 1 FROM journal AS j WHERE j.seq = turn.seq AND j.kind = 'event' AND j.id NOT IN ('', turn.event))
				AND EXISTS (SELECT 1 FROM journal AS j WHERE j.kind = 'event' AND j.id = turn.event)`,
	} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("give rows their ids back: %w", err)
		}
	}
	return nil
}

// removeUnfounded removes the rows that refer to rows of the journal that are lost. Sessions that are
// lost are made again, so they do not count.
func removeUnfounded(ctx context.Context, tx *writer) error {
	for range 10 {
		type unfounded struct {
			table, parent string
			number        int64
		}
		rows, err := collect(ctx, tx, func(row scanner) (u unfounded, err error) {
			return u, row.Scan(&u.table, &u.number, &u.parent)
		}, `SELECT "table", coalesce(rowid, 0), parent FROM pragma_foreign_key_check WHERE parent <> 'session'`)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, u := range rows {
			if _, err := tx.conn.ExecContext(ctx, fmt.Sprintf("DELETE FROM %s WHERE rowid = ?", u.table), u.number); err != nil {
				return fmt.Errorf("remove a row that lost its own in the journal: %w", err)
			}
		}
	}
	return errors.New("the tables of the salvaged journal do not agree")
}

// renamed is one renaming of a session.
type renamed struct {
	seq          int64
	former, name string
}

func renames(ctx context.Context, tx *writer) ([]renamed, error) {
	return collect(ctx, tx, func(row scanner) (r renamed, err error) { return r, row.Scan(&r.seq, &r.former, &r.name) },
		"SELECT seq, former, name FROM rename ORDER BY seq")
}

// present returns the name that a session has now, of which a row has the name it was written under.
func present(names []renamed, session string, seq int64) string {
	for _, r := range names {
		if r.seq > seq && r.former == session {
			session = r.name
		}
	}
	return session
}

// lostTurn is a turn of which only the rows of the journal are left.
type lostTurn struct {
	seq, accepted                              int64
	id, session, event, state, parent, instead string
	changed                                    int64
	answered                                   bool
}

const lostTurnsQuery = `SELECT j.seq, j.time, j.turn, j.session, j.id, coalesce(j.data ->> '$.parent', ''), coalesce(j.data ->> '$.instead', ''),
	coalesce((SELECT c.data ->> '$.state' FROM journal AS c WHERE c.turn = j.turn AND c.kind = 'turn' ORDER BY c.seq DESC LIMIT 1), ''),
	coalesce((SELECT max(c.time) FROM journal AS c WHERE c.turn = j.turn), j.time),
	EXISTS (SELECT 1 FROM journal AS c WHERE c.turn = j.turn AND c.kind = 'act' AND c.data ->> '$.kind' = 'answer')
	FROM journal AS j WHERE j.kind = 'event' AND j.turn <> '' AND json_valid(j.data)
		AND NOT EXISTS (SELECT 1 FROM turn AS t WHERE t.id = j.turn OR t.event = j.id OR t.seq = j.seq) ORDER BY j.seq`

// rebuildTurns makes the turns of events that have none. A turn of which nobody knows how far it came is
// not answered again by itself: it was interrupted, and a person can repeat it.
func rebuildTurns(ctx context.Context, tx *writer, names []renamed) error {
	lost, err := collect(ctx, tx, func(row scanner) (t lostTurn, err error) {
		return t, row.Scan(&t.seq, &t.accepted, &t.id, &t.session, &t.event, &t.parent, &t.instead, &t.state, &t.changed, &t.answered)
	}, lostTurnsQuery)
	if err != nil {
		return fmt.Errorf("look for turns that are lost: %w", err)
	}
	for _, t := range lost {
		state := protocol.TurnState(t.state)
		if !state.Final() {
			state = protocol.TurnInterrupted
			if t.answered {
				state = protocol.TurnAnswered
			}
		}
		_, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO turn (seq, id, session, event, queue, state, attempt, saved, accepted, finished, parent, instead)
			VALUES (?1, ?2, ?3, ?4, ?1, ?5, 1, 1, ?6, ?7, ?8, ?9)`,
			t.seq, t.id, present(names, t.session, t.seq), t.event, string(state), t.accepted, t.changed, t.parent, t.instead)
		if err != nil {
			return fmt.Errorf("make the turn %s again: %w", t.id, err)
		}
	}
	return nil
}

// rebuildActs makes the acts of turns that are lost.
func rebuildActs(ctx context.Context, tx *writer, names []renamed) error {
	type lostAct struct {
		seq                     int64
		id, session, turn, kind string
		saved                   bool
	}
	lost, err := collect(ctx, tx, func(row scanner) (a lostAct, err error) {
		return a, row.Scan(&a.seq, &a.id, &a.session, &a.turn, &a.kind, &a.saved)
	}, `SELECT j.seq, j.id, j.session, j.turn, j.data ->> '$.kind',
		EXISTS (SELECT 1 FROM journal AS r WHERE r.id = j.id AND r.kind = 'receipt' AND r.data ->> '$.saved')
		FROM journal AS j WHERE j.kind = 'act' AND json_valid(j.data) AND j.data ->> '$.kind' IS NOT NULL AND NOT EXISTS (SELECT 1 FROM act AS a WHERE a.id = j.id OR a.seq = j.seq) ORDER BY j.seq`)
	if err != nil {
		return fmt.Errorf("look for acts that are lost: %w", err)
	}
	for _, a := range lost {
		_, err := tx.ExecContext(ctx, "INSERT OR IGNORE INTO act (seq, id, session, turn, kind, saved) VALUES (?, ?, ?, ?, ?, ?)",
			a.seq, a.id, present(names, a.session, a.seq), a.turn, a.kind, a.saved)
		if err != nil {
			return fmt.Errorf("make the act %s again: %w", a.id, err)
		}
	}
	return nil
}
