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

// Subagent is a task that a turn gave to a subagent. It is the data of a row of the kind spawn. ID,
// Session, Turn and Requested are columns of the row. It contains all permissions of the subagent, so
// that a kernel that starts again knows them.
type Subagent struct {
	ID           string `json:"-"`     // the event of the subagent's turn
	Session      string `json:"-"`     // the conversation of the turn that gave the task, by its present name
	Turn         string `json:"-"`     // the turn that gave the task
	Event        string `json:"event"` // the question of that turn
	Conversation string `json:"child"` // the subagent's own conversation, by its present name
	Label        string `json:"label"`
	Task         string `json:"task"`
	Skill        string `json:"skill"` // the skill of the turn, and so of the subagent
	// Tools are the names of the tools that it may use, in any case; nil for those of the turn.
	Tools []string `json:"tools,omitempty"`
	// Projects are the directories of the turn's conversation.
	Projects []string `json:"projects,omitempty"`
	// Outside names the outside content that the turn contained, "" for none.
	Outside  string                `json:"outside,omitempty"`
	Fork     bool                  `json:"fork,omitempty"`    // it receives the conversation so far
	Wait     bool                  `json:"wait,omitempty"`    // the turn waits for the result
	Route    protocol.Route        `json:"route,omitzero"`    // of the turn; the report goes there
	Channel  protocol.Channel      `json:"channel,omitempty"` // replaces Route in rows from before there were routes
	Group    bool                  `json:"group,omitempty"`   // other people read the conversation
	Settings protocol.TurnSettings `json:"settings,omitempty"`

	Requested time.Time `json:"-"`
	// Cancelled: it was stopped before its turn existed.
	Cancelled bool `json:"-"`
	// Reported is the event that reports its end, [ReportGiven], or "" while its end is not
	// reported.
	Reported string `json:"-"`
}

// ReportGiven replaces the event of a report if the waiting turn received the result.
const ReportGiven = "given"

const subagentQuery = `SELECT s.seq, s.id, s.session, s.turn, s.child, s.cancelled, s.reported, j.time, j.data
	FROM spawn AS s JOIN journal AS j ON j.seq = s.seq `

func scanSubagent(row scanner) (s Subagent, err error) {
	var data []byte
	var seq, asked int64
	var child string
	if err = row.Scan(&seq, &s.ID, &s.Session, &s.Turn, &child, &s.Cancelled, &s.Reported, &asked, &data); err != nil {
		return s, err
	}
	if err = json.Unmarshal(data, &s); err != nil {
		return s, fmt.Errorf("read what was handed on as %s: %w", s.ID, err)
	}
	if s.Route.Kind == "" {
		s.Route, s.Channel = protocol.RouteOf(protocol.SensorChatMessage, s.Channel, ""), ""
	}
	s.Conversation, s.Requested = child, instant(asked)
	return s, nil
}

// SubagentStore holds the tasks that turns give to subagents, and where their ends were reported.
// Each end is reported once, also if the kernel is killed at any moment.
type SubagentStore struct{ *database }

// PutSubagent records the task of a subagent. CodeConflict if the id is used or if there is a
// conversation of the subagent's name. CodeNotFound if the turn has ended.
func (s *SubagentStore) PutSubagent(ctx context.Context, subagent Subagent) error {
	if !protocol.ValidID(subagent.ID) || !protocol.ValidSession(subagent.Conversation) {
		return protocol.Errorf(protocol.CodeInvalidParams, "work is handed on with an id and a conversation, not %q and %q", subagent.ID, subagent.Conversation)
	}
	return s.transact(ctx, "hand on work", func(ctx context.Context, tx *writer) error {
		var running, taken bool
		err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM turn WHERE id = ?1 AND session = ?2 AND finished = 0),
			EXISTS (SELECT 1 FROM spawn WHERE id = ?3 OR child = ?4) OR EXISTS (SELECT 1 FROM session WHERE name = ?4)`,
			subagent.Turn, subagent.Session, subagent.ID, subagent.Conversation).Scan(&running, &taken)
		switch {
		case err != nil:
			return fmt.Errorf("look for the turn %s: %w", subagent.Turn, err)
		case !running:
			return protocol.Errorf(protocol.CodeNotFound, "there is no running turn %q in the session %q", subagent.Turn, subagent.Session)
		case taken:
			return protocol.Errorf(protocol.CodeConflict, "the id %s or the conversation %q is taken", subagent.ID, subagent.Conversation)
		}
		row, err := record(ctx, tx, Entry{Kind: KindSubagent, Session: subagent.Session, Turn: subagent.Turn, ID: subagent.ID}, subagent)
		if err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, "INSERT INTO spawn (seq, id, session, turn, child) VALUES (?, ?, ?, ?, ?)", row.Seq, subagent.ID, subagent.Session, subagent.Turn, subagent.Conversation)
		return err
	})
}

// Subagent returns the subagent of this id, or CodeNotFound.
func (s *SubagentStore) Subagent(ctx context.Context, id string) (Subagent, error) {
	subagent, err := scanSubagent(s.readers.QueryRowContext(ctx, subagentQuery+"WHERE s.id = ?", id))
	return subagent, s.failure(ctx, "read what was handed on", notFound(err, "subagent", id))
}

// spawnsLimit is the largest number of subagents in a list.
const spawnsLimit = 200

// List returns the subagents of a session, the latest first, 200 at most.
func (s *SubagentStore) List(ctx context.Context, session string) ([]Subagent, error) {
	found, err := collect(ctx, s.readers, scanSubagent, subagentQuery+"WHERE s.session = ? ORDER BY s.seq DESC LIMIT ?", session, spawnsLimit)
	return found, s.failure(ctx, "read what was handed on", err)
}

// Unreported returns the subagents whose end is not reported, the oldest first.
func (s *SubagentStore) Unreported(ctx context.Context) ([]Subagent, error) {
	found, err := collect(ctx, s.readers, scanSubagent, subagentQuery+"WHERE s.reported = '' ORDER BY s.seq")
	return found, s.failure(ctx, "read what was handed on", err)
}

// CancelSubagent cancels a subagent that has no turn yet, and reports whether it did.
func (s *SubagentStore) CancelSubagent(ctx context.Context, id string) (stopped bool, err error) {
	err = s.transact(ctx, "stop a subagent", func(ctx context.Context, tx *writer) error {
		result, err := tx.ExecContext(ctx, "UPDATE spawn SET cancelled = 1 WHERE id = ?1 AND NOT EXISTS (SELECT 1 FROM turn WHERE event = ?1)", id)
		if err != nil {
			return fmt.Errorf("stop the subagent %s: %w", id, err)
		}
		n, err := result.RowsAffected()
		if stopped = n > 0; err != nil || !stopped {
			return err
		}
		_, err = record(ctx, tx, Entry{Kind: KindSubagentChange, ID: id}, map[string]bool{"cancelled": true})
		return err
	})
	return stopped, err
}

// Report records that the event report, or [ReportGiven], reports the end of these subagents. It
// returns those whose end was not reported before. The event itself is accepted afterwards: see
// [SubagentStore.UnsentReports].
func (s *SubagentStore) Report(ctx context.Context, report string, ids ...string) (fresh []string, err error) {
	err = s.transact(ctx, "report on subagents", func(ctx context.Context, tx *writer) error {
		fresh = nil
		for _, id := range ids {
			result, err := tx.ExecContext(ctx, "UPDATE spawn SET reported = ? WHERE id = ? AND reported = ''", report, id)
			if err != nil {
				return fmt.Errorf("report on the subagent %s: %w", id, err)
			}
			if n, err := result.RowsAffected(); err != nil {
				return err
			} else if n > 0 {
				fresh = append(fresh, id)
			}
		}
		if len(fresh) == 0 {
			return nil
		}
		_, err := record(ctx, tx, Entry{Kind: KindSubagentChange, ID: report}, map[string][]string{"reported": fresh})
		return err
	})
	return fresh, err
}

const owedQuery = subagentQuery + `WHERE s.reported NOT IN ('', 'given') AND NOT EXISTS (SELECT 1 FROM turn WHERE event = s.reported) ORDER BY s.seq`

// UnsentReports returns the subagents with a report whose event was never accepted, because the kernel ended
// in between.
func (s *SubagentStore) UnsentReports(ctx context.Context) ([]Subagent, error) {
	found, err := collect(ctx, s.readers, scanSubagent, owedQuery)
	return found, s.failure(ctx, "read what is to be reported", err)
}

// TurnOfSubagent returns the turn of the subagent. ok is false while it has none.
func (s *SubagentStore) TurnOfSubagent(ctx context.Context, id string) (t Turn, ok bool, err error) {
	t, err = turnWhere(ctx, s.readers, "t.event = ?", id)
	if errors.Is(err, sql.ErrNoRows) {
		return Turn{}, false, nil
	}
	return t, err == nil, s.failure(ctx, "read a turn", err)
}
