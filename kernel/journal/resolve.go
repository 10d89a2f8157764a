package journal

import (
	"context"
	"strings"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// IDTarget is the meaning of an id: a turn, its question, an act or an approval, and the turn that it
// belongs to.
type IDTarget struct {
	Kind string // "turn", "question", "answer", "notice", "action" or "approval"
	ID   string
	Turn string
}

// resolveQuery returns the ids that begin with a text.
const resolveQuery = `
	SELECT * FROM (SELECT 'turn', id, id AS turn FROM turn WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3)
	UNION ALL SELECT * FROM (SELECT 'question', event, id FROM turn WHERE event >= ?1 AND event < ?2 ORDER BY event LIMIT ?3)
	UNION ALL SELECT * FROM (SELECT kind, id, turn FROM act WHERE id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3)
	UNION ALL SELECT * FROM (SELECT 'approval', id, turn FROM ask WHERE sort = 'approval' AND id >= ?1 AND id < ?2 ORDER BY id LIMIT ?3)`

// resolveShown is how many candidates an error names.
const resolveShown = 5

// Resolve returns the meaning of an id, or of the beginning of an id if it is unique to one turn.
// CodeNotFound if there is none. CodeConflict, with some of the candidates, if there are several.
func (s *RecordStore) Resolve(ctx context.Context, id string) (IDTarget, error) {
	if !protocol.ValidID(id) {
		return IDTarget{}, protocol.Errorf(protocol.CodeInvalidParams, "%q is not an id: give that of a question, an answer, an action, an approval or a turn, or its beginning", text.Clip(id, 80))
	}
	found, err := collect(ctx, s.readers, scanIDTarget, resolveQuery, id, id+"\U0010FFFF", resolveShown+1)
	if err != nil {
		return IDTarget{}, s.failure(ctx, "look for an id", err)
	}
	var several []string
	for _, n := range found {
		if n.ID == id {
			return n, nil
		}
		several = append(several, n.ID+" ("+n.Kind+")")
	}
	switch {
	case len(found) == 0:
		return IDTarget{}, protocol.Errorf(protocol.CodeNotFound, "nothing has the id %q, and none begins so: a turn's ids stand in the drawers of its question and its answer", text.Clip(id, 80))
	case !oneTurn(found):
		more := ""
		if len(several) > resolveShown {
			several, more = several[:resolveShown], " and more"
		}
		return IDTarget{}, protocol.Errorf(protocol.CodeConflict, "several ids begin with %q: %s%s; give more of it", text.Clip(id, 80), strings.Join(several, ", "), more)
	}
	return found[0], nil
}

func oneTurn(found []IDTarget) bool {
	for _, n := range found {
		if n.Turn != found[0].Turn {
			return false
		}
	}
	return true
}

func scanIDTarget(row scanner) (IDTarget, error) {
	var n IDTarget
	return n, row.Scan(&n.Kind, &n.ID, &n.Turn)
}
