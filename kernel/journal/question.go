package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"org-agent/kernel/protocol"
)

// Question is a form that waits, or waited, for a person, with the action that asked it.
// What was answered to a secret is not here.
type Question struct {
	protocol.Question
	Act    string // the id of the action
	Action string // canonical
	Answer Answer // zero while it waits, and when its turn ended first
	Client string // the kind of client it was answered with
	Closed time.Time
}

// Answer is what a person said to a question.
type Answer struct {
	Answers  []protocol.FieldAnswer `json:"answers,omitempty"`
	Declined bool                   `json:"declined,omitempty"`
	Reason   string                 `json:"reason,omitempty"` // for declining
}

// State says how the question was closed, "" while it waits.
func (q Question) State() protocol.QuestionState {
	switch {
	case q.Closed.IsZero():
		return ""
	case q.Answer.Declined:
		return protocol.QuestionDeclined
	case q.Client == "":
		return protocol.QuestionWithdrawn
	}
	return protocol.QuestionAnswered
}

// Open is nil while the question waits, else CodeConflict with what became of it.
func (q Question) Open() error {
	switch q.State() {
	case "":
		return nil
	case protocol.QuestionWithdrawn:
		return protocol.Errorf(protocol.CodeConflict, "the question %s is closed: its turn has ended", q.ID)
	}
	return protocol.Errorf(protocol.CodeConflict, "the question %s is %s already: the first answer counts", q.ID, q.State())
}

// questionData is the data of a question's row.
type questionData struct {
	protocol.Question
	Act    string `json:"act"`
	Action string `json:"action"`
}

// answerData is the data of an answer's row.
type answerData struct {
	Answer
	State  protocol.QuestionState `json:"state"`
	Client string                 `json:"client,omitempty"`
}

// AskQuestion records a question that waits from now on. A known id is CodeConflict, a
// turn that does not exist or has ended CodeNotFound. Asked is set if empty.
func (j *Journal) AskQuestion(ctx context.Context, q Question) error {
	if !protocol.ValidID(q.ID) || len(q.Form.Fields) == 0 {
		return protocol.Errorf(protocol.CodeInvalidParams, "a question needs an id and something that it asks, not %q and nothing", q.ID)
	}
	return j.transact(ctx, "ask a question", func(ctx context.Context, tx *writer) error {
		var taken, running bool
		err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM question WHERE id = ?), EXISTS (SELECT 1 FROM turn WHERE id = ? AND session = ? AND finished = 0)",
			q.ID, q.Turn, q.Session).Scan(&taken, &running)
		switch {
		case err != nil:
			return fmt.Errorf("look for the question %s: %w", q.ID, err)
		case taken:
			return protocol.Errorf(protocol.CodeConflict, "the question %s exists", q.ID)
		case !running:
			return protocol.Errorf(protocol.CodeNotFound, "there is no running turn %q in the session %q", q.Turn, q.Session)
		}
		at := now()
		if q.Asked == "" {
			q.Asked = at.Format(time.RFC3339)
		}
		row, err := record(ctx, tx, Entry{Time: at, Kind: KindQuestion, Session: q.Session, Turn: q.Turn, ID: q.ID},
			questionData{q.Question, q.Act, q.Action})
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO question (seq, id, session, turn) VALUES (?, ?, ?, ?)", row.Seq, q.ID, q.Session, q.Turn)
		return err
	})
}

const (
	questionColumns        = "SELECT q.answer, q.client, q.closed, q.session, j.data FROM question AS q "
	questionQuery          = questionColumns + "JOIN journal AS j ON j.seq = q.seq "
	openQuestionsQuery     = questionColumns + "INDEXED BY question_pending JOIN journal AS j ON j.seq = q.seq WHERE q.closed = 0 ORDER BY q.seq"
	openQuestionsTurnQuery = questionQuery + "WHERE q.closed = 0 AND q.turn = ? ORDER BY q.seq"
)

func scanQuestion(row scanner) (Question, error) {
	var q Question
	var closed int64
	var session string // by its present name
	var answer, data []byte
	if err := row.Scan(&answer, &q.Client, &closed, &session, &data); err != nil {
		return Question{}, err
	}
	var asked questionData
	if err := json.Unmarshal(data, &asked); err != nil {
		return Question{}, fmt.Errorf("read a question: %w", err)
	}
	if len(answer) > 0 {
		if err := json.Unmarshal(answer, &q.Answer); err != nil {
			return Question{}, fmt.Errorf("read the answer to a question: %w", err)
		}
	}
	q.Question, q.Act, q.Action, q.Closed = asked.Question, asked.Act, asked.Action, instant(closed)
	q.Session = session
	return q, nil
}

// Question returns the question id, open or closed, or CodeNotFound.
func (j *Journal) Question(ctx context.Context, id string) (Question, error) {
	q, err := scanQuestion(j.readers.QueryRowContext(ctx, questionQuery+"WHERE q.id = ?", id))
	return q, j.failure(ctx, "read a question", notFound(err, "question that was asked", id))
}

// OpenQuestions returns the questions that wait, oldest first.
func (j *Journal) OpenQuestions(ctx context.Context) ([]Question, error) {
	questions, err := collect(ctx, j.readers, scanQuestion, openQuestionsQuery)
	return questions, j.failure(ctx, "list the questions", err)
}

// Waiting is how many approvals and questions wait for a person.
func (j *Journal) Waiting(ctx context.Context) (n int, err error) {
	err = j.readers.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM approval INDEXED BY approval_pending WHERE closed = 0)
		+ (SELECT count(*) FROM question INDEXED BY question_pending WHERE closed = 0)`).Scan(&n)
	return n, j.failure(ctx, "count what waits", err)
}

// AnswerQuestion closes a question with a person's answer, given with that kind of client.
// Only one answer is taken: see [Question.Open]; CodeNotFound when there is no such question.
func (j *Journal) AnswerQuestion(ctx context.Context, id string, answer Answer, client string) (q Question, err error) {
	if client == "" {
		client = "a client" // an answered question is told from a withdrawn one by it
	}
	err = j.transact(ctx, "answer a question", func(ctx context.Context, tx *writer) error {
		if q, err = scanQuestion(tx.QueryRowContext(ctx, questionQuery+"WHERE q.id = ?", id)); err != nil {
			return notFound(err, "question that was asked", id)
		}
		if err := q.Open(); err != nil {
			return err
		}
		q.Answer, q.Client = answer, client
		return closeQuestion(ctx, tx, &q)
	})
	if err != nil {
		return Question{}, err
	}
	return q, nil
}

// closeQuestion writes how a question was closed.
func closeQuestion(ctx context.Context, tx *writer, q *Question) error {
	q.Closed = now()
	encoded, err := encode(q.Answer)
	if err != nil {
		return err
	}
	_, err = record(ctx, tx, Entry{Time: q.Closed, Kind: KindAnswer, Session: q.Session, Turn: q.Turn, ID: q.ID},
		answerData{q.Answer, q.State(), q.Client})
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, "UPDATE question SET answer = ?, client = ?, closed = ? WHERE id = ?",
		string(encoded), q.Client, micros(q.Closed), q.ID)
	return err
}

// WithdrawQuestions closes what a turn that ends has asked and nobody answered, and returns
// it, oldest first.
func (j *Journal) WithdrawQuestions(ctx context.Context, turn string) (open []Question, err error) {
	open, err = collect(ctx, j.readers, scanQuestion, openQuestionsTurnQuery, turn)
	if err != nil || len(open) == 0 { // as in most turns: nothing is to be written
		return nil, j.failure(ctx, "withdraw the questions of a turn", err)
	}
	err = j.transact(ctx, "withdraw the questions of a turn", func(ctx context.Context, tx *writer) error {
		open, err = withdrawQuestions(ctx, tx, turn)
		return err
	})
	return open, err
}

func withdrawQuestions(ctx context.Context, tx *writer, turn string) ([]Question, error) {
	open, err := collect(ctx, tx, scanQuestion, openQuestionsTurnQuery, turn)
	if err != nil {
		return nil, err
	}
	for i := range open {
		if err := closeQuestion(ctx, tx, &open[i]); err != nil {
			return nil, err
		}
	}
	return open, nil
}
