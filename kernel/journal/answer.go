package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"org-agent/kernel/protocol"
)

// lastAnswer is the id of the turn's latest answer, "" if it has none.
func lastAnswer(ctx context.Context, tx *writer, t Turn) (id string, err error) {
	err = tx.QueryRowContext(ctx, "SELECT id FROM act WHERE turn = ? AND kind = 'answer' ORDER BY seq DESC LIMIT 1", t.ID).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("look for the answer of the turn %s: %w", t.ID, err)
	}
	return id, nil
}

// Prefer makes an answer the one of its turn that later turns are shown, until
// another one is preferred; with not set the last whole answer counts again.
// It returns the turn as it then is. CodeNotFound if there is no such answer.
func (j *Journal) Prefer(ctx context.Context, answer string, not bool) (t Turn, err error) {
	err = j.transact(ctx, "prefer an answer", func(ctx context.Context, tx *writer) error {
		var turn string
		err := tx.QueryRowContext(ctx, "SELECT turn FROM act WHERE id = ? AND kind = 'answer'", answer).Scan(&turn)
		if err != nil {
			return notFound(err, "answer", answer)
		}
		if t, err = turnWhere(ctx, tx, "t.id = ?", turn); err != nil {
			return notFound(err, "turn", turn)
		}
		preferred := answer
		if not {
			preferred = ""
		}
		if t.Preferred == preferred || not && t.Preferred != answer {
			return nil
		}
		t.Preferred = preferred
		_, err = record(ctx, tx, Entry{Kind: KindPreference, Session: t.Session, Turn: t.ID, ID: answer}, preferenceData{not})
		if err != nil {
			return err
		}
		if _, err = tx.ExecContext(ctx, "UPDATE turn SET preferred = ? WHERE seq = ?", preferred, t.Seq); err != nil {
			return fmt.Errorf("write the turn %s: %w", t.ID, err)
		}
		return staleCompactions(ctx, tx, t)
	})
	return t, err
}

type preferenceData struct {
	Not bool `json:"not,omitempty"`
}

// SetSessionModel makes a model the one that answers in the session from now
// on; "" is the configured one again. The session need not exist yet.
func (j *Journal) SetSessionModel(ctx context.Context, session, model string) error {
	if !protocol.ValidSession(session) {
		return protocol.Errorf(protocol.CodeInvalidParams, "the session name %q is not one", session)
	}
	return j.transact(ctx, "set the model of a session", func(ctx context.Context, tx *writer) error {
		row, err := record(ctx, tx, Entry{Kind: KindSessionModel, Session: session}, sessionModelData{model})
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx,
			"INSERT INTO session (name, turns, updated, first, model) VALUES (?, 0, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET model = excluded.model",
			session, micros(row.Time), row.Seq, model)
		return err
	})
}

type sessionModelData struct {
	Model string `json:"model,omitempty"`
}

// SessionModel is the model that answers in the session, "" for the configured
// one.
func (j *Journal) SessionModel(ctx context.Context, session string) (model string, err error) {
	err = j.readers.QueryRowContext(ctx, "SELECT model FROM session WHERE name = ?", session).Scan(&model)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return model, j.failure(ctx, "read the model of a session", err)
}

// Steer is what a person said to a turn while it ran.
type Steer struct {
	ID   string
	Turn string
	Text string
	Used bool // a model was shown it
	Time time.Time
}

type steerData struct {
	Text string `json:"text"`
}

// PutSteer records words for a turn that has not ended; the same id again does
// nothing. CodeConflict if the turn has ended, or if the id is taken.
func (j *Journal) PutSteer(ctx context.Context, steer Steer) error {
	if !protocol.ValidID(steer.ID) {
		return protocol.Errorf(protocol.CodeInvalidParams, "the id %q is not one", steer.ID)
	}
	return j.transact(ctx, "steer a turn", func(ctx context.Context, tx *writer) error {
		var known, taken bool
		err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM steer WHERE id = ?1 AND turn = ?2),
			EXISTS (SELECT 1 FROM steer WHERE id = ?1) OR EXISTS (SELECT 1 FROM act WHERE id = ?1) OR EXISTS (SELECT 1 FROM turn WHERE event = ?1)`,
			steer.ID, steer.Turn).Scan(&known, &taken)
		switch {
		case err != nil:
			return fmt.Errorf("look for the id %s: %w", steer.ID, err)
		case known:
			return nil
		case taken:
			return protocol.Errorf(protocol.CodeConflict, "the id %s is taken", steer.ID)
		}
		t, err := turnWhere(ctx, tx, "t.id = ?", steer.Turn)
		if err != nil {
			return notFound(err, "turn", steer.Turn)
		}
		if t.State.Final() {
			return protocol.Errorf(protocol.CodeConflict, "the turn %s has ended (%s): send this as a message", t.ID, t.State)
		}
		row, err := record(ctx, tx, Entry{Kind: KindSteer, Session: t.Session, Turn: t.ID, ID: steer.ID}, steerData{steer.Text})
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO steer (seq, id, turn) VALUES (?, ?, ?)", row.Seq, steer.ID, steer.Turn)
		return err
	})
}

const steersQuery = `SELECT s.id, s.turn, s.used, j.time, json_extract(j.data, '$.text')
	FROM steer AS s JOIN journal AS j ON j.seq = s.seq WHERE s.turn = ? ORDER BY s.seq`

// Steers returns what was said to the turn, oldest first.
func (j *Journal) Steers(ctx context.Context, turn string) ([]Steer, error) {
	steers, err := collect(ctx, j.readers, scanSteer, steersQuery, turn)
	return steers, j.failure(ctx, "read what a turn was told", err)
}

func scanSteer(row scanner) (s Steer, err error) {
	var at int64
	err = row.Scan(&s.ID, &s.Turn, &s.Used, &at, &s.Text)
	s.Time = instant(at)
	return s, err
}

// UseSteers notes that a model is shown these, or that they became messages of
// their own.
func (j *Journal) UseSteers(ctx context.Context, ids ...string) error {
	return j.transact(ctx, "note what a turn was told", func(ctx context.Context, tx *writer) error {
		for _, id := range ids {
			if _, err := tx.ExecContext(ctx, "UPDATE steer SET used = 1 WHERE id = ?", id); err != nil {
				return fmt.Errorf("note %s: %w", id, err)
			}
		}
		return nil
	})
}
