package journal

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/protocol"
)

// Exchange is a question and its answer, as a model is shown them.
type Exchange struct {
	Turn     string
	Event    string
	Question string
	Context  []protocol.ContextItem // told of; [Journal.Context] has it whole
	Answer   string                 // the model's own text
	Skill    string
}

const (
	historyLimit = 1000
	historyBytes = 4 << 20 // of questions and answers, in one answer
)

// historyQuery: of several answers to a question the one that a person prefers
// counts, or else the last that is whole. A question that stands in the place of
// an earlier one has that one's row in o.
const historyQuery = `SELECT t.seq, coalesce(o.seq, t.seq), t.id, t.event, t.skill, q.data, a.data,
	(SELECT json_group_array(json_extract(j.data, '$.text')) FROM steer AS s JOIN journal AS j ON j.seq = s.seq WHERE s.turn = t.id AND s.used = 1
		AND NOT EXISTS (SELECT 1 FROM turn AS own WHERE own.event = s.id))
	FROM turn AS t JOIN journal AS q ON q.seq = t.seq
	JOIN act AS x ON x.id = coalesce(nullif(t.preferred, ''), t.answer)
	JOIN journal AS a ON a.seq = x.seq
	LEFT JOIN turn AS o ON o.event = t.instead
	WHERE t.session = ? AND t.seq < ? ORDER BY t.seq DESC`

// History returns the exchanges of a session before a turn (in the order of
// the conversation; all of them if beforeTurn is empty), latest last: those
// turns that have an answer. What was said from a question on until another one
// took its place is left out behind that other one. Of more than limit
// exchanges (1,000 if 0 or more), or 4 MiB of text, the latest are kept.
// CodeNotFound if beforeTurn is no turn of the session.
func (j *Journal) History(ctx context.Context, session, beforeTurn string, limit int) ([]Exchange, error) {
	if limit <= 0 || limit > historyLimit {
		limit = historyLimit
	}
	before := int64(1<<63 - 1)
	if beforeTurn != "" {
		err := j.readers.QueryRowContext(ctx, `SELECT coalesce(o.seq, t.seq) FROM turn AS t LEFT JOIN turn AS o ON o.event = t.instead
			WHERE t.id = ? AND t.session = ?`, beforeTurn, session).Scan(&before)
		if err != nil {
			return nil, j.failure(ctx, "read the history", notFound(err, "turn", beforeTurn))
		}
	}
	rows, err := j.readers.QueryContext(ctx, historyQuery, session, before)
	if err != nil {
		return nil, j.failure(ctx, "read the history", err)
	}
	exchanges, err := walk(rows, before, limit)
	if err := errors.Join(err, rows.Close()); err != nil {
		return nil, j.failure(ctx, "read the history", err)
	}
	slices.Reverse(exchanges)
	return exchanges, nil
}

// walk goes from the latest exchange to the first and leaves out those that a
// later one took the place of.
func walk(rows *sql.Rows, before int64, limit int) ([]Exchange, error) {
	var exchanges []Exchange
	for size := 0; len(exchanges) < limit && rows.Next(); {
		row, err := scanExchange(rows)
		if err != nil {
			return nil, err
		}
		if row.seq >= before {
			continue
		}
		before = row.place
		if size += len(row.Question) + len(row.Answer); size > historyBytes && len(exchanges) > 0 {
			break
		}
		exchanges = append(exchanges, row.Exchange)
	}
	return exchanges, rows.Err()
}

// exchangeRow is an exchange, the row of its question, and the row of the
// question whose place it stands in: its own if there is none.
type exchangeRow struct {
	Exchange
	seq, place int64
}

func scanExchange(row scanner) (exchangeRow, error) {
	var exchange exchangeRow
	var question, answer, steers []byte
	if err := row.Scan(&exchange.seq, &exchange.place, &exchange.Turn, &exchange.Event, &exchange.Skill, &question, &answer, &steers); err != nil {
		return exchangeRow{}, err
	}
	var asked struct {
		Text    string
		Context []protocol.ContextItem
	}
	var answered struct{ Raw string }
	var told []string
	if err := errors.Join(json.Unmarshal(question, &asked), json.Unmarshal(answer, &answered), json.Unmarshal(steers, &told)); err != nil {
		return exchangeRow{}, fmt.Errorf("read the exchange of the turn %s: %w", exchange.Turn, err)
	}
	exchange.Question, exchange.Context = strings.Join(append([]string{asked.Text}, told...), "\n\n"), asked.Context
	exchange.Answer = answered.Raw
	return exchange, nil
}
