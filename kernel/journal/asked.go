package journal

import (
	"context"
	"errors"
	"strings"

	"org-agent/kernel/protocol"
)

const (
	askedDefault = 100
	askedLimit   = 200
	askedRows    = 4000     // looked at for questions that differ
	askedLength  = 64 << 10 // bytes of a question's row; longer ones are left out
	askedBytes   = 1 << 20  // of questions in one answer
)

// Asked is what a person has asked and might ask again: the latest questions, each text
// once, of all sessions but one, "" for none. With a query the best of those with its
// words, as [Journal.Search] finds them; one without a word is CodeInvalidParams. Limit is
// 100 if 0, and at most 200.
func (j *Journal) Asked(ctx context.Context, query, except string, limit int) ([]Turn, error) {
	if limit <= 0 {
		limit = askedDefault
	}
	gathered := askedOnce{except: except, limit: min(limit, askedLimit), seen: map[string]bool{}}
	if query != "" {
		return j.askedWith(ctx, query, &gathered)
	}
	rows, err := j.readers.QueryContext(ctx, turnQuery+
		"WHERE t.origin = '' AND t.session <> ? AND octet_length(j.data) <= ? ORDER BY t.seq DESC LIMIT ?",
		except, askedLength, askedRows)
	if err != nil {
		return nil, j.failure(ctx, "read what was asked", err)
	}
	for err == nil && rows.Next() && !gathered.full() {
		var turn Turn
		if turn, err = scanTurn(rows); err == nil {
			gathered.add(turn)
		}
	}
	err = errors.Join(err, rows.Err(), rows.Close())
	return gathered.turns, j.failure(ctx, "read what was asked", err)
}

// askedWith gathers the questions with the words of a query.
func (j *Journal) askedWith(ctx context.Context, query string, gathered *askedOnce) ([]Turn, error) {
	found, err := j.Search(ctx, Search{Query: query, Limit: searchLimit})
	if err != nil {
		return nil, err
	}
	for _, hit := range found.Hits {
		if hit.Answer || gathered.full() {
			continue
		}
		turn, err := j.TurnOfEvent(ctx, hit.Event)
		if err != nil {
			return nil, err
		}
		gathered.add(turn)
	}
	return gathered.turns, nil
}

// askedOnce is questions, each text once.
type askedOnce struct {
	except       string
	limit, bytes int
	seen         map[string]bool
	turns        []Turn
}

func (a *askedOnce) full() bool { return len(a.turns) >= a.limit || a.bytes >= askedBytes }

// add takes a question that a person wrote here: what came over a channel somebody else
// may have said.
func (a *askedOnce) add(turn Turn) {
	event := turn.Question
	said := event.Said() && event.Sensor != protocol.SensorReport && (event.Route.Kind == protocol.RouteEmacs || event.Route.Kind == protocol.RouteCLI)
	text := AskedText(event)
	if !said || text == "" || len(text) > askedLength || turn.Session == a.except || a.seen[text] {
		return
	}
	a.seen[text] = true
	a.bytes += len(text)
	a.turns = append(a.turns, turn)
}

// AskedText is a question as a person would write it again: of a command only that.
func AskedText(event protocol.Event) string {
	if event.Command != "" {
		return strings.TrimSpace("/" + event.Command + " " + event.Arguments)
	}
	return strings.TrimSpace(event.Text)
}
