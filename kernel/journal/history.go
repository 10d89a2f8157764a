package journal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"org-agent/kernel/lru"
	"org-agent/kernel/protocol"
)

// Exchange is a question and its answer in the form that models receive. Callers must not change
// it, because a cache shares it.
type Exchange struct {
	Turn             string
	Seq              int64     // of the turn
	Stamp            time.Time // when the question was sent, as models receive it; zero if not recorded
	Event            string
	Question         string
	Steers           []string               // messages that a person sent to the running turn
	Context          []protocol.ContextItem // without content; [TurnStore.Context] has it whole
	RenderedQuestion string                 // the question as the model received it; "" if not recorded
	ToolSteps        int                    // their number; [TranscriptStore.ToolSteps] returns them
	Answer           string                 // the model's own text
	AnswerID         string
	Skill            string
}

const (
	historyLimit = 1000
	historyBytes = 4 << 20 // of questions and answers, in one result
)

// exchangeColumns are the columns of an exchange: the turn t, its question q, its answer x in the
// row a.
const exchangeColumns = `t.id, t.event, t.skill, t.stamp, x.id, q.data, a.data,
	coalesce((SELECT json_extract(k.data, '$.text') FROM journal AS k WHERE k.id = x.id AND k.kind = 'asked' ORDER BY k.seq DESC LIMIT 1), ''),
	(SELECT count(*) FROM journal AS k WHERE k.id = x.id AND k.kind = 'round'),
	(SELECT json_group_array(json_extract(j.data, '$.text')) FROM steer AS s JOIN journal AS j ON j.seq = s.seq WHERE s.turn = t.id AND s.used = 1
		AND NOT EXISTS (SELECT 1 FROM turn AS own WHERE own.event = s.id))`

// exchangesQuery reads turns, each with one of its answers. Its argument is [[SEQ, "ANSWER"], …].
const exchangesQuery = `SELECT t.seq, ` + exchangeColumns + `
	FROM json_each(?) AS wanted CROSS JOIN turn AS t ON t.seq = wanted.value ->> 0 JOIN journal AS q ON q.seq = t.seq
	JOIN act AS x ON x.id = wanted.value ->> 1 JOIN journal AS a ON a.seq = x.seq`

// exchangesKept is the size of the cache of exchanges, in bytes.
const exchangesKept = 32 << 20

// TranscriptStore reads conversations in the form that models receive: the exchanges of a session,
// the steps before an answer, and the compactions that replace older exchanges. Its caches are
// bounded, and many goroutines share them. A cached value must not be changed.
type TranscriptStore struct {
	*database
	// exchanges caches the exchanges that were read, by the answer's id.
	exchanges *lru.Cache[string, *Exchange]
	// turnOrders caches the turn order of each session, by its name.
	turnOrders *lru.Cache[string, turnOrder]
}

func newTranscriptStore(db *database) *TranscriptStore {
	return &TranscriptStore{
		database:   db,
		exchanges:  lru.New[string, *Exchange](exchangesKept),
		turnOrders: lru.New[string, turnOrder](turnOrdersKept),
	}
}

// History returns the exchanges of a session before a turn, or all of them if
// beforeTurn is "", in the order of the conversation, latest last. Turns without
// an answer are left out. Where a question replaced an earlier one, the earlier
// one and everything that followed it until the replacement are left out. Of more
// than limit exchanges (1,000 if limit is 0 or larger than that), or of more than
// 4 MiB of text, only the latest are returned. CodeNotFound if beforeTurn is no
// turn of the session.
func (s *TranscriptStore) History(ctx context.Context, session, beforeTurn string, limit int) ([]*Exchange, error) {
	exchanges, _, err := s.HistoryFrom(ctx, session, beforeTurn, 0, limit)
	return exchanges, err
}

// HistoryFrom is [TranscriptStore.History] back to the turn whose Seq is from, inclusive. whole is false
// if a limit left something out.
func (s *TranscriptStore) HistoryFrom(ctx context.Context, session, beforeTurn string, from int64, limit int) (exchanges []*Exchange, whole bool, err error) {
	if limit <= 0 || limit > historyLimit {
		limit = historyLimit
	}
	before := int64(1<<63 - 1)
	if beforeTurn != "" {
		err := s.readers.QueryRowContext(ctx, `SELECT coalesce(o.seq, t.seq) FROM turn AS t LEFT JOIN turn AS o ON o.event = t.instead
			WHERE t.id = ? AND t.session = ?`, beforeTurn, session).Scan(&before)
		if err != nil {
			return nil, false, s.failure(ctx, "read the history", notFound(err, "turn", beforeTurn))
		}
	}
	refs, whole, err := s.turnRefs(ctx, session, before, from, limit)
	if err != nil {
		return nil, false, s.failure(ctx, "read the history", err)
	}
	exchanges = make([]*Exchange, 0, len(refs))
	size := 0
	for len(refs) > 0 {
		some := refs[:min(len(refs), exchangesAtOnce)]
		refs = refs[len(some):]
		read, err := s.exchangesOf(ctx, some)
		if err != nil {
			return nil, false, s.failure(ctx, "read the history", err)
		}
		for _, e := range read {
			if size += len(e.Question) + len(e.Answer) + len(e.RenderedQuestion); size > historyBytes && len(exchanges) > 0 {
				slices.Reverse(exchanges)
				return exchanges, false, nil
			}
			exchanges = append(exchanges, e)
		}
	}
	slices.Reverse(exchanges)
	return exchanges, whole, nil
}

// exchangesAtOnce is how many exchanges one query reads. The last ones may be beyond the limit.
const exchangesAtOnce = 100

// exchangesOf returns the exchanges of these turns. Cached ones are not read again, since the rows
// of an answered turn do not change. The exception is a steered turn: a steering message may
// become a turn of its own.
func (s *TranscriptStore) exchangesOf(ctx context.Context, turns []turnRef) ([]*Exchange, error) {
	exchanges := make([]*Exchange, len(turns))
	var missing [][2]any
	var indexes map[string]int
	for i, v := range turns {
		if e, ok := s.exchanges.Get(v.answer); ok && e.Seq == v.seq && !v.steered {
			exchanges[i] = e.by(v.skill)
			continue
		}
		if indexes == nil {
			indexes = make(map[string]int)
		}
		missing, indexes[v.answer] = append(missing, [2]any{v.seq, v.answer}), i
	}
	if len(missing) > 0 {
		read, err := s.readExchanges(ctx, missing)
		if err != nil {
			return nil, err
		}
		for _, e := range read {
			if i := indexes[e.AnswerID]; e.Seq == turns[i].seq {
				exchanges[i] = e.by(turns[i].skill)
			}
		}
	}
	return slices.DeleteFunc(exchanges, func(e *Exchange) bool { return e == nil }), nil
}

// by returns the exchange with the present skill of its turn.
func (e *Exchange) by(skill string) *Exchange {
	if e.Skill == skill {
		return e
	}
	now := *e
	now.Skill = skill
	return &now
}

// readExchanges reads exchanges and caches them.
func (s *TranscriptStore) readExchanges(ctx context.Context, wanted [][2]any) ([]*Exchange, error) {
	list, err := json.Marshal(wanted)
	if err != nil {
		return nil, fmt.Errorf("ask for exchanges: %w", err)
	}
	read, err := collect(ctx, s.readers, scanExchange, exchangesQuery, string(list))
	for _, e := range read {
		s.exchanges.Put(e.AnswerID, e, len(e.Question)+len(e.RenderedQuestion)+len(e.Answer)+contextSize*(4+len(e.Context)))
	}
	return read, err
}

// contextSize is the approximate size of a context item in an exchange, in bytes.
const contextSize = 100

func scanExchange(row scanner) (*Exchange, error) {
	exchange := &Exchange{}
	var question, answer, steers []byte
	var stamp string
	if err := row.Scan(&exchange.Seq, &exchange.Turn, &exchange.Event, &exchange.Skill, &stamp,
		&exchange.AnswerID, &question, &answer, &exchange.RenderedQuestion, &exchange.ToolSteps, &steers); err != nil {
		return nil, err
	}
	var asked struct {
		Text    string
		Context []protocol.ContextItem
		Presets []string
	}
	var answered struct{ Raw string }
	if err := errors.Join(json.Unmarshal(question, &asked), json.Unmarshal(answer, &answered), json.Unmarshal(steers, &exchange.Steers)); err != nil {
		return nil, fmt.Errorf("read the exchange of the turn %s: %w", exchange.Turn, err)
	}
	var err error
	if exchange.Stamp, err = readStamp(stamp); err != nil {
		return nil, err
	}
	exchange.Question, exchange.Context = protocol.WithoutMentions(asked.Text, asked.Presets), asked.Context
	exchange.Answer = answered.Raw
	return exchange, nil
}
