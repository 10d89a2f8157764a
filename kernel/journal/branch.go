package journal

import (
	"context"
	"fmt"
	"slices"

	"org-agent/kernel/protocol"
)

// parentQuery finds the turn of a question or an answer of the session.
const parentQuery = `SELECT t.seq, t.parent, coalesce(x.id, nullif(t.preferred, ''), t.answer) FROM turn AS t
	LEFT JOIN act AS x ON x.id = ?1 AND x.kind = 'answer'
	WHERE (t.event = ?1 OR t.id = (SELECT turn FROM act WHERE id = ?1)) AND t.session = ?2`

// Branch returns the exchanges above a question, the outermost first. parent is the :ID: of the
// question or answer below which the question stands, as in [Turn]. If the parent is an answer, its
// exchange has that answer. Otherwise the exchange has the answer that a person prefers, or else
// the last whole one. Turns without an answer are left out. The limits are those of
// [TranscriptStore.History]; the nearest exchanges are returned. CodeNotFound if the parent belongs
// to no turn of the session.
func (s *TranscriptStore) Branch(ctx context.Context, session, parent string) ([]*Exchange, error) {
	var exchanges []*Exchange
	size, last := 0, int64(1<<63-1)
	for steps := 0; parent != "" && steps < historyLimit; steps++ {
		var seq int64
		var next, answer string
		err := s.readers.QueryRowContext(ctx, parentQuery, parent, session).Scan(&seq, &next, &answer)
		if err != nil {
			return nil, s.failure(ctx, "read a branch", notFound(err, "question or answer", parent))
		}
		if seq >= last {
			break // a question below a heading comes after it
		}
		read, err := s.readExchanges(ctx, [][2]any{{seq, answer}})
		if err != nil {
			return nil, s.failure(ctx, "read a branch", err)
		}
		for _, e := range read { // none if the turn has no answer
			if size += len(e.Question) + len(e.Answer); size > historyBytes && len(exchanges) > 0 {
				slices.Reverse(exchanges)
				return exchanges, nil
			}
			exchanges = append(exchanges, e)
		}
		parent, last = next, seq
	}
	slices.Reverse(exchanges)
	return exchanges, nil
}

// refuseNoParent refuses an event whose parent is neither a question nor an answer of its session.
func refuseNoParent(ctx context.Context, tx *writer, event protocol.Event) error {
	if event.Parent == "" {
		return nil
	}
	var there bool
	err := tx.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM turn WHERE event = ?1 AND session = ?2) OR
		EXISTS (SELECT 1 FROM act AS a JOIN turn AS t ON t.id = a.turn WHERE a.id = ?1 AND t.session = ?2)`, event.Parent, event.Session).Scan(&there)
	if err != nil {
		return fmt.Errorf("look for the heading %s: %w", event.Parent, err)
	}
	if !there {
		return protocol.Errorf(protocol.CodeNotFound,
			"%q is no question and no answer of the conversation %s: ask below one that is, or at the end", event.Parent, event.Session)
	}
	return nil
}
