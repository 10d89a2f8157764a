package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// The limits of the queue. Beyond the first the oldest event is forgotten, and counted. takenLimit is how many events are
// known by their ids that wait no more.
const (
	queueLimit     = 20
	queueTextLimit = 4 << 10 // characters
	takenLimit     = 1000
)

// QueuedEvent is an event that waits for a heartbeat.
type QueuedEvent struct {
	Seq    int64           `json:"-"`
	ID     string          `json:"-"`
	Sensor protocol.Sensor `json:"sensor"`
	Text   string          `json:"text,omitempty"`
	Fields string          `json:"fields,omitempty"` // what else it has, as a plist
	Urgent bool            `json:"urgent,omitempty"`
	// Times is how often it came in a row, 1 at least, and Dropped how many events were forgotten before it.
	Times   int       `json:"-"`
	Dropped int       `json:"-"`
	Time    time.Time `json:"-"` // when it came last
}

// EventQueue holds the events that wait for a heartbeat.
type EventQueue struct{ *database }

// Put has an event wait. One with a known id is not put again. One that is like the last that waits takes its place, and
// counts how often it came.
func (q *EventQueue) Put(ctx context.Context, e QueuedEvent) error {
	if e.ID == "" || e.Sensor == "" {
		return protocol.Errorf(protocol.CodeInvalidParams, "an event needs an id and a sensor to wait, not %q and %q", e.ID, e.Sensor)
	}
	e.Text, e.Fields = text.Clip(e.Text, queueTextLimit), text.Clip(e.Fields, queueTextLimit)
	return q.transact(ctx, "have an event wait", func(ctx context.Context, tx *writer) error {
		var known bool
		if err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM queued_event WHERE id = ?)", e.ID).Scan(&known); err != nil || known {
			return err
		}
		last, err := scanQueued(tx.QueryRowContext(ctx, queuedQuery+"WHERE taken = 0 ORDER BY seq DESC LIMIT 1"))
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("read the last event: %w", err)
		}
		e.Times, e.Dropped = 1, 0
		if err == nil && last.Sensor == e.Sensor && last.Text == e.Text && last.Fields == e.Fields && last.Urgent == e.Urgent {
			e.Times, e.Dropped = last.Times+1, last.Dropped
			if err := setTaken(ctx, tx, last.Seq, e.Time); err != nil {
				return err
			}
		}
		forgotten, err := forgetEvents(ctx, tx, e.Time)
		if err != nil {
			return err
		}
		row, err := record(ctx, tx, Entry{Kind: KindQueuedEvent, ID: e.ID}, e)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO queued_event (seq, id, sensor, text, fields, urgent, times, dropped, time) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
			row.Seq, e.ID, string(e.Sensor), e.Text, e.Fields, e.Urgent, e.Times, e.Dropped+forgotten, micros(e.Time))
		return err
	})
}

func setTaken(ctx context.Context, tx *writer, seq int64, at time.Time) error {
	if _, err := tx.ExecContext(ctx, "UPDATE queued_event SET taken = ? WHERE seq = ?", max(micros(at), 1), seq); err != nil {
		return fmt.Errorf("take the event %d: %w", seq, err)
	}
	return nil
}

// forgetEvents makes room for one more event, and returns how many were forgotten for it.
func forgetEvents(ctx context.Context, tx *writer, at time.Time) (forgotten int, err error) {
	waiting, err := collect(ctx, tx, scanQueued, queuedQuery+"WHERE taken = 0 ORDER BY seq")
	if err != nil {
		return 0, fmt.Errorf("read the events that wait: %w", err)
	}
	for len(waiting) >= queueLimit {
		forgotten += waiting[0].Times + waiting[0].Dropped
		if err := setTaken(ctx, tx, waiting[0].Seq, at); err != nil {
			return 0, err
		}
		waiting = waiting[1:]
	}
	_, err = tx.ExecContext(ctx, "DELETE FROM queued_event WHERE taken <> 0 AND seq <= (SELECT seq FROM queued_event WHERE taken <> 0 ORDER BY seq DESC LIMIT 1 OFFSET ?)", takenLimit)
	return forgotten, err
}

const queuedQuery = "SELECT seq, id, sensor, text, fields, urgent, times, dropped, time FROM queued_event "

func scanQueued(row scanner) (e QueuedEvent, err error) {
	var at int64
	err = row.Scan(&e.Seq, &e.ID, &e.Sensor, &e.Text, &e.Fields, &e.Urgent, &e.Times, &e.Dropped, &at)
	e.Time = instant(at)
	return e, err
}

// Waiting returns the events that wait, the oldest first.
func (q *EventQueue) Waiting(ctx context.Context) ([]QueuedEvent, error) {
	waiting, err := collect(ctx, q.readers, scanQueued, queuedQuery+"WHERE taken = 0 ORDER BY seq")
	return waiting, q.failure(ctx, "read the events that wait", err)
}

// Take has the events up to one wait no more.
func (q *EventQueue) Take(ctx context.Context, through int64, at time.Time) error {
	return q.transact(ctx, "take events", func(ctx context.Context, tx *writer) error {
		_, err := tx.ExecContext(ctx, "UPDATE queued_event SET taken = ? WHERE taken = 0 AND seq <= ?", max(micros(at), 1), through)
		return err
	})
}
