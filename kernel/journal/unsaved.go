package journal

import (
	"context"
	"time"
)

const (
	unsavedTurnsQuery = turnQuery + "WHERE t.saved = 0 AND t.session = ? AND t.state <> 'queued' ORDER BY t.seq"
	unsavedActsQuery  = actQuery + "WHERE a.saved = 0 AND a.session = ? AND a.kind <> 'action' ORDER BY a.seq"
)

// Unsaved returns the part of a conversation that the session's file never had: the turns whose
// question is not in it, and the acts that were inserted into the conversation, each in the order
// of the journal. Queued turns are left out, because a question enters the file when its turn
// begins.
func (s *TurnStore) Unsaved(ctx context.Context, session string) ([]Turn, []Act, error) {
	turns, err := collect(ctx, s.readers, scanTurn, unsavedTurnsQuery, session)
	if err != nil {
		return nil, nil, s.failure(ctx, "read what is not in the file", err)
	}
	acts, err := collect(ctx, s.readers, scanAct, unsavedActsQuery, session)
	return turns, acts, s.failure(ctx, "read what is not in the file", err)
}

// unsavedSessionsQuery lists the sessions of turns that have ended.
const unsavedSessionsQuery = `SELECT t.session FROM turn t WHERE t.saved = 0 AND t.finished BETWEEN 1 AND ?1 UNION
	SELECT a.session FROM act a JOIN turn t ON t.id = a.turn WHERE a.saved = 0 AND a.kind <> 'action' AND t.finished BETWEEN 1 AND ?1 ORDER BY 1`

// UnsavedSessions returns the sessions whose file lacks a part of a turn that ended before that time.
func (s *TurnStore) UnsavedSessions(ctx context.Context, before time.Time) ([]string, error) {
	names, err := collect(ctx, s.readers, textColumn, unsavedSessionsQuery, before.UnixMicro())
	return names, s.failure(ctx, "read what is not in the files", err)
}
