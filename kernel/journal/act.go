package journal

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"org-agent/kernel/protocol"
)

// The kinds of an [Act].
const (
	ActAnswer = "answer" // the turn's text, inserted into its conversation
	ActNotice = "notice" // a line of the kernel, inserted there
	ActSent   = "sent"   // what a tool put there before the answer: a text, and links to files
	ActAsk    = "ask"    // an ask for a person, inserted there; the id is the approval's or the question's
	ActAction = "action" // anything else
)

// Act is a verified action, recorded before it is performed. It is the data of a row of kind act.
// ID, Session, Turn and Time are columns of the row.
type Act struct {
	ID      string    `json:"-"` // the answer's :ID:
	Session string    `json:"-"`
	Turn    string    `json:"-"`
	Event   string    `json:"event,omitempty"` // the question it belongs to
	Kind    string    `json:"kind"`
	Action  string    `json:"action,omitempty"` // the canonical plist
	Raw     string    `json:"raw,omitempty"`    // the model's :text, for the history
	Text    string    `json:"text,omitempty"`   // the Org subtree as composed
	Plain   string    `json:"plain,omitempty"`  // the body alone, for the command line
	Time    time.Time `json:"-"`
	Saved   bool      `json:"-"` // the session's file has it
	Final   bool      `json:"final,omitempty"`
}

// Receipt is the data of a row of kind receipt: the report of a client about an act. Client is
// empty if the kernel wrote the file itself. Failure is the error, or empty for success.
type Receipt struct {
	Client string `json:"client,omitempty"`
	protocol.Receipt
	Failure string `json:"failure,omitempty"`
	Unknown bool   `json:"unknown,omitempty"` // with Failure: the act may have been performed
}

// ActStore holds verified actions and the receipts of clients. An act is recorded before it is
// performed, so that a kernel that starts again knows what may have happened. Acts of a turn are in
// the order in which they were recorded.
type ActStore struct{ *database }

// PutAct records an act. CodeConflict if its id is already the id of an act or an event.
// CodeNotFound if its turn does not exist. If Saved is set, the session's file has the act already.
func (s *ActStore) PutAct(ctx context.Context, act Act) error {
	if err := act.check(); err != nil {
		return err
	}
	return s.transact(ctx, "record an act", func(ctx context.Context, tx *writer) error { return putActOf(ctx, tx, act) })
}

// PutActWith is PutAct, and queues the messages to chats by which the act reaches where its turn came from.
func (s *ActStore) PutActWith(ctx context.Context, act Act, messages []Outgoing) error {
	if err := act.check(); err != nil {
		return err
	}
	return s.transact(ctx, "record an act", func(ctx context.Context, tx *writer) error {
		if err := putActOf(ctx, tx, act); err != nil {
			return err
		}
		return queueOutgoing(ctx, tx, messages)
	})
}

// PutActDeferred records an act that changes nothing, together with the next change, as
// [RecordStore.AppendDeferred] does. If the process is killed before, the action may be done again.
// If the turn does not exist by then, or the id is used, the act is not recorded.
func (s *ActStore) PutActDeferred(ctx context.Context, act Act) error {
	if err := act.check(); err != nil {
		return err
	}
	act.Time = cmp.Or(act.Time, time.Now())
	return s.deferWrite(ctx, "record an act", deferredWrite{len(act.Action) + deferredSize, func(ctx context.Context, tx *writer) error {
		err := putActOf(ctx, tx, act)
		if _, refused := errors.AsType[*protocol.Error](err); refused {
			return nil
		}
		return err
	}})
}

// check returns an error for an invalid act from a caller.
func (a Act) check() error {
	switch a.Kind {
	case ActAnswer, ActNotice, ActSent, ActAsk, ActAction:
	default:
		return protocol.Errorf(protocol.CodeInvalidParams, "%q is not a kind of act", a.Kind)
	}
	if !protocol.ValidID(a.ID) {
		return protocol.Errorf(protocol.CodeInvalidParams, "%q is not a valid id of an act", a.ID)
	}
	return nil
}

// putActOf writes an act and checks that its turn exists.
func putActOf(ctx context.Context, tx *writer, act Act) error {
	var first int64
	err := tx.QueryRowContext(ctx, "SELECT s.first FROM turn AS t JOIN session AS s ON s.name = t.session WHERE t.id = ? AND t.session = ?",
		act.Turn, act.Session).Scan(&first)
	if errors.Is(err, sql.ErrNoRows) {
		return protocol.Errorf(protocol.CodeNotFound, "there is no turn %q in the session %q", act.Turn, act.Session)
	}
	if err != nil {
		return fmt.Errorf("look for the turn %s: %w", act.Turn, err)
	}
	return putAct(ctx, tx, act, sessionWord(first))
}

// putAct writes an act of an existing turn. It indexes the text of an answer with the words
// that mark its session and a copy.
func putAct(ctx context.Context, tx *writer, act Act, markers string) error {
	var taken bool
	err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM act WHERE id = ?1) OR EXISTS (SELECT 1 FROM turn WHERE event = ?1)", act.ID).Scan(&taken)
	if err != nil {
		return fmt.Errorf("look for the act %s: %w", act.ID, err)
	}
	if taken {
		return protocol.Errorf(protocol.CodeConflict, "the id %s is taken", act.ID)
	}
	row, err := record(ctx, tx, Entry{Time: act.Time, Kind: KindAct, Session: act.Session, Turn: act.Turn, ID: act.ID}, act)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "INSERT INTO act (seq, id, session, turn, kind, saved) VALUES (?, ?, ?, ?, ?, ?)",
		row.Seq, act.ID, act.Session, act.Turn, act.Kind, act.Saved)
	if err != nil {
		return fmt.Errorf("write the act %s: %w", act.ID, err)
	}
	if act.Kind != ActAnswer {
		return nil
	}
	return indexText(ctx, tx, row.Seq, cmp.Or(act.Plain, act.Raw), markers)
}

// PutReceipt records a client's receipt for an act. An act may have several receipts. A receipt
// with Saved marks the act as saved. CodeNotFound for an unknown act.
func (s *ActStore) PutReceipt(ctx context.Context, act string, receipt Receipt) error {
	return s.transact(ctx, "record a receipt", func(ctx context.Context, tx *writer) error {
		return putReceipt(ctx, tx, act, receipt)
	})
}

// MarkSaved records that the kernel wrote the act into the session's file.
// CodeNotFound for an unknown act.
func (s *ActStore) MarkSaved(ctx context.Context, act string) error {
	return s.transact(ctx, "mark an act as saved", func(ctx context.Context, tx *writer) error {
		return putReceipt(ctx, tx, act, Receipt{Receipt: protocol.Receipt{Saved: true}})
	})
}

func putReceipt(ctx context.Context, tx *writer, act string, receipt Receipt) error {
	known, err := scanAct(tx.QueryRowContext(ctx, actQuery+"WHERE a.id = ?", act))
	if err != nil {
		return notFound(err, "act", act)
	}
	_, err = record(ctx, tx, Entry{Kind: KindReceipt, Session: known.Session, Turn: known.Turn, ID: act}, receipt)
	if err != nil || !receipt.Saved || known.Saved {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE act SET saved = 1 WHERE id = ?", act)
	return err
}

const actQuery = "SELECT a.id, a.session, a.turn, a.saved, j.time, j.data FROM act AS a JOIN journal AS j ON j.seq = a.seq "

func scanAct(row scanner) (Act, error) {
	var act Act
	var at int64
	var data []byte
	if err := row.Scan(&act.ID, &act.Session, &act.Turn, &act.Saved, &at, &data); err != nil {
		return Act{}, err
	}
	act.Time = instant(at)
	if err := json.Unmarshal(data, &act); err != nil {
		return Act{}, fmt.Errorf("read the act %s: %w", act.ID, err)
	}
	return act, nil
}

// Act returns the act id, or CodeNotFound.
func (s *ActStore) Act(ctx context.Context, id string) (Act, error) {
	act, err := scanAct(s.readers.QueryRowContext(ctx, actQuery+"WHERE a.id = ?", id))
	return act, s.failure(ctx, "read an act", notFound(err, "act", id))
}

const actsOfQuery = actQuery + "WHERE a.turn IN (SELECT value FROM json_each(?)) ORDER BY a.seq"

// ActsOf returns the acts of these turns, in the order in which they were recorded.
func (s *ActStore) ActsOf(ctx context.Context, turns ...string) ([]Act, error) {
	list, err := json.Marshal(turns)
	if err != nil {
		return nil, errors.Join(errors.New("read the acts of turns"), err)
	}
	acts, err := collect(ctx, s.readers, scanAct, actsOfQuery, string(list))
	return acts, s.failure(ctx, "read the acts of turns", err)
}

const undoneQuery = "SELECT DISTINCT id FROM journal WHERE turn = ? AND kind = ?"

// UndoneActs returns the ids of the acts of a turn that a person undid.
func (s *ActStore) UndoneActs(ctx context.Context, turn string) ([]string, error) {
	ids, err := collect(ctx, s.readers, func(row scanner) (id string, err error) { return id, row.Scan(&id) }, undoneQuery, turn, KindUndo)
	return ids, s.failure(ctx, "read which acts were undone", err)
}
