package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"org-agent/kernel/protocol"
)

// Turn is the state of the answer to one event.
type Turn struct {
	ID       string
	Session  string
	Event    string // the question's :ID:
	Question protocol.Event
	Level    int   // of the question's heading
	Seq      int64 // the row of its event: the order of the conversation
	Order    int64 // the row that queued it: the order of answering; a retry changes it
	State    protocol.TurnState
	Attempt  int // 1, and one more for each retry
	Skill    string
	Model    string
	Notice   string // one line for a person
	Input    int    // tokens, of all attempts
	Output   int    // tokens, of all attempts
	Cost     float64
	Saved    bool   // the session's file has the question
	Origin   string // the turn that this one copies in a fork, "" for none

	RequestedModel string // the requested model of this attempt; "" for the session's
	Answer         string // the id of its last whole answer, "" if it has none
	Preferred      string // the id of the answer that a person chose, "" if none
	Replaces       string // the id of the question that this one replaces, or ""
	Parent         string // the id of the question or answer whose heading this one stands below, or ""
	// Settings are the settings of this attempt.
	Settings protocol.TurnSettings

	// Stamp is the time at which the person sent the question, in the person's time zone, as models
	// receive it. Zero if it was not recorded.
	Stamp    time.Time
	Accepted time.Time
	Started  time.Time // of this attempt; zero while queued
	Finished time.Time // zero exactly while the state is not final
}

const turnQuery = `SELECT t.seq, t.id, t.session, t.event, t.queue, t.state, t.attempt, t.skill, t.model, t.notice,
	t.input, t.output, t.cost, t.saved, t.wanted, t.answer, t.preferred, t.instead, t.accepted, t.started, t.finished, t.origin, t.parent, t.settings, t.stamp, j.data
	FROM turn AS t JOIN journal AS j ON j.seq = t.seq `

func scanTurn(row scanner) (Turn, error) {
	var t Turn
	var accepted, started, finished int64
	var settings, stamp string
	entry := Entry{Kind: KindEvent}
	err := row.Scan(&t.Seq, &t.ID, &t.Session, &t.Event, &t.Order, &t.State, &t.Attempt, &t.Skill, &t.Model, &t.Notice,
		&t.Input, &t.Output, &t.Cost, &t.Saved,
		&t.RequestedModel, &t.Answer, &t.Preferred, &t.Replaces, &accepted, &started, &finished, &t.Origin,
		&t.Parent, &settings, &stamp, (*[]byte)(&entry.Data))
	if err != nil {
		return Turn{}, err
	}
	t.Accepted, t.Started, t.Finished = instant(accepted), instant(started), instant(finished)
	entry.Seq, entry.ID, entry.Session = t.Seq, t.Event, t.Session
	if t.Settings, err = readSettings(settings); err != nil {
		return Turn{}, err
	}
	if t.Stamp, err = readStamp(stamp); err != nil {
		return Turn{}, err
	}
	t.Question, err = entry.Event()
	t.Level = t.Question.Level
	return t, err
}

func turnWhere(ctx context.Context, from reader, where string, arg any) (Turn, error) {
	return scanTurn(from.QueryRowContext(ctx, turnQuery+"WHERE "+where, arg))
}

// Turn returns the turn of this id, or CodeNotFound.
func (s *TurnStore) Turn(ctx context.Context, id string) (Turn, error) {
	t, err := turnWhere(ctx, s.readers, "t.id = ?", id)
	return t, s.failure(ctx, "read a turn", notFound(err, "turn", id))
}

// TurnOfEvent returns the turn that answers the event, or CodeNotFound.
func (s *TurnStore) TurnOfEvent(ctx context.Context, event string) (Turn, error) {
	t, err := turnWhere(ctx, s.readers, "t.event = ?", event)
	return t, s.failure(ctx, "read a turn", notFound(err, "event", event))
}

// notFound turns the error of a missing row into CodeNotFound with the thing and its id. Other
// errors stay as they are.
func notFound(err error, thing, id string) error {
	if errors.Is(err, sql.ErrNoRows) {
		return protocol.Errorf(protocol.CodeNotFound, "there is no %s %q", thing, id)
	}
	return err
}

// TurnChange changes a turn. Fields that are not set change nothing.
type TurnChange struct {
	ID     string
	State  protocol.TurnState // "" changes nothing
	Skill  *string
	Model  *string
	Notice *string
	Input  int // tokens to add
	Output int // tokens to add
	Cost   float64
}

// turnData is the data of a turn's row.
type turnData struct {
	State          protocol.TurnState `json:"state"`
	Attempt        int                `json:"attempt"`
	Skill          string             `json:"skill,omitempty"`
	Model          string             `json:"model,omitempty"`
	Notice         string             `json:"notice,omitempty"`
	Input          int                `json:"input,omitempty"`
	Output         int                `json:"output,omitempty"`
	Cost           float64            `json:"cost,omitempty"`
	RequestedModel string             `json:"wanted,omitempty"`
	// Settings are set if the turn is queued again.
	Settings protocol.TurnSettings `json:"settings,omitempty"`
}

// settingsText returns the settings in the form of the file.
func settingsText(settings protocol.TurnSettings) string {
	if len(settings) == 0 {
		return ""
	}
	text, _ := json.Marshal(settings) // strings: it cannot fail
	return string(text)
}

func readSettings(text string) (settings protocol.TurnSettings, err error) {
	if text == "" {
		return nil, nil
	}
	if err := json.Unmarshal([]byte(text), &settings); err != nil {
		return nil, fmt.Errorf("read what held for a turn: %w", err)
	}
	return settings, nil
}

// SetTurn changes a turn and returns it. Input, Output and Cost are added to those of the turn. A
// final state closes the asks that still wait for the turn; call [AskStore.CloseAsks] before to
// learn which. CodeConflict if the turn has a final state, which only [TurnStore.Retry] changes.
func (s *TurnStore) SetTurn(ctx context.Context, change TurnChange) (Turn, error) {
	return s.changeTurn(ctx, change.ID, func(t *Turn, at time.Time) error {
		if t.State.Final() {
			return protocol.Errorf(protocol.CodeConflict, "the turn %s has ended (%s): retry it to answer again", t.ID, t.State)
		}
		return change.apply(t, at)
	})
}

func (c TurnChange) apply(t *Turn, at time.Time) error {
	switch c.State {
	case "":
	case protocol.TurnQueued:
		t.State, t.Started = c.State, time.Time{}
	case protocol.TurnRunning, protocol.TurnWaiting:
		t.State = c.State
		if t.Started.IsZero() {
			t.Started = at
		}
	default:
		if !c.State.Final() {
			return protocol.Errorf(protocol.CodeInvalidParams, "%q is not the state of a turn", c.State)
		}
		t.State, t.Finished = c.State, at
	}
	for _, f := range []struct{ to, from *string }{{&t.Skill, c.Skill}, {&t.Model, c.Model}, {&t.Notice, c.Notice}} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	t.Input += c.Input
	t.Output += c.Output
	t.Cost += c.Cost
	return nil
}

// Retry queues an ended turn again, after the queued ones, as its next attempt with this model and
// these settings. An empty model is the session's. Usage and answers of earlier attempts stay.
// CodeConflict if the turn has not ended.
func (s *TurnStore) Retry(ctx context.Context, turn, model string, settings protocol.TurnSettings) (Turn, error) {
	return s.changeTurn(ctx, turn, func(t *Turn, _ time.Time) error {
		if !t.State.Final() {
			return protocol.Errorf(protocol.CodeConflict, "the turn %s has not ended (%s): stop it first", t.ID, t.State)
		}
		t.State, t.Notice, t.Attempt = protocol.TurnQueued, "", t.Attempt+1
		t.Started, t.Finished, t.Order, t.RequestedModel = time.Time{}, time.Time{}, 0, model
		t.Settings = settings
		return nil
	})
}

// requeued returns the settings of a turn that was just queued again.
func requeued(t Turn) protocol.TurnSettings {
	if t.State != protocol.TurnQueued {
		return nil
	}
	return t.Settings
}

// changeTurn reads a turn, changes it, and writes it with its row. A change that clears Order moves
// the turn to the end of the queue.
func (s *TurnStore) changeTurn(ctx context.Context, id string, change func(*Turn, time.Time) error) (t Turn, err error) {
	err = s.transact(ctx, "change a turn", func(ctx context.Context, tx *writer) error {
		if t, err = turnWhere(ctx, tx, "t.id = ?", id); err != nil {
			return notFound(err, "turn", id)
		}
		at := now()
		if err := change(&t, at); err != nil {
			return err
		}
		row, err := record(ctx, tx, Entry{Time: at, Kind: KindTurn, Session: t.Session, Turn: t.ID},
			turnData{t.State, t.Attempt, t.Skill, t.Model, t.Notice, t.Input, t.Output, t.Cost, t.RequestedModel, requeued(t)})
		if err != nil {
			return err
		}
		if t.Order == 0 {
			t.Order = row.Seq
		}
		if t.State == protocol.TurnAnswered {
			if t.Answer, err = lastAnswer(ctx, tx, t); err != nil {
				return err
			}
			if err := staleCompactions(ctx, tx, t); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, `UPDATE turn SET queue = ?, state = ?, attempt = ?, skill = ?, model = ?, notice = ?,
			input = ?, output = ?, cost = ?, wanted = ?, settings = ?, answer = ?, started = ?, finished = ? WHERE seq = ?`,
			t.Order, string(t.State), t.Attempt, t.Skill, t.Model, t.Notice,
			t.Input, t.Output, t.Cost, t.RequestedModel, settingsText(t.Settings), t.Answer, micros(t.Started), micros(t.Finished), t.Seq)
		if err != nil {
			return fmt.Errorf("write the turn %s: %w", t.ID, err)
		}
		if t.State.Final() {
			if _, err := closeAsks(ctx, tx, t.ID); err != nil {
				return err
			}
		}
		_, err = tx.ExecContext(ctx, "UPDATE session SET updated = ? WHERE name = ?", micros(at), t.Session)
		return err
	})
	if err != nil {
		return Turn{}, err
	}
	return t, nil
}

const (
	unfinishedQuery = "SELECT id, session, event, state, queue FROM turn WHERE finished = 0 ORDER BY session, queue"
	turnsQuery      = turnQuery + "WHERE t.session = ? AND t.seq > ? ORDER BY t.seq LIMIT ?"
)

// Unfinished returns the turns that are queued, running or waiting, each session's in the order of
// answering. Only ID, Session, Event, State and Order are set, because the start of a kernel with
// ten thousand of them must not read their questions.
func (s *TurnStore) Unfinished(ctx context.Context) ([]Turn, error) {
	turns, err := collect(ctx, s.readers, func(row scanner) (t Turn, err error) {
		return t, row.Scan(&t.ID, &t.Session, &t.Event, &t.State, &t.Order)
	}, unfinishedQuery)
	return turns, s.failure(ctx, "read the unfinished turns", err)
}

// turnsLimit is the largest number of turns in one result.
const turnsLimit = 1000

// List returns a session's turns with a Seq greater than after, in the order of the conversation,
// at most limit (1,000 if 0 or more).
func (s *TurnStore) List(ctx context.Context, session string, after int64, limit int) ([]Turn, error) {
	if limit <= 0 || limit > turnsLimit {
		limit = turnsLimit
	}
	turns, err := collect(ctx, s.readers, scanTurn, turnsQuery, session, after, limit)
	return turns, s.failure(ctx, "read the turns of a session", err)
}

// CountSince returns how many turns of a session were accepted at a time or later.
func (s *TurnStore) CountSince(ctx context.Context, session string, since time.Time) (count int, err error) {
	err = s.readers.QueryRowContext(ctx, "SELECT count(*) FROM turn WHERE session = ? AND accepted >= ?", session, since.UnixMicro()).Scan(&count)
	return count, s.failure(ctx, "count the turns of a session", err)
}

// Mark is an element of a conversation with an id: a question, an answer or a notice.
type Mark struct {
	Turn  string
	ID    string
	Saved bool // the session's file has it
}

const marksQuery = `SELECT turn, id, saved FROM (
	SELECT t.seq AS place, 0 AS part, t.id AS turn, t.event AS id, t.saved AS saved FROM turn AS t WHERE t.session = ?1
	UNION ALL SELECT t.seq, 1, a.turn, a.id, a.saved FROM turn AS t CROSS JOIN act AS a ON a.turn = t.id WHERE t.session = ?1 AND a.kind <> 'action'
	) ORDER BY part, place`

// Marks returns the elements of a session's conversation: the questions in their order, and then
// the rest. It reads no text, because a conversation may be large, and in most cases a client has
// all of it.
func (s *TurnStore) Marks(ctx context.Context, session string) ([]Mark, error) {
	marks, err := collect(ctx, s.readers, func(row scanner) (m Mark, err error) {
		return m, row.Scan(&m.Turn, &m.ID, &m.Saved)
	}, marksQuery, session)
	return marks, s.failure(ctx, "read what is in a session", err)
}

const turnsOfQuery = turnQuery + "WHERE t.id IN (SELECT value FROM json_each(?)) ORDER BY t.seq"

// TurnsOf returns the turns with these ids, in the order of the conversation.
func (s *TurnStore) TurnsOf(ctx context.Context, ids ...string) ([]Turn, error) {
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, fmt.Errorf("read turns: %w", err)
	}
	turns, err := collect(ctx, s.readers, scanTurn, turnsOfQuery, string(list))
	return turns, s.failure(ctx, "read turns", err)
}

// QuestionSaved reports whether the session's file has the event's question. CodeNotFound for an
// unknown event.
func (s *TurnStore) QuestionSaved(ctx context.Context, event string) (saved bool, err error) {
	err = s.readers.QueryRowContext(ctx, "SELECT saved FROM turn WHERE event = ?", event).Scan(&saved)
	return saved, s.failure(ctx, "read a turn", notFound(err, "event", event))
}

// MarkQuestionSaved records that the session's file has the event's question. A second call does
// nothing. CodeNotFound for an unknown event.
func (s *TurnStore) MarkQuestionSaved(ctx context.Context, event string) error {
	return s.transact(ctx, "mark a question as saved", func(ctx context.Context, tx *writer) error {
		t, err := turnWhere(ctx, tx, "t.event = ?", event)
		if err != nil {
			return notFound(err, "event", event)
		}
		if t.Saved {
			return nil
		}
		_, err = record(ctx, tx, Entry{Kind: KindReceipt, Session: t.Session, Turn: t.ID, ID: event},
			Receipt{Receipt: protocol.Receipt{Saved: true}})
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "UPDATE turn SET saved = 1 WHERE seq = ?", t.Seq)
		return err
	})
}
