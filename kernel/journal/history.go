package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

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

// historyQuery: a turn that was retried may have several answers, and the last
// one counts.
const historyQuery = `SELECT t.id, t.event, t.skill, q.data, a.data
	FROM turn AS t JOIN journal AS q ON q.seq = t.seq
	JOIN journal AS a ON a.seq = (SELECT max(seq) FROM act WHERE turn = t.id AND kind = 'answer')
	WHERE t.session = ? AND t.seq < ? AND t.state = 'answered' ORDER BY t.seq DESC LIMIT ?`

// History returns the exchanges of a session before a turn (in the order of
// the conversation; all of them if beforeTurn is empty), latest last: those
// turns that have ended with an answer. Of more than limit exchanges (1,000 if
// 0 or more), or 4 MiB of text, the latest are kept. CodeNotFound if
// beforeTurn is no turn of the session.
func (j *Journal) History(ctx context.Context, session, beforeTurn string, limit int) ([]Exchange, error) {
	if limit <= 0 || limit > historyLimit {
		limit = historyLimit
	}
	before := int64(1<<63 - 1)
	if beforeTurn != "" {
		err := j.readers.QueryRowContext(ctx, "SELECT seq FROM turn WHERE id = ? AND session = ?", beforeTurn, session).Scan(&before)
		if err != nil {
			return nil, j.failure(ctx, "read the history", notFound(err, "turn", beforeTurn))
		}
	}
	rows, err := j.readers.QueryContext(ctx, historyQuery, session, before, limit)
	if err != nil {
		return nil, j.failure(ctx, "read the history", err)
	}
	var exchanges []Exchange
	for size := 0; rows.Next(); {
		exchange, err := scanExchange(rows)
		if err != nil {
			return nil, j.failure(ctx, "read the history", errors.Join(err, rows.Close()))
		}
		if size += len(exchange.Question) + len(exchange.Answer); size > historyBytes && len(exchanges) > 0 {
			break
		}
		exchanges = append(exchanges, exchange)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, j.failure(ctx, "read the history", err)
	}
	slices.Reverse(exchanges)
	return exchanges, nil
}

func scanExchange(row scanner) (Exchange, error) {
	var exchange Exchange
	var question, answer []byte
	if err := row.Scan(&exchange.Turn, &exchange.Event, &exchange.Skill, &question, &answer); err != nil {
		return Exchange{}, err
	}
	var asked struct {
		Text    string
		Context []protocol.ContextItem
	}
	var answered struct{ Raw string }
	if err := errors.Join(json.Unmarshal(question, &asked), json.Unmarshal(answer, &answered)); err != nil {
		return Exchange{}, fmt.Errorf("read the exchange of the turn %s: %w", exchange.Turn, err)
	}
	exchange.Question, exchange.Context, exchange.Answer = asked.Text, asked.Context, answered.Raw
	return exchange, nil
}
