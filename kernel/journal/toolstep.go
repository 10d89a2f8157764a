package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"org-agent/kernel/protocol"
)

// ToolStep is one step of a turn between two requests to the model: the result of a proposal that
// did not end the turn, in the form that the model received, or a message that a person sent
// meanwhile, or text that hooks added to the question. Its rows have the kind "round".
type ToolStep struct {
	Seq     int64      `json:"-"` // its row; [TranscriptStore.ToolStep] takes it
	Action  string     `json:"action,omitempty"`
	Verdict string     `json:"verdict,omitempty"`
	Text    string     `json:"text,omitempty"`
	Calls   []StepCall `json:"calls,omitempty"` // of a batch of tools
	Steer   string     `json:"said,omitempty"`
	// Note is a remark of the kernel to the model, beside the result or alone. Last is true if the
	// remark said that nothing more will be done and asked for an answer.
	Note string `json:"note,omitempty"`
	Last bool   `json:"last,omitempty"`
	// Code and Retryable describe the error, if the result is only an error.
	Code      protocol.ToolErrorCode `json:"code,omitempty"`
	Retryable bool                   `json:"retryable,omitempty"`
	// Hooks are the texts that hooks of the person's notes added, alone or beside the rest.
	Hooks []StepHook `json:"hooks,omitempty"`
	// Took is how long the action ran.
	Took time.Duration `json:"took,omitempty"`
	// Reply is what the model wrote of the proposal, nil if it called no functions.
	Reply *StepReply `json:"reply,omitempty"`
}

// StepReply is a reply that calls functions.
type StepReply struct {
	// Writer and Data are the reply as the model's server sent it, "" if it need not go back so.
	Writer string          `json:"writer,omitempty"`
	Data   json.RawMessage `json:"data,omitempty"`
	// Commentary is what the model said beside the calls, "" if skill or policy would not let it pass as an
	// answer.
	Commentary string `json:"commentary,omitempty"`
	// Skipped are the calls that were not made. They come after those of the step's action.
	Skipped []StepFunction `json:"unmade,omitempty"`
}

// StepFunction is a call of a function, as the model wrote it.
type StepFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// IsResult reports whether the step is the result of a proposal.
func (r ToolStep) IsResult() bool {
	return r.Steer == "" && (r.Action != "" || len(r.Hooks) == 0 && r.Note == "")
}

// StepHook is the text that one hook added.
type StepHook struct {
	Hook string `json:"hook"`
	Text string `json:"text"`
}

// StepCall is one call of a batch.
type StepCall struct {
	Tool   string `json:"tool"`
	Text   string `json:"text"`
	Failed bool   `json:"failed,omitempty"`
	// Code and Retryable describe the error.
	Code      protocol.ToolErrorCode `json:"code,omitempty"`
	Retryable bool                   `json:"retryable,omitempty"`
	Took      time.Duration          `json:"took,omitempty"`
}

// ToolSteps returns the steps on the way to an answer, oldest first.
func (s *TranscriptStore) ToolSteps(ctx context.Context, answer string) ([]ToolStep, error) {
	steps, err := collect(ctx, s.readers, scanToolStep, "SELECT seq, data FROM journal WHERE id = ? AND kind = 'round' ORDER BY seq", answer)
	return steps, s.failure(ctx, "read the tool steps of a turn", err)
}

// ToolStep returns the step of this row. CodeNotFound if there is none, or if its turn is not in
// the session.
func (s *TranscriptStore) ToolStep(ctx context.Context, session string, seq int64) (ToolStep, error) {
	step, err := scanToolStep(s.readers.QueryRowContext(ctx,
		"SELECT r.seq, r.data FROM journal AS r JOIN turn AS t ON t.id = r.turn WHERE r.seq = ? AND r.kind = 'round' AND t.session = ?", seq, session))
	return step, s.failure(ctx, "read a tool step", notFound(err, "result", fmt.Sprint(seq)))
}

// EachToolStep calls visit with every step since a moment, oldest first, and keeps none in memory.
// session "" stands for all sessions. Copies that a fork made are left out.
func (s *TranscriptStore) EachToolStep(ctx context.Context, session string, since time.Time, visit func(ToolStep)) error {
	_, err := collect(ctx, s.readers, func(row scanner) (none struct{}, err error) {
		step, err := scanToolStep(row)
		if err == nil {
			visit(step)
		}
		return none, err
	}, `SELECT r.seq, r.data FROM journal AS r JOIN turn AS t ON t.id = r.turn
		WHERE r.kind = 'round' AND t.origin = '' AND (?1 = '' OR t.session = ?1) AND r.time >= ?2 ORDER BY r.seq`, session, micros(since))
	return s.failure(ctx, "read the tool steps", err)
}

func scanToolStep(row scanner) (r ToolStep, err error) {
	var data []byte
	if err := row.Scan(&r.Seq, &data); err != nil {
		return r, err
	}
	seq := r.Seq
	err = json.Unmarshal(data, &r)
	r.Seq = seq
	return r, err
}

// copySteps copies the steps of the answer origin, and the text of its question as the model was
// shown it, to the copied answer. The result maps the rows of the original steps to those of their
// copies.
func copySteps(ctx context.Context, tx *writer, origin string, copied Entry) (map[int64]int64, error) {
	entries, err := collect(ctx, tx, scanEntry, "SELECT "+entryColumns+" FROM journal WHERE id = ? AND kind IN ('asked', 'round') ORDER BY seq", origin)
	rows := map[int64]int64{}
	for _, e := range entries {
		row, failed := insert(ctx, tx, Entry{Time: e.Time, Kind: e.Kind, Session: copied.Session, Turn: copied.Turn, ID: copied.ID, Data: e.Data})
		err = errors.Join(err, failed)
		if e.Kind == KindToolStep {
			rows[e.Seq] = row.Seq
		}
	}
	if err != nil {
		return nil, fmt.Errorf("copy the tool steps of the answer %s: %w", origin, err)
	}
	return rows, nil
}
