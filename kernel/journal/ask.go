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

// AskStore holds approvals and questions for a person, open and decided. A decision is recorded
// once, and the first one counts. Open asks are in the order in which they began to wait.
type AskStore struct{ *database }

// PutAsk records an ask that waits from now on. CodeConflict if the id is known. CodeNotFound if
// the turn does not exist or has ended. Opened is set if it is empty.
func (s *AskStore) PutAsk(ctx context.Context, ask protocol.Ask) error {
	kind, err := askKind(ask)
	if err != nil {
		return err
	}
	return s.transact(ctx, "ask a person", func(ctx context.Context, tx *writer) error {
		var taken, running bool
		err := tx.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM ask WHERE id = ?), EXISTS (SELECT 1 FROM turn WHERE id = ? AND session = ? AND finished = 0)",
			ask.ID, ask.Turn, ask.Session).Scan(&taken, &running)
		switch {
		case err != nil:
			return fmt.Errorf("look for the %s %s: %w", ask.Sort, ask.ID, err)
		case taken:
			return protocol.Errorf(protocol.CodeConflict, "the %s %s exists", ask.Sort, ask.ID)
		case !running:
			return protocol.Errorf(protocol.CodeNotFound, "there is no running turn %q in the session %q", ask.Turn, ask.Session)
		}
		at := now()
		if ask.Opened == "" {
			ask.Opened = at.Format(time.RFC3339)
		}
		ask.Closed, ask.AskOutcome = "", protocol.AskOutcome{}
		row, err := record(ctx, tx, Entry{Time: at, Kind: kind, Session: ask.Session, Turn: ask.Turn, ID: ask.ID}, ask)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO ask (seq, id, sort, session, turn, hash) VALUES (?, ?, ?, ?, ?, ?)",
			row.Seq, ask.ID, string(ask.Sort), ask.Session, ask.Turn, ask.Hash)
		return err
	})
}

// askKind returns the kind of the row of an ask, or CodeInvalidParams if the ask is not complete.
func askKind(ask protocol.Ask) (Kind, error) {
	switch {
	case !protocol.ValidID(ask.ID):
		return "", protocol.Errorf(protocol.CodeInvalidParams, "an ask needs an id, not %q", ask.ID)
	case ask.Sort == protocol.AskApproval && ask.Hash != "":
		return KindApproval, nil
	case ask.Sort == protocol.AskQuestion && ask.Form != nil && len(ask.Form.Fields) > 0:
		return KindQuestion, nil
	}
	return "", protocol.Errorf(protocol.CodeInvalidParams, "the ask %s needs a sort: an approval with a hash or a question with a form", ask.ID)
}

const (
	askColumns     = "SELECT p.sort, p.decision, p.comment, p.edited, p.answers, p.client, p.closed, p.session, j.data FROM ask AS p "
	askQuery       = askColumns + "JOIN journal AS j ON j.seq = p.seq "
	openQuery      = askColumns + "INDEXED BY ask_open JOIN journal AS j ON j.seq = p.seq WHERE p.closed = 0 ORDER BY p.seq"
	openOfTurn     = askQuery + "WHERE p.closed = 0 AND p.turn = ? ORDER BY p.seq"
	countOpenQuery = "SELECT count(*) FROM ask INDEXED BY ask_open WHERE closed = 0"
)

// allowedQuery returns the widest decision.
const allowedQuery = `SELECT decision FROM ask WHERE hash = ? AND edited = ''
	AND (decision = 'allow-session' AND session = ? OR decision = 'allow-turn' AND turn = ?)
	ORDER BY decision = 'allow-session' DESC LIMIT 1`

func scanAsk(row scanner) (ask protocol.Ask, err error) {
	var outcome protocol.AskOutcome
	var sort protocol.AskSort
	var closed int64
	var session string // by its present name
	var answers, data []byte
	if err := row.Scan(&sort, &outcome.Decision, &outcome.Comment, &outcome.Edited, &answers, &outcome.Client, &closed, &session, &data); err != nil {
		return ask, err
	}
	if err := json.Unmarshal(data, &ask); err != nil {
		return ask, fmt.Errorf("read an ask: %w", err)
	}
	if len(answers) > 0 {
		if err := json.Unmarshal(answers, &outcome.Answers); err != nil {
			return ask, fmt.Errorf("read the answers to a question: %w", err)
		}
	}
	ask.Sort, ask.Session, ask.AskOutcome = sort, session, outcome
	if closed != 0 {
		ask.Closed = instant(closed).Format(time.RFC3339)
	}
	return ask, nil
}

// Ask returns the ask id, open or closed, or CodeNotFound.
func (s *AskStore) Ask(ctx context.Context, id string) (protocol.Ask, error) {
	ask, err := scanAsk(s.readers.QueryRowContext(ctx, askQuery+"WHERE p.id = ?", id))
	return ask, s.failure(ctx, "read what a person was asked", notFound(err, "approval or question", id))
}

// OpenAsks returns the asks that wait, oldest first.
func (s *AskStore) OpenAsks(ctx context.Context) ([]protocol.Ask, error) {
	asks, err := collect(ctx, s.readers, scanAsk, openQuery)
	return asks, s.failure(ctx, "list what waits for a person", err)
}

// Waiting returns how many asks wait for a person.
func (s *AskStore) Waiting(ctx context.Context) (n int, err error) {
	err = s.readers.QueryRowContext(ctx, countOpenQuery).Scan(&n)
	return n, s.failure(ctx, "count what waits for a person", err)
}

// Decide closes an ask with a person's decision. Only the first decision is accepted: CodeConflict
// if the ask is closed, CodeNotFound if there is none. CodeInvalidParams for an outcome that an ask
// of this sort cannot have.
func (s *AskStore) Decide(ctx context.Context, id string, outcome protocol.AskOutcome) (ask protocol.Ask, err error) {
	err = s.transact(ctx, "close an ask", func(ctx context.Context, tx *writer) error {
		ask, err = scanAsk(tx.QueryRowContext(ctx, askQuery+"WHERE p.id = ?", id))
		if err != nil {
			return notFound(err, "approval or question", id)
		}
		if err := ask.CheckOutcome(outcome); err != nil {
			return err
		}
		if err := ask.CheckWaits(); err != nil {
			return err
		}
		return closeAsk(ctx, tx, &ask, outcome)
	})
	if err != nil {
		return protocol.Ask{}, err
	}
	return ask, nil
}

// closeAsk writes the outcome of an ask.
func closeAsk(ctx context.Context, tx *writer, ask *protocol.Ask, outcome protocol.AskOutcome) error {
	kind := KindDecision
	if ask.Sort == protocol.AskQuestion {
		kind = KindAnswer
	}
	row, err := record(ctx, tx, Entry{Kind: kind, Session: ask.Session, Turn: ask.Turn, ID: ask.ID}, outcome)
	if err != nil {
		return err
	}
	answers := ""
	if outcome.Answers != nil {
		encoded, err := encode(outcome.Answers)
		if err != nil {
			return err
		}
		answers = string(encoded)
	}
	if ask.Reading != nil && outcome.Decision != "" {
		if _, err := tx.ExecContext(ctx, "INSERT INTO reading_decided (directory) VALUES (?) ON CONFLICT DO NOTHING", ask.Reading.Directory); err != nil {
			return err
		}
	}
	ask.AskOutcome, ask.Closed = outcome, row.Time.Format(time.RFC3339)
	_, err = tx.ExecContext(ctx, "UPDATE ask SET decision = ?, comment = ?, edited = ?, answers = ?, client = ?, closed = ? WHERE id = ?",
		string(outcome.Decision), outcome.Comment, outcome.Edited, answers, outcome.Client, micros(row.Time), ask.ID)
	return err
}

// ReadOutcome reads the data of a row of the kind decision or answer. Rows from before schema 13
// have the comment as "reason", and an answer has its decision as "state".
func ReadOutcome(e Entry) (protocol.AskOutcome, error) {
	var data struct {
		protocol.AskOutcome
		Reason string
		State  protocol.Decision
	}
	if err := json.Unmarshal(e.Data, &data); err != nil {
		return protocol.AskOutcome{}, fmt.Errorf("read what a person decided: %w", err)
	}
	outcome := data.AskOutcome
	if data.Reason != "" {
		outcome.Comment = data.Reason
	}
	if data.State == protocol.Answered || data.State == protocol.Declined {
		outcome.Decision = data.State
	}
	return outcome, nil
}

// CloseAsks closes the open asks of a turn that ends, without a decision, and returns them, oldest
// first.
func (s *AskStore) CloseAsks(ctx context.Context, turn string) ([]protocol.Ask, error) {
	open, err := collect(ctx, s.readers, scanAsk, openOfTurn, turn)
	if err != nil || len(open) == 0 { // as in most turns: nothing is to be written
		return nil, s.failure(ctx, "close what waits for a turn", err)
	}
	err = s.transact(ctx, "close what waits for a turn", func(ctx context.Context, tx *writer) (err error) {
		open, err = closeAsks(ctx, tx, turn)
		return err
	})
	return open, err
}

func closeAsks(ctx context.Context, tx *writer, turn string) ([]protocol.Ask, error) {
	open, err := collect(ctx, tx, scanAsk, openOfTurn, turn)
	if err != nil {
		return nil, err
	}
	for i := range open {
		if err := closeAsk(ctx, tx, &open[i], protocol.AskOutcome{}); err != nil {
			return nil, err
		}
	}
	return open, nil
}

// Allowed reports whether a person has allowed an action with this hash for this turn or for this
// session, and returns the wider such decision. Other decisions do not count: the action that a person
// always allows has a row in policy.org.
func (s *AskStore) Allowed(ctx context.Context, hash, turn, session string) (protocol.Decision, bool, error) {
	var decision protocol.Decision
	err := s.readers.QueryRowContext(ctx, allowedQuery, hash, session, turn).Scan(&decision)
	if errors.Is(err, sql.ErrNoRows) {
		return "", false, nil
	}
	return decision, decision != "", s.failure(ctx, "look for an approval", err)
}

// ReadingDecided reports whether a person has decided an approval with the read-only set of this project.
// The set is offered until then.
func (s *AskStore) ReadingDecided(ctx context.Context, directory string) (decided bool, err error) {
	err = s.readers.QueryRowContext(ctx, "SELECT EXISTS (SELECT 1 FROM reading_decided WHERE directory = ?)", directory).Scan(&decided)
	return decided, s.failure(ctx, "look for a decision about reading", err)
}
