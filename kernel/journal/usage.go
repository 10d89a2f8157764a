package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"org-agent/kernel/protocol"
)

// ReplyUsage is the usage of one reply of a model, as its server counted it. Cost is nil if it is not
// known.
type ReplyUsage struct {
	Turn    string   `json:"-"`
	Model   string   `json:"model,omitempty"`
	Input   int      `json:"input"`
	Output  int      `json:"output"`
	Cached  int      `json:"cached,omitempty"`  // part of Input
	Written int      `json:"written,omitempty"` // into the server's cache, part of Input
	Reason  int      `json:"reasoning,omitempty"`
	Cost    *float64 `json:"cost,omitempty"`
	// First is the time from the request to the first piece of the reply in seconds, 0 if it is not known.
	// Streamed are the tokens that came in pieces, and Writing the seconds from the first to the last.
	First    float64 `json:"first,omitempty"`
	Streamed int     `json:"streamed,omitempty"`
	Writing  float64 `json:"writing,omitempty"`
	// Estimate is the estimate of Input, 0 if there was none or the server has not read the whole request, and
	// RequestedModel the requested name of the model. The next estimate is corrected by them.
	Estimate       int    `json:"estimate,omitempty"`
	RequestedModel string `json:"asked,omitempty"`
}

// UsageStore holds the usage of the replies of models, as their servers counted it: tokens, costs,
// and the ratio of the kernel's estimates to a model's tokens.
type UsageStore struct{ *database }

// PutReplyUsage records the usage of a reply. CodeNotFound if there is no such turn.
func (s *UsageStore) PutReplyUsage(ctx context.Context, spent ReplyUsage) error {
	return s.transact(ctx, "record what a reply took", func(ctx context.Context, tx *writer) error {
		return notFound(putReplyUsage(ctx, tx, spent, time.Now()), "turn", spent.Turn)
	})
}

// PutReplyUsageDeferred records the usage of a reply together with the next change, as
// [RecordStore.AppendDeferred] does, so that the cost of a reply is counted together with its
// effect. Without such a turn it counts nothing.
func (s *UsageStore) PutReplyUsageDeferred(ctx context.Context, spent ReplyUsage) error {
	at := time.Now()
	return s.deferWrite(ctx, "record what a reply took", deferredWrite{deferredSize, func(ctx context.Context, tx *writer) error {
		if err := putReplyUsage(ctx, tx, spent, at); !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		return nil
	}})
}

// putReplyUsage fails with [sql.ErrNoRows] if there is no such turn.
func putReplyUsage(ctx context.Context, tx *writer, spent ReplyUsage, at time.Time) error {
	var session string
	if err := tx.QueryRowContext(ctx, "SELECT session FROM turn WHERE id = ?", spent.Turn).Scan(&session); err != nil {
		return err
	}
	row, err := record(ctx, tx, Entry{Time: at, Kind: KindUsage, Session: session, Turn: spent.Turn}, spent)
	if err != nil {
		return err
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO usage (seq, turn, model, time, input, output, cost, cached, first, streamed, writing)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, nullif(?, 0.0), ?, ?)`,
		row.Seq, spent.Turn, spent.Model, micros(row.Time), spent.Input, spent.Output, spent.Cost, spent.Cached, spent.First, spent.Streamed, spent.Writing)
	if err != nil {
		return fmt.Errorf("write what a reply took: %w", err)
	}
	return correct(ctx, tx, spent)
}

// PutCompletion counts the usage of a completion, which belongs to no turn. Turn is ignored.
func (s *UsageStore) PutCompletion(ctx context.Context, spent ReplyUsage) error {
	const quarter = 15 * time.Minute
	priced := 0
	if spent.Cost != nil {
		priced = 1
	}
	return s.transact(ctx, "count a completion", func(ctx context.Context, tx *writer) error {
		_, err := tx.ExecContext(ctx, `INSERT INTO completion (time, model, replies, priced, input, output, cost) VALUES (?, ?, 1, ?, ?, ?, ?)
			ON CONFLICT (time, model) DO UPDATE SET replies = replies + 1, priced = priced + excluded.priced, input = input + excluded.input,
				output = output + excluded.output, cost = coalesce(cost + excluded.cost, cost, excluded.cost)`,
			micros(time.Now().Truncate(quarter)), spent.Model, priced, spent.Input, spent.Output, spent.Cost)
		return err
	})
}

// usageQuery sums the usage in groups. ?1 is the session, or empty for all; ?2 the first moment
// that counts; ?3 the offset of the person's days from UTC, in seconds.
func usageQuery(by protocol.UsageBy, session string) (query string, ok bool) {
	where, sums := usageWhere, usageSums+usageWhere+" UNION ALL "+completionSums+")"
	if session != "" { // the index of a session's turns is used: the end of each turn asks for the total of one session
		where = "t.session = ?1 AND " + usageWhere
		sums = usageSums + where + ")"
	}
	switch by {
	case protocol.UsageByTurn:
		return `SELECT t.session, t.event, coalesce(json_extract(q.data, '$.text'), ''), u.model, count(*), count(u.cost), sum(u.input), sum(u.output), sum(u.cost),
			sum(u.cached), avg(u.first), sum(u.streamed), sum(u.writing)
			FROM turn AS t JOIN usage AS u ON u.turn = t.id JOIN journal AS q ON q.seq = t.seq
			WHERE ` + where + ` GROUP BY t.seq, u.model ORDER BY t.seq DESC` + usageLimit, true
	case protocol.UsageBySession:
		return `SELECT session, '', iif(session = '', '` + completionsRow + `', ''), ''` + sums + ` GROUP BY session ORDER BY max(time) DESC, session` + usageLimit, true
	case protocol.UsageByModel:
		return `SELECT '', '', '', model` + sums + ` GROUP BY model ORDER BY sum(input + output) DESC` + usageLimit, true
	case protocol.UsageByDay:
		return `SELECT '', '', date(time / 1000000 + ?3, 'unixepoch'), ''` + sums + ` GROUP BY 3 ORDER BY 3 DESC` + usageLimit, true
	case protocol.UsageTotal:
		return `SELECT '', '', '', ''` + sums + ` HAVING count(*) > 0`, true
	}
	return "", false
}

const (
	// completionsRow is the name of the row among the sessions for usage that belongs to none.
	completionsRow = "completions"

	usageSums = `, sum(replies), sum(priced), sum(input), sum(output), sum(cost), sum(cached), avg(first), sum(streamed), sum(writing) FROM (
		SELECT t.session, u.model, u.time, 1 AS replies, u.cost IS NOT NULL AS priced, u.input, u.output, u.cost, u.cached, u.first, u.streamed, u.writing
			FROM turn AS t JOIN usage AS u ON u.turn = t.id WHERE `
	usageWhere     = `u.time >= ?2 AND ?1 = ?1 AND ?3 = ?3`
	completionSums = `SELECT '', model, time, replies, priced, input, output, cost, 0, NULL, 0, 0 FROM completion WHERE time >= ?2`
	usageLimit     = ` LIMIT 1000`
)

// Sum returns the usage in the session, or in all if session is "", since a moment, in at most
// 1,000 rows. east is the offset of the person's clock from UTC in seconds. It decides when a day
// begins.
func (s *UsageStore) Sum(ctx context.Context, by protocol.UsageBy, session string, since time.Time, east int) ([]protocol.Usage, error) {
	query, ok := usageQuery(by, session)
	if !ok {
		return nil, protocol.Errorf(protocol.CodeInvalidParams, "usage is told by turn, session, model, day, tool or in total, not by %q", by)
	}
	rows, err := collect(ctx, s.readers, scanUsage, query, session, micros(since), east)
	return rows, s.failure(ctx, "sum the usage", err)
}

func scanUsage(row scanner) (protocol.Usage, error) {
	var u protocol.Usage
	var priced int
	var first *float64
	var streamed, writing float64
	err := row.Scan(&u.Session, &u.Event, &u.What, &u.Model, &u.Replies, &priced, &u.Input, &u.Output, &u.Cost, &u.Cached, &first, &streamed, &writing)
	if err != nil {
		return u, fmt.Errorf("read a row: %w", err)
	}
	if first != nil {
		u.First = *first
	}
	if writing > 0 {
		u.Rate = streamed / writing
	}
	u.Unpriced = u.Replies - priced
	const longest = 80
	if words := []rune(u.What); len(words) > longest {
		u.What = string(words[:longest])
	}
	return u, nil
}

// UsageOutsideTurn returns the tokens and the cost of a question outside its own turn, as servers
// counted them. They belong to the turn that answers it and to those of its subagents.
func (s *UsageStore) UsageOutsideTurn(ctx context.Context, turn, own string) (used BudgetUse, err error) {
	err = s.readers.QueryRowContext(ctx, `SELECT coalesce(sum(input + output), 0), coalesce(sum(cost), 0) FROM usage WHERE turn <> ?2
		AND (turn = ?1 OR turn IN (SELECT t.id FROM spawn AS s JOIN turn AS t ON t.event = s.id WHERE s.turn = ?1))`, turn, own).Scan(&used.Tokens, &used.Cost)
	return used, s.failure(ctx, "add up what a question took", err)
}
