package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"org-agent/kernel/protocol"
)

// Round is what came of one proposal that did not end its turn, as the model was told it, or
// what a person said to the turn meanwhile, or what hooks added to its question.
type Round struct {
	Seq     int64       `json:"-"` // its row, by which it can be asked for
	Action  string      `json:"action,omitempty"`
	Verdict string      `json:"verdict,omitempty"`
	Text    string      `json:"text,omitempty"`
	Calls   []RoundCall `json:"calls,omitempty"` // of a batch of tools
	Said    string      `json:"said,omitempty"`
	// Note is what the kernel said to the model beside the result, or, without an action, by
	// itself. Last: it said that nothing more would be done, and asked for an answer.
	Note string `json:"note,omitempty"`
	Last bool   `json:"last,omitempty"`
	// Code and Retryable are those of the error, where nothing came of it but that.
	Code      protocol.ToolErrorCode `json:"code,omitempty"`
	Retryable bool                   `json:"retryable,omitempty"`
	// Hooks are what hooks of the person's notes added, by itself or to the rest.
	Hooks []RoundHook `json:"hooks,omitempty"`
	// Took is how long it was being done.
	Took time.Duration `json:"took,omitempty"`
}

// Came reports whether the round is what came of a proposal.
func (r Round) Came() bool {
	return r.Said == "" && (r.Action != "" || len(r.Hooks) == 0 && r.Note == "")
}

// RoundHook is what a hook added.
type RoundHook struct {
	Hook string `json:"hook"`
	Text string `json:"text"`
}

// RoundCall is one call of a batch.
type RoundCall struct {
	Tool   string `json:"tool"`
	Text   string `json:"text"`
	Failed bool   `json:"failed,omitempty"`
	// Code and Retryable are those of the error.
	Code      protocol.ToolErrorCode `json:"code,omitempty"`
	Retryable bool                   `json:"retryable,omitempty"`
	Took      time.Duration          `json:"took,omitempty"`
}

// Rounds returns those on the way to an answer, oldest first.
func (j *Journal) Rounds(ctx context.Context, answer string) ([]Round, error) {
	rounds, err := collect(ctx, j.readers, scanRound, "SELECT seq, data FROM journal WHERE id = ? AND kind = 'round' ORDER BY seq", answer)
	return rounds, j.failure(ctx, "read the rounds of a turn", err)
}

// Round returns the round of this row, if it is of the session now or of one that it was
// forked from; CodeNotFound otherwise.
func (j *Journal) Round(ctx context.Context, session string, seq int64) (Round, error) {
	round, err := scanRound(j.readers.QueryRowContext(ctx,
		"SELECT r.seq, r.data FROM journal AS r JOIN turn AS t ON t.id = r.turn WHERE r.seq = ? AND r.kind = 'round' AND t.session = ?", seq, session))
	return round, j.failure(ctx, "read a round", notFound(err, "result", fmt.Sprint(seq)))
}

// EachRound calls visit with every round since a moment, of the session or of all if that is
// "", oldest first, and keeps none of them. What a fork copied counts where it happened.
func (j *Journal) EachRound(ctx context.Context, session string, since time.Time, visit func(Round)) error {
	_, err := collect(ctx, j.readers, func(row scanner) (none struct{}, err error) {
		round, err := scanRound(row)
		if err == nil {
			visit(round)
		}
		return none, err
	}, `SELECT r.seq, r.data FROM journal AS r JOIN turn AS t ON t.id = r.turn
		WHERE r.kind = 'round' AND t.origin = '' AND (?1 = '' OR t.session = ?1) AND r.time >= ?2 ORDER BY r.seq`, session, micros(since))
	return j.failure(ctx, "read the rounds", err)
}

func scanRound(row scanner) (r Round, err error) {
	var data []byte
	if err := row.Scan(&r.Seq, &data); err != nil {
		return r, err
	}
	seq := r.Seq
	err = json.Unmarshal(data, &r)
	r.Seq = seq
	return r, err
}

// copyAsked writes the rounds of the answer origin once more, for its copy, and how its
// question was asked. It returns the rows of the rounds by those that they are copies of.
func copyAsked(ctx context.Context, tx *writer, origin string, copied Entry) (map[int64]int64, error) {
	entries, err := collect(ctx, tx, scanEntry, "SELECT "+entryColumns+" FROM journal WHERE id = ? AND kind IN ('asked', 'round') ORDER BY seq", origin)
	rows := map[int64]int64{}
	for _, e := range entries {
		row, failed := insert(ctx, tx, Entry{Time: e.Time, Kind: e.Kind, Session: copied.Session, Turn: copied.Turn, ID: copied.ID, Data: e.Data})
		err = errors.Join(err, failed)
		if e.Kind == KindRound {
			rows[e.Seq] = row.Seq
		}
	}
	if err != nil {
		return nil, fmt.Errorf("copy the rounds of the answer %s: %w", origin, err)
	}
	return rows, nil
}
