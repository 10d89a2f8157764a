package agent

import (
	"context"
	"encoding/json"

	"org-agent/kernel/journal"
)

// keepRound adds a round to what the model is told, and keeps it for later turns.
func (r *run) keepRound(ctx context.Context, round journal.Round) {
	if r.light {
		r.recordLater(ctx, journal.KindRound, r.turn.AnswerID(), round)
	} else {
		r.recordOf(ctx, journal.KindRound, r.turn.AnswerID(), round)
	}
	r.light = false
	r.compose.Exchange.Add(round)
}

// record has a row of this turn written into the journal with what the turn does next: before the
// reply to a request is used, an action performed or an answer shown. What cannot be kept is
// logged: the turn goes on, its end is kept or fails on its own.
func (r *run) record(ctx context.Context, kind journal.Kind, data any) {
	r.recordLater(ctx, kind, "", data)
}

// recordLater is record for a row that is about what has the id.
func (r *run) recordLater(ctx context.Context, kind journal.Kind, id string, data any) {
	r.write(kind, id, data, func(entry journal.Entry) error {
		return r.agent.config.Journal.Later(context.WithoutCancel(ctx), entry)
	})
}

// recordOf writes such a row at once. It returns the row's number.
func (r *run) recordOf(ctx context.Context, kind journal.Kind, id string, data any) (seq int64) {
	r.write(kind, id, data, func(entry journal.Entry) error {
		row, err := r.agent.config.Journal.Append(context.WithoutCancel(ctx), entry)
		seq = row.Seq
		return err
	})
	return seq
}

// write makes a row and has it written.
func (r *run) write(kind journal.Kind, id string, data any, write func(journal.Entry) error) {
	raw, err := json.Marshal(data)
	if err == nil {
		err = write(journal.Entry{Kind: kind, Session: r.turn.Record.Session, Turn: r.turn.Record.ID, ID: id, Data: r.agent.hideJSON(raw)})
	}
	if err != nil {
		r.log.Error("journal row not kept", "kind", kind, "err", err)
	}
}
