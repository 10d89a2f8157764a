package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"org-agent/kernel/protocol"
)

// Progress is how far a turn had come with the answer that it is at: in this attempt, and in
// those before it that only the kernel's end cut short. The zero value is one that begins.
type Progress struct {
	// Answer is the id that all of it is kept for; "" if nothing is, or if something stands
	// under it already.
	Answer string
	Rounds []RoundDone
	// Untold are the questions that a person answered, or declined to, and nobody was told.
	Untold []string
	// Acting is the action that was begun and of which nothing more is known, canonical; "" if
	// there is none.
	Acting   string
	Requests []RequestSent
	// Taken is what all this took since a person last asked for it.
	Taken Taken
}

// Taken is what a turn took of what it may take.
type Taken struct {
	Rounds int // results that the model was told
	Tokens int // as servers counted, estimated where they did not
	Time   time.Duration
	Cost   float64
}

// RequestSent is a request to a model: its row, how many of the rounds there were, and what of
// the skill and the kernel its system prompt was for.
type RequestSent struct {
	Seq    int64
	Rounds int
	For    string
}

// First is the row of the first request; 0 if there was none.
func (p Progress) First() int64 {
	if len(p.Requests) == 0 {
		return 0
	}
	return p.Requests[0].Seq
}

// RoundDone is a round with the question in it that a person answered, "" if there is none.
type RoundDone struct {
	Round
	Question string
}

// progressQuery reads what a turn did; of what is long only what is needed.
const progressQuery = `SELECT seq, kind, id, CASE WHEN kind IN ('turn', 'round', 'act', 'answer') THEN data WHEN kind = 'model-request' THEN json_object('For', json_extract(data, '$.For'))
	WHEN kind = 'model-reply' THEN json_object('taken', json_extract(data, '$.taken'), 'seconds', json_extract(data, '$.seconds'), 'cost', json_extract(data, '$.cost')) ELSE '{}' END FROM journal
	WHERE turn = ? AND kind IN ('turn', 'round', 'asked', 'act', 'answer', 'model-request', 'model-reply') ORDER BY seq`

// Progress returns how far the turn had come.
func (j *Journal) Progress(ctx context.Context, turn string) (Progress, error) {
	var w progressWalk
	_, err := collect(ctx, j.readers, func(row scanner) (none struct{}, err error) {
		var e Entry
		if err := row.Scan(&e.Seq, &e.Kind, &e.ID, (*[]byte)(&e.Data)); err != nil {
			return none, err
		}
		return none, w.step(e)
	}, progressQuery, turn)
	if err == nil && w.Answer != "" {
		var stands bool
		if err = j.readers.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM act WHERE id = ?)", w.Answer).Scan(&stands); stands {
			w.Answer = ""
		}
	}
	return w.Progress, j.failure(ctx, "read how far a turn had come", err)
}

// progressWalk goes through the rows of a turn, oldest first.
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
			w.Taken = Taken{}
			if w.state != protocol.TurnInterrupted {
				w.Progress = Progress{}
			}
		}
		w.state = turn.State
	case KindModelRequest:
		sent := RequestSent{Seq: e.Seq, Rounds: len(w.Rounds)}
		err = json.Unmarshal(e.Data, &sent)
		w.Requests = append(w.Requests, sent)
	case KindAct:
		var act Act
		if err = json.Unmarshal(e.Data, &act); act.Kind == ActAction {
			w.Acting = act.Action
		}
	case KindAnswer:
		var answer answerData
		if err = json.Unmarshal(e.Data, &answer); answer.State != protocol.QuestionWithdrawn {
			w.Untold = append(w.Untold, e.ID)
			w.Acting = ""
		}
	case KindModelReply:
		var reply struct {
			Taken   int
			Seconds float64
			Cost    float64
		}
		err = json.Unmarshal(e.Data, &reply)
		w.Taken.Tokens += reply.Taken
		w.Taken.Time += time.Duration(reply.Seconds * float64(time.Second))
		w.Taken.Cost += reply.Cost
	case KindAsked:
		w.Answer = e.ID
	case KindRound:
		done := RoundDone{Round: Round{Seq: e.Seq}}
		err = json.Unmarshal(e.Data, &done.Round)
		done.Seq, w.Answer = e.Seq, e.ID
		if done.Came() { // what came of what was done, and of what was asked on the way
			w.Taken.Rounds++
			w.Taken.Time += done.Took
			if len(w.Untold) > 0 {
				done.Question = w.Untold[len(w.Untold)-1]
			}
			w.Untold, w.Acting = nil, ""
		}
		w.Rounds = append(w.Rounds, done)
	}
	if err != nil {
		return fmt.Errorf("read row %d: %w", e.Seq, err)
	}
	return nil
}
