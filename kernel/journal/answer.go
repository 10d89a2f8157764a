package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// lastAnswer returns the id of the turn's latest answer, "" if it has none.
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

// Prefer selects the answer of a turn that later turns receive, until another one is preferred. If
// not is true, it withdraws the preference, and the last whole answer counts again. It returns the
// changed turn. CodeNotFound if there is no such answer.
func (s *TurnStore) Prefer(ctx context.Context, answer string, not bool) (t Turn, err error) {
	err = s.transact(ctx, "prefer an answer", func(ctx context.Context, tx *writer) error {
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
