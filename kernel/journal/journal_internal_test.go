package journal

import (
	"strings"
	"testing"

	"org-agent/kernel/protocol"
)

// TestQueriesUseIndexes: no query on the way of a message walks over a table.
func TestQueriesUseIndexes(t *testing.T) {
	j := Fresh(t)
	byKind, _ := Query{Kinds: []Kind{KindLog, KindAct}, Latest: true}.statement(nil)
	bySession, _ := Query{Session: "main"}.statement([]span{{"main", 5, 9}})
	byTurn, _ := Query{Turn: "t1"}.statement(nil)
	byID, _ := Query{ID: "x"}.statement(nil)
	total, _ := usageQuery(protocol.UsageTotal, "main")
	for _, query := range []string{
		byKind, bySession, byTurn, byID, total,
		turnQuery + "WHERE t.id = 'x'", turnQuery + "WHERE t.event = 'x'", unfinishedQuery, turnsQuery,
		actQuery + "WHERE a.id = 'x'", actsOfQuery, turnOrderQuery, changedQuery, untilQuery, exchangesQuery, knownIDsQuery, openQuery, openOfTurn, allowedQuery, sessionsQuery,
		unsavedTurnsQuery, unsavedActsQuery, marksQuery, turnsOfQuery, pendingMovesQuery, latestRenamingQuery, nextRenamingQuery, spanQuery, lastStampQuery,
	} {
		steps, err := collect(t.Context(), j.database.readers, func(row scanner) (step string, err error) {
			var unused int
			return step, row.Scan(&unused, &unused, &unused, &step)
		}, "EXPLAIN QUERY PLAN "+query, make([]any, 12)[:strings.Count(query, "?")]...)
		Must(t, err)
		for _, step := range steps {
			if strings.HasPrefix(step, "SCAN") && !strings.Contains(step, " INDEX ") && !strings.Contains(step, "VIRTUAL TABLE") && !strings.Contains(step, "(subquery") {
				t.Errorf("%s\n%s", query, strings.Join(steps, "\n"))
			}
		}
	}
}
