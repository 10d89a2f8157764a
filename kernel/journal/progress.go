package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"org-agent/kernel/protocol"
)

// Progress is the progress of a turn, in this attempt and in earlier attempts that the end of the
// kernel cut short. The zero value is a turn that begins.
type Progress struct {
	// Answer is the id of the answer that the steps belong to. It is "" if there are no steps, or
	// if an act has this id already.
	Answer string
	Steps  []StepDone
	// UnshownAnswers are the questions that a person answered or declined, and whose answers no model has
	// received.
	UnshownAnswers []string
	// Acting is the action, in canonical form, that was begun and whose outcome is not known; "" if
	// there is none.
	Acting   string
	Requests []RequestSent
	// Used is the use of resources since a person last asked for the answer.
	Used BudgetUse
}

// BudgetUse is the part of its budget that a turn has used.
type BudgetUse struct {
	Steps  int // results that the model received
	Tokens int // as servers counted, or else estimated
	Time   time.Duration
	Cost   float64
}

// RequestSent is a request to a model: its row, the number of steps before it, and the part of the
// skill or the kernel for which its system prompt was made.
type RequestSent struct {
	Seq   int64
	Steps int
	For   string
}

// First returns the row of the first request; 0 if there was none.
func (p Progress) First() int64 {
	if len(p.Requests) == 0 {
		return 0
	}
	return p.Requests[0].Seq
}

// StepDone is a step with the question that a person answered during it, "" if there is none.
type StepDone struct {
	ToolStep
	Question string
}

// progressQuery reads the rows of a turn. Of long rows it reads only the fields that are needed.
const progressQuery = `SELECT seq, kind, id, CASE WHEN kind IN ('turn', 'round', 'act', 'answer') THEN data WHEN kind = 'model-request' THEN json_object('For', json_extract(data, '$.For'))
	WHEN kind = 'model-reply' THEN json_object('taken', json_extract(data, '$.taken'), 'seconds', json_extract(data, '$.seconds'), 'cost', json_extract(data, '$.cost')) ELSE '{}' END FROM journal
	WHERE turn = ? AND kind IN ('turn', 'round', 'asked', 'act', 'answer', 'model-request', 'model-reply') ORDER BY seq`

// Progress returns the progress of the turn.
func (s *TurnStore) Progress(ctx context.Context, turn string) (Progress, error) {
	var w progressWalk
	_, err := collect(ctx, s.readers, func(row scanner) (none struct{}, err error) {
		var e Entry
		if err := row.Scan(&e.Seq, &e.Kind, &e.ID, (*[]byte)(&e.Data)); err != nil {
			return none, err
		}
		return none, w.step(e)
	}, progressQuery, turn)
	if err == nil && w.Answer != "" {
		var stands bool
		if err = s.readers.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM act WHERE id = ?)", w.Answer).Scan(&stands); stands {
			w.Answer = ""
		}
	}
	return w.Progress, s.failure(ctx, "read how far a turn had come", err)
}

// progressWalk reads the rows of a turn, oldest first.
type progressWalk struct {
	Progress
	state protocol.TurnState
}

func (w *progressWalk) step(e Entry) error {
	var err error
	switch e.Kind {
	case KindTurn:
		var turn turnData
		err = json.Unmarshal(e.Data, &turn)
		if turn.State == protocol.TurnQueued {
			w.Used = BudgetUse{}
			if w.state != protocol.TurnInterrupted {
				w.Progress = Progress{}
			}
		}
		w.state = turn.State
	case KindModelRequest:
		sent := RequestSent{Seq: e.Seq, Steps: len(w.Steps)}
		err = json.Unmarshal(e.Data, &sent)
		w.Requests = append(w.Requests, sent)
	case KindAct:
		var act Act
		if err = json.Unmarshal(e.Data, &act); act.Kind == ActAction {
			w.Acting = act.Action
		}
	case KindAnswer:
		var answer protocol.AskOutcome
		if answer, err = ReadOutcome(e); err == nil && answer.Decision != "" {
			w.UnshownAnswers = append(w.UnshownAnswers, e.ID)
			w.Acting = ""
		}
	case KindModelReply:
		var reply struct {
			Taken   int
			Seconds float64
			Cost    float64
		}
		err = json.Unmarshal(e.Data, &reply)
		w.Used.Tokens += reply.Taken
		w.Used.Time += time.Duration(reply.Seconds * float64(time.Second))
		w.Used.Cost += reply.Cost
	case KindShownQuestion:
		w.Answer = e.ID
	case KindToolStep:
		done := StepDone{ToolStep: ToolStep{Seq: e.Seq}}
		err = json.Unmarshal(e.Data, &done.ToolStep)
		done.Seq, w.Answer = e.Seq, e.ID
		if done.IsResult() { // the result of an action, or of a question on the way
			w.Used.Steps++
			w.Used.Time += done.Took
			if len(w.UnshownAnswers) > 0 {
				done.Question = w.UnshownAnswers[len(w.UnshownAnswers)-1]
			}
			w.UnshownAnswers, w.Acting = nil, ""
		}
		w.Steps = append(w.Steps, done)
	}
	if err != nil {
		return fmt.Errorf("read row %d: %w", e.Seq, err)
	}
	return nil
}
