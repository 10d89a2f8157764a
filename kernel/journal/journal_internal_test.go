package journal

import (
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/protocol"
)

// TestQueriesUseIndexes: no query on the way of a message walks over a table.
func TestQueriesUseIndexes(t *testing.T) {
	j := fresh(t)
	byKind, _ := Query{Kinds: []Kind{KindLog, KindAct}, Latest: true}.statement(nil)
	bySession, _ := Query{Session: "main"}.statement([]span{{"main", 5, 9}})
	byTurn, _ := Query{Turn: "t1"}.statement(nil)
	byID, _ := Query{ID: "x"}.statement(nil)
	total, _ := usageQuery(protocol.UsageTotal, "main")
	for _, query := range []string{
		byKind, bySession, byTurn, byID, total,
		turnQuery + "WHERE t.id = 'x'", turnQuery + "WHERE t.event = 'x'", unfinishedQuery, turnsQuery,
		actQuery + "WHERE a.id = 'x'", actsOfQuery, turnOrderQuery, changedQuery, untilQuery, exchangesQuery, knownQuery, openQuery, openOfTurn, allowedQuery, sessionsQuery,
		unsavedTurnsQuery, unsavedActsQuery, marksQuery, turnsOfQuery, unmovedQuery, latestRenamingQuery, nextRenamingQuery, spanQuery, lastStampQuery,
	} {
		steps, err := collect(t.Context(), j.database.readers, func(row scanner) (step string, err error) {
			var unused int
			return step, row.Scan(&unused, &unused, &unused, &step)
		}, "EXPLAIN QUERY PLAN "+query, make([]any, 12)[:strings.Count(query, "?")]...)
		must(t, err)
		for _, step := range steps {
			if strings.HasPrefix(step, "SCAN") && !strings.Contains(step, " INDEX ") && !strings.Contains(step, "VIRTUAL TABLE") && !strings.Contains(step, "(subquery") {
				t.Errorf("%s\n%s", query, strings.Join(steps, "\n"))
			}
		}
	}
}

// fresh opens a new journal that is closed when the test ends.
func fresh(t testing.TB) *Journal {
	t.Helper()
	return reopen(t, filepath.Join(t.TempDir(), "journal.db"))
}

func reopen(t testing.TB, path string) *Journal {
	t.Helper()
	j, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := j.Close(); err != nil {
			t.Error(err)
		}
	})
	return j
}

// message is a chat message with the id.
func message(id, session, text string) protocol.Event {
	return protocol.Event{ID: id, Session: session, Sensor: protocol.SensorChatMessage, Route: protocol.LocalRoute(protocol.ChannelEmacs), Text: text, Level: 1}
}

// accepted takes a message and returns its turn, "turn-" and the id.
func accepted(t testing.TB, j *Journal, id, session, text string) Turn {
	t.Helper()
	turn, fresh, err := j.Turns.Accept(t.Context(), message(id, session, text), "turn-"+id)
	if err != nil || !fresh {
		t.Fatalf("accept %s: fresh %v, %v", id, fresh, err)
	}
	return turn
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
