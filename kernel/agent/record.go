package agent

import (
	"context"
	"encoding/json"
	"log/slog"

	"org-agent/kernel/journal"
)

// rows writes rows of the journal.
type rows interface {
	// Append writes a row at once, AppendDeferred together with the next row that is written at once.
	Append(ctx context.Context, entry journal.Entry) (journal.Entry, error)
	AppendDeferred(ctx context.Context, entry journal.Entry) error
}

// recorder writes the rows of a turn.
type recorder struct {
	turn    journal.Turn
	journal rows
	hide    func([]byte) []byte // removes secrets
	log     *slog.Logger
}

// Record writes a row of this turn together with the next row that is written at once: before the reply
// to a request is used, an action performed or an answer shown. An error is logged, and the turn goes
// on.
func (r *recorder) Record(ctx context.Context, kind journal.Kind, data any) {
	r.RecordLater(ctx, kind, "", data)
}

// RecordLater is Record for a row with the id of its object.
func (r *recorder) RecordLater(ctx context.Context, kind journal.Kind, id string, data any) {
	r.write(kind, id, data, func(entry journal.Entry) error {
		return r.journal.AppendDeferred(context.WithoutCancel(ctx), entry)
	})
}

// RecordNow writes such a row at once. It returns the row's number, 0 if it failed.
func (r *recorder) RecordNow(ctx context.Context, kind journal.Kind, id string, data any) (seq int64) {
	r.write(kind, id, data, func(entry journal.Entry) error {
		row, err := r.journal.Append(context.WithoutCancel(ctx), entry)
		seq = row.Seq
		return err
	})
	return seq
}

// write makes a row and writes it with a function.
func (r *recorder) write(kind journal.Kind, id string, data any, write func(journal.Entry) error) {
	raw, err := json.Marshal(data)
	if err == nil {
		err = write(journal.Entry{Kind: kind, Session: r.turn.Session, Turn: r.turn.ID, ID: id, Data: r.hide(raw)})
	}
	if err != nil {
		r.log.Error("journal row not recorded", "kind", kind, "err", err)
	}
}
