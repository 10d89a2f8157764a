package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"org-agent/kernel/protocol"
)

// Steer is a message that a person sent to a running turn.
type Steer struct {
	ID   string
	Turn string
	Text string
	// Payload is that of the event which the message is if no model receives it in that turn, such as who wrote it. The
	// payload of a message of a client is empty.
	Payload protocol.Object
	Used    bool // a model received it
	Time    time.Time
}

type steerData struct {
	Text    string          `json:"text"`
	Payload protocol.Object `json:"payload,omitempty"`
}

// PutSteer records a message to a turn that has not ended. A known id of the same turn changes
// nothing. CodeConflict if the turn has ended, or if the id is used.
func (s *TurnStore) PutSteer(ctx context.Context, steer Steer) error {
	if !protocol.ValidID(steer.ID) {
		return protocol.Errorf(protocol.CodeInvalidParams, "%q is not a valid id", steer.ID)
	}
	return s.transact(ctx, "steer a turn", func(ctx context.Context, tx *writer) error {
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
		row, err := record(ctx, tx, Entry{Kind: KindSteer, Session: t.Session, Turn: t.ID, ID: steer.ID}, steerData{steer.Text, steer.Payload})
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO steer (seq, id, turn) VALUES (?, ?, ?)", row.Seq, steer.ID, steer.Turn)
		return err
	})
}

const steersQuery = `SELECT s.id, s.turn, s.used, j.time, json_extract(j.data, '$.text'), json_extract(j.data, '$.payload')
	FROM steer AS s JOIN journal AS j ON j.seq = s.seq WHERE s.turn = ? ORDER BY s.seq`

// Steers returns the messages that were sent to the turn, oldest first.
func (s *TurnStore) Steers(ctx context.Context, turn string) ([]Steer, error) {
	steers, err := collect(ctx, s.readers, scanSteer, steersQuery, turn)
	return steers, s.failure(ctx, "read what a turn was told", err)
}

func scanSteer(row scanner) (s Steer, err error) {
	var at int64
	var payload []byte
	if err := row.Scan(&s.ID, &s.Turn, &s.Used, &at, &s.Text, &payload); err != nil {
		return s, err
	}
	s.Time = instant(at)
	if len(payload) == 0 {
		return s, nil
	}
	return s, json.Unmarshal(payload, &s.Payload)
}

// Steered reports whether there is a message to a running turn with that id.
func (s *TurnStore) Steered(ctx context.Context, id string) (known bool, err error) {
	err = s.readers.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM steer WHERE id = ?)", id).Scan(&known)
	return known, s.failure(ctx, "look for what a turn was told", err)
}

// UseSteers records that a model received these messages, or that they became messages of their
// own.
func (s *TurnStore) UseSteers(ctx context.Context, ids ...string) error {
	return s.transact(ctx, "note what a turn was told", func(ctx context.Context, tx *writer) error {
		for _, id := range ids {
			if _, err := tx.ExecContext(ctx, "UPDATE steer SET used = 1 WHERE id = ?", id); err != nil {
				return fmt.Errorf("note %s: %w", id, err)
			}
		}
		return nil
	})
}
