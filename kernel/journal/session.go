package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// SessionStore holds the sessions: their present and former names, their model and preset, and
// their forks. A session exists from its first event, model or preset on, and is never removed.
type SessionStore struct{ *database }

// sessionsQuery takes the first words of a session from its first question that a person wrote,
// which is always near the beginning.
const sessionsQuery = `SELECT s.name, s.turns, s.updated, coalesce((SELECT session FROM spawn WHERE child = s.name), s.parent),
	EXISTS (SELECT 1 FROM spawn WHERE child = s.name), coalesce(
	(SELECT state FROM turn WHERE session = s.name AND finished = 0 ORDER BY queue LIMIT 1),
	(SELECT state FROM turn WHERE session = s.name ORDER BY seq DESC LIMIT 1), ''), coalesce(
	(SELECT substr(j.data ->> '$.text', 1, 300) FROM turn AS t JOIN journal AS j ON j.seq = t.seq
		WHERE t.session = s.name AND j.data ->> '$.sensor' <> 'post' ORDER BY t.seq LIMIT 1), '')
	FROM session AS s ORDER BY s.updated DESC`

// List returns every session, latest first. State is the state of the turn that runs or comes next,
// or else of the last turn. File is left empty.
func (s *SessionStore) List(ctx context.Context) ([]protocol.SessionInfo, error) {
	sessions, err := collect(ctx, s.readers, scanSession, sessionsQuery)
	return sessions, s.failure(ctx, "list the sessions", err)
}

// wordsLimit is the length of a session's first words, in characters.
const wordsLimit = 80

func scanSession(row scanner) (protocol.SessionInfo, error) {
	var info protocol.SessionInfo
	var updated int64
	var said string
	err := row.Scan(&info.Name, &info.Turns, &updated, &info.Parent, &info.Subagent, &info.State, &said)
	info.Updated = instant(updated).Format(time.RFC3339)
	info.Words = text.Clip(text.Line(said), wordsLimit)
	return info, err
}

const knownIDsQuery = `
	SELECT t.event FROM json_each(?) AS i CROSS JOIN turn AS t ON t.event = i.value WHERE t.session = ?
	UNION SELECT a.id FROM json_each(?) AS i CROSS JOIN act AS a ON a.id = i.value WHERE a.session = ?`

// KnownIDs returns which of these ids belong to an event or an act of the session. The number of ids
// has no limit.
func (s *SessionStore) KnownIDs(ctx context.Context, session string, ids []string) (map[string]bool, error) {
	known := make(map[string]bool, len(ids))
	if len(ids) == 0 {
		return known, nil
	}
	list, err := json.Marshal(ids)
	if err != nil {
		return nil, fmt.Errorf("look for ids: %w", err)
	}
	found, err := collect(ctx, s.readers, textColumn, knownIDsQuery, string(list), session, string(list), session)
	if err != nil {
		return nil, s.failure(ctx, "look for ids", err)
	}
	for _, id := range found {
		known[id] = true
	}
	return known, nil
}
