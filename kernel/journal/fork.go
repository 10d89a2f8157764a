package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"

	"org-agent/kernel/protocol"
)

// Fork is a session that begins with a copy of another's turns.
type Fork struct {
	Session string // the new one
	Parent  string
	At      string // the :ID: of the last question or answer that is copied
	Copies  []Copy // in the order of the conversation
}

// Copy is a copy of a turn that has ended. ID and Event are new; Origin is the id of the turn
// that it copies. Acts are its answers and notices, with new ids in them and in their texts. Acts
// that are Saved are in the session's file as soon as there is one.
type Copy struct {
	Turn   Turn
	Origin string
	Acts   []Act
	// Answers maps the ids of the copied answers among Acts to those of the originals.
	Answers map[string]string
}

// forkData is the data of a fork's row.
type forkData struct {
	Parent string `json:"parent"`
	At     string `json:"at"`
	Turns  int    `json:"turns"`
}

// Fork creates the session in one transaction. It has the model and the preset of its parent. The
// copies have the times of their originals, and their context, steering messages, steps and
// compaction. The costs of the turns count for the originals only. CodeConflict if the session
// exists, or if an id of a copy is used.
func (s *SessionStore) Fork(ctx context.Context, fork Fork) error {
	if !protocol.ValidSession(fork.Session) {
		return protocol.Errorf(protocol.CodeInvalidParams, "fork a session: %q is no name of one", fork.Session)
	}
	return s.transact(ctx, "fork a session", func(ctx context.Context, tx *writer) error {
		if err := refuseSession(ctx, tx, fork.Session); err != nil {
			return err
		}
		row, err := record(ctx, tx, Entry{Kind: KindFork, Session: fork.Session, ID: fork.At}, forkData{fork.Parent, fork.At, len(fork.Copies)})
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, `INSERT INTO session (name, turns, updated, first, parent, model, preset)
			VALUES (?1, ?2, ?3, ?4, ?5, coalesce((SELECT model FROM session WHERE name = ?5), ''), coalesce((SELECT preset FROM session WHERE name = ?5), ''))`,
			fork.Session, len(fork.Copies), micros(row.Time), row.Seq, fork.Parent)
		if err != nil {
			return fmt.Errorf("write the session %s: %w", fork.Session, err)
		}
		steps := map[int64]int64{}
		for _, c := range fork.Copies {
			if err := putCopy(ctx, tx, c, fork.Session, sessionWord(row.Seq)+" "+copyWord, steps); err != nil {
				return err
			}
		}
		return copyCompaction(ctx, tx, fork, steps)
	})
}

// putCopy writes one turn with its acts, and adds its steps to the map from original to copy.
func putCopy(ctx context.Context, tx *writer, c Copy, session, markers string, steps map[int64]int64) error {
	t := c.Turn
	if err := refuseTaken(ctx, tx, t.Event, t.ID); err != nil {
		return err
	}
	q := t.Question
	row, err := record(ctx, tx, Entry{Time: t.Accepted, Kind: KindEvent, Session: session, Turn: t.ID, ID: t.Event}, eventDataOf(q))
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO turn (seq, id, session, event, queue, state, attempt, skill, model, notice, saved, accepted, started, finished, origin,
		answer, preferred, instead, parent, settings, stamp)
		VALUES (?1, ?2, ?3, ?4, ?1, ?5, 1, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)`,
		row.Seq, t.ID, session, t.Event, string(t.State), t.Skill, t.Model, t.Notice, t.Saved,
		micros(t.Accepted), micros(t.Started), micros(t.Finished), c.Origin,
		t.Answer, t.Preferred, t.Replaces, t.Parent, settingsText(t.Settings), stampText(t.Stamp))
	if err != nil {
		return fmt.Errorf("write the turn %s: %w", t.ID, err)
	}
	if findable(q) {
		if err := indexText(ctx, tx, row.Seq, q.Text, markers); err != nil {
			return err
		}
	}
	if err := copyContext(ctx, tx, c.Origin, Entry{Session: session, Turn: t.ID, ID: t.Event}); err != nil {
		return err
	}
	if err := copySteers(ctx, tx, c, session); err != nil {
		return err
	}
	for _, act := range c.Acts {
		act.Session, act.Turn, act.Event = session, t.ID, t.Event
		if err := putAct(ctx, tx, act, markers); err != nil {
			return err
		}
		if act.Kind != ActAnswer || c.Answers[act.ID] == "" {
			continue
		}
		copied, err := copySteps(ctx, tx, c.Answers[act.ID], Entry{Session: session, Turn: t.ID, ID: act.ID})
		if err != nil {
			return err
		}
		maps.Copy(steps, copied)
	}
	return nil
}

// copySteers copies the messages that people sent to the running original turn and that a model
// received. A message that became a turn of its own is copied as a turn. The ids of the copies are
// derived from the event's, which is new.
func copySteers(ctx context.Context, tx *writer, c Copy, session string) error {
	steers, err := collect(ctx, tx, scanSteer, steersQuery, c.Origin)
	if err != nil {
		return fmt.Errorf("copy what the turn %s was told: %w", c.Origin, err)
	}
	for i, s := range steers {
		_, err := turnWhere(ctx, tx, "t.event = ?", s.ID)
		if !s.Used || err == nil {
			continue
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("copy what the turn %s was told: %w", c.Origin, err)
		}
		id := fmt.Sprintf("%s.told-%d", c.Turn.Event, i+1)
		row, err := record(ctx, tx, Entry{Time: s.Time, Kind: KindSteer, Session: session, Turn: c.Turn.ID, ID: id}, steerData{s.Text, s.Payload})
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, "INSERT INTO steer (seq, id, turn, used) VALUES (?, ?, ?, 1)", row.Seq, id, c.Turn.ID); err != nil {
			return fmt.Errorf("copy what the turn %s was told: %w", c.Origin, err)
		}
	}
	return nil
}
