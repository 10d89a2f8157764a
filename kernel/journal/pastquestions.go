package journal

import (
	"context"
	"errors"
	"strings"

	"org-agent/kernel/protocol"
)

const (
	pastQuestionsDefault = 100
	pastQuestionsLimit   = 200
	pastQuestionsRows    = 4000     // looked at for questions that differ
	questionLength       = 64 << 10 // bytes of a question's row; longer ones are left out
	pastQuestionsBytes   = 1 << 20  // of questions in one answer
)

// PastQuestions returns questions that a person asked and might ask again: the latest ones, each
// text once, of all sessions except the one named except ("" excludes none). With a query it
// returns those that [SearchIndex.Find] finds, the best first. CodeInvalidParams for a query
// without a word. limit is 100 if 0, and at most 200.
func (s *SearchIndex) PastQuestions(ctx context.Context, query, except string, limit int) ([]Turn, error) {
	if limit <= 0 {
		limit = pastQuestionsDefault
	}
	gathered := questionSet{except: except, limit: min(limit, pastQuestionsLimit), seen: map[string]bool{}}
	if query != "" {
		return s.pastQuestionsWith(ctx, query, &gathered)
	}
	rows, err := s.readers.QueryContext(ctx, turnQuery+
		"WHERE t.origin = '' AND t.session <> ? AND octet_length(j.data) <= ? ORDER BY t.seq DESC LIMIT ?",
		except, questionLength, pastQuestionsRows)
	if err != nil {
		return nil, s.failure(ctx, "read what was asked", err)
	}
	for err == nil && rows.Next() && !gathered.full() {
		var turn Turn
		if turn, err = scanTurn(rows); err == nil {
			gathered.add(turn)
		}
	}
	err = errors.Join(err, rows.Err(), rows.Close())
	return gathered.turns, s.failure(ctx, "read what was asked", err)
}

// pastQuestionsWith collects the questions that match a query.
func (s *SearchIndex) pastQuestionsWith(ctx context.Context, query string, gathered *questionSet) ([]Turn, error) {
	found, err := s.Find(ctx, Search{Query: query, Limit: searchLimit})
	if err != nil {
		return nil, err
	}
	for _, hit := range found.Hits {
		if hit.Answer || gathered.full() {
			continue
		}
		turn, err := turnWhere(ctx, s.readers, "t.event = ?", hit.Event)
		if err != nil {
			return nil, err
		}
		gathered.add(turn)
	}
	return gathered.turns, nil
}

// questionSet collects questions, each text once, up to its limits.
type questionSet struct {
	except       string
	limit, bytes int
	seen         map[string]bool
	turns        []Turn
}

func (a *questionSet) full() bool { return len(a.turns) >= a.limit || a.bytes >= pastQuestionsBytes }

// add adds a question that the person wrote here. A message from a channel may be another person's.
func (a *questionSet) add(turn Turn) {
	event := turn.Question
	own := event.HasHeading() && event.Sensor != protocol.SensorReport && (event.Route.Kind == protocol.RouteEmacs || event.Route.Kind == protocol.RouteCLI)
	text := QuestionText(event)
	if !own || text == "" || len(text) > questionLength || turn.Session == a.except || a.seen[text] {
		return
	}
	a.seen[text] = true
	a.bytes += len(text)
	a.turns = append(a.turns, turn)
}

// QuestionText returns a question as a person would write it again. For a command it is the command
// line alone.
func QuestionText(event protocol.Event) string {
	if event.Command != "" {
		return strings.TrimSpace("/" + event.Command + " " + event.Arguments)
	}
	return strings.TrimSpace(event.Text)
}
