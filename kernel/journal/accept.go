package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"org-agent/kernel/protocol"
)

// TurnStore keeps events and the turns that answer them: the queue, the state of each turn, the
// messages that a person sends to a running turn, and whether the session's file has the question.
// [TurnStore.Accept] flushes to the disk before it returns; other changes survive the death of the
// process. Events are accepted in the order of the calls, and many at once share one transaction.
type TurnStore struct {
	*database
	queue acceptQueue
}

// acceptQueue holds the events that wait to be written, in the order of the calls. The goroutine
// that may write takes all of them into one transaction, so that many messages at once cost one
// flush of the disk.
type acceptQueue struct {
	sync.Mutex
	waiting []*acceptance
}

// acceptance is one call of Accept. Its result may be read once done is closed.
type acceptance struct {
	event  protocol.Event
	turnID string
	turn   Turn
	fresh  bool
	err    error
	done   chan struct{}
}

// acceptLimit is how many events share a transaction, so that the first of very many does not wait
// for the last.
const acceptLimit = 256

func (q *acceptQueue) add(a *acceptance) {
	q.Lock()
	defer q.Unlock()
	q.waiting = append(q.waiting, a)
}

// take removes and returns the next batch.
func (q *acceptQueue) take() []*acceptance {
	q.Lock()
	defer q.Unlock()
	n := min(len(q.waiting), acceptLimit)
	batch := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	return batch
}

// withdraw removes a. It returns false if a goroutine has taken it already.
func (q *acceptQueue) withdraw(a *acceptance) bool {
	q.Lock()
	defer q.Unlock()
	i := slices.Index(q.waiting, a)
	if i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
	return i >= 0
}

// Accept writes an event, its session and a queued turn with the id turn in one transaction, which
// is on the disk when it returns. Events are accepted in the order of the calls.
//
// An event whose id is known is not accepted again. If session and text are equal, Accept returns
// the turn of the first one, with fresh false. Otherwise the error is CodeConflict, as it is if the
// id is an act's, or if turn is the id of another turn. An event without an id or a session is
// refused with CodeInvalidParams. After CodeStorage nothing was written.
func (s *TurnStore) Accept(ctx context.Context, event protocol.Event, turn string) (t Turn, fresh bool, err error) {
	if !protocol.ValidID(event.ID) || !protocol.ValidID(turn) || !protocol.ValidSession(event.Session) {
		return Turn{}, false, protocol.Errorf(protocol.CodeInvalidParams,
			"accept an event: it needs an id, a session and a turn, not %q, %q and %q", event.ID, event.Session, turn)
	}
	if s.writer == nil {
		return Turn{}, false, fmt.Errorf("accept an event: %w", errReadOnly)
	}
	event.Text = strings.ToValidUTF8(event.Text, "\uFFFD") // as the file will have it
	event.Level = max(event.Level, 1)
	a := &acceptance{event: event, turnID: turn, done: make(chan struct{})}
	s.queue.add(a)
	for {
		select {
		case <-a.done:
			return a.turn, a.fresh, a.err
		case s.writing <- struct{}{}:
			s.acceptAll(context.WithoutCancel(ctx), s.queue.take())
			<-s.writing
		case <-ctx.Done():
			if s.queue.withdraw(a) {
				return Turn{}, false, fmt.Errorf("accept an event: %w", context.Cause(ctx))
			}
			<-a.done
			return a.turn, a.fresh, a.err
		}
	}
}

// acceptAll writes a batch in one transaction and sets the result of each acceptance. An error of
// one event is returned to its sender only. An error of the file is returned to all.
func (s *TurnStore) acceptAll(ctx context.Context, batch []*acceptance) {
	if len(batch) == 0 {
		return
	}
	err := s.writer.transaction(ctx, syncFull, func(ctx context.Context, tx *writer) error {
		for _, a := range batch {
			a.turn, a.fresh, a.err = accept(ctx, tx, a.event, a.turnID)
			if a.err == nil {
				continue
			}
			if _, ok := errors.AsType[*protocol.Error](a.err); !ok {
				return a.err
			}
		}
		return nil
	})
	err = s.failure(ctx, "accept an event", err)
	for _, a := range batch {
		if err != nil {
			a.turn, a.fresh, a.err = Turn{}, false, err
		}
		close(a.done)
	}
}

// accept writes one event. It refuses an event with a *protocol.Error, before it writes anything.
// Every other error is the file's.
func accept(ctx context.Context, tx *writer, event protocol.Event, turn string) (Turn, bool, error) {
	known, err := turnWhere(ctx, tx, "t.event = ?", event.ID)
	if err == nil {
		if err := refuseOther(ctx, tx, known, event); err != nil {
			return Turn{}, false, err
		}
		return known, false, nil
	}
	if !errors.Is(err, sql.ErrNoRows) {
		return Turn{}, false, err
	}
	if err := refuseTaken(ctx, tx, event.ID, turn); err != nil {
		return Turn{}, false, err
	}
	if err := refuseNoQuestion(ctx, tx, event); err != nil {
		return Turn{}, false, err
	}
	if err := refuseNoParent(ctx, tx, event); err != nil {
		return Turn{}, false, err
	}
	sent := event.Context
	event.Context = withoutContent(sent)
	data, err := encode(eventDataOf(event))
	if err != nil {
		return Turn{}, false, protocol.Errorf(protocol.CodeInvalidParams, "accept the event %s: %w", event.ID, err)
	}
	if len(data) > dataLimit {
		return Turn{}, false, protocol.Errorf(protocol.CodeTooLarge, "the event has %d bytes, more than the %d the journal takes: send a part, or name a file", len(data), dataLimit)
	}
	entry, err := insert(ctx, tx, Entry{Kind: KindEvent, Session: event.Session, Turn: turn, ID: event.ID, Data: data})
	if err != nil {
		return Turn{}, false, err
	}
	if err := recordContext(ctx, tx, entry, sent); err != nil {
		return Turn{}, false, err
	}
	stamp, err := stampAfter(ctx, tx, event)
	if err != nil {
		return Turn{}, false, err
	}
	queued := Turn{
		ID: turn, Session: event.Session, Event: event.ID, Question: event, Level: event.Level,
		Seq: entry.Seq, Order: entry.Seq, State: protocol.TurnQueued, Attempt: 1, Stamp: stamp, Accepted: entry.Time,
		Replaces: event.Instead, Parent: event.Parent, Settings: event.Settings, RequestedModel: event.Settings.Model(),
	}
	if err := enqueue(ctx, tx, queued); err != nil {
		return Turn{}, false, err
	}
	return queued, true, nil
}

// enqueue writes a new turn and indexes its question.
func enqueue(ctx context.Context, tx *writer, t Turn) error {
	at := micros(t.Accepted)
	var first int64
	err := tx.QueryRowContext(ctx,
		"INSERT INTO session (name, turns, updated, first) VALUES (?, 1, ?, ?) ON CONFLICT (name) DO UPDATE SET turns = turns + 1, updated = excluded.updated RETURNING first",
		t.Session, at, t.Seq).Scan(&first)
	if err != nil {
		return fmt.Errorf("write the session %s: %w", t.Session, err)
	}
	_, err = tx.ExecContext(ctx,
		"INSERT INTO turn (seq, id, session, event, queue, state, attempt, accepted, instead, parent, settings, wanted, stamp) VALUES (?1, ?2, ?3, ?4, ?1, ?5, 1, ?6, ?7, ?8, ?9, ?10, ?11)",
		t.Seq, t.ID, t.Session, t.Event, string(t.State), at, t.Replaces, t.Parent, settingsText(t.Settings), t.RequestedModel, stampText(t.Stamp))
	if err != nil {
		return fmt.Errorf("write the turn %s: %w", t.ID, err)
	}
	if !findable(t.Question) {
		return nil
	}
	return indexText(ctx, tx, t.Seq, t.Question.Text, sessionWord(first))
}

// refuseOther refuses an event whose id belongs to a turn with another text or session.
func refuseOther(ctx context.Context, tx *writer, known Turn, event protocol.Event) error {
	same, err := sameSession(ctx, tx, known, event.Session)
	if err == nil && (!same || known.Question.Text != event.Text) {
		err = protocol.Errorf(protocol.CodeConflict,
			"the id %s belongs to another message, in the session %s: send with a new id", event.ID, known.Session)
	}
	return err
}

// sameSession reports whether the turn belongs to the session, or belonged to it when the session
// had that name.
func sameSession(ctx context.Context, tx *writer, known Turn, session string) (same bool, err error) {
	if known.Session == session {
		return true, nil
	}
	err = tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM rename WHERE former = ? AND seq > ?)", session, known.Seq).Scan(&same)
	return same, err
}

// refuseTaken refuses an event whose id is an act's, and a turn whose id is another turn's.
func refuseTaken(ctx context.Context, tx *writer, event, turn string) error {
	var act, other bool
	err := tx.QueryRowContext(ctx,
		"SELECT EXISTS (SELECT 1 FROM act WHERE id = ?), EXISTS (SELECT 1 FROM turn WHERE id = ?)", event, turn).Scan(&act, &other)
	switch {
	case err != nil:
		return fmt.Errorf("look for the id %s: %w", event, err)
	case act:
		return protocol.Errorf(protocol.CodeConflict, "the id %s belongs to an answer: send with a new id", event)
	case other:
		return protocol.Errorf(protocol.CodeConflict, "the turn %s exists", turn)
	}
	return nil
}

// refuseNoQuestion refuses an event that is to replace a question which its session does not have.
func refuseNoQuestion(ctx context.Context, tx *writer, event protocol.Event) error {
	if event.Instead == "" {
		return nil
	}
	var there bool
	err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM turn WHERE event = ? AND session = ?)", event.Instead, event.Session).Scan(&there)
	if err != nil {
		return fmt.Errorf("look for the question %s: %w", event.Instead, err)
	}
	if !there {
		return protocol.Errorf(protocol.CodeNotFound, "there is no question %q in the session %s to ask anew: send it without :instead", event.Instead, event.Session)
	}
	return nil
}
