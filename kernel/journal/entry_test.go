package journal

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"org-agent/kernel/protocol"
)

func TestAppend(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	at := time.Date(1969, 12, 31, 23, 59, 59, 123456789, time.FixedZone("east", 3600))
	first, err := j.Records.Append(ctx, Entry{Time: at, Kind: KindProposal, Session: "main", Turn: "t1", ID: "x", Data: []byte(`{"a": "é\u0000<"}`)})
	must(t, err)
	second, err := j.Records.Append(ctx, Entry{Kind: KindLog})
	must(t, err)
	if second.Seq <= first.Seq || second.Time.IsZero() || string(second.Data) != "{}" || !first.Time.Equal(at.Truncate(time.Microsecond)) {
		t.Errorf("appended %+v, %+v", first, second)
	}
	if got := entries(t, j, Query{}); !reflect.DeepEqual(got, []Entry{first, second}) {
		t.Errorf("got %+v\nwant %+v", got, []Entry{first, second})
	}
	for _, test := range []struct {
		entry Entry
		code  protocol.Code
	}{
		{Entry{}, protocol.CodeInvalidParams},
		{Entry{Kind: KindLog, Data: []byte("text")}, protocol.CodeInvalidParams},
		{Entry{Kind: KindLog, Data: []byte(`{"a":1} {`)}, protocol.CodeInvalidParams},
		{Entry{Kind: KindLog, Data: []byte(`"` + strings.Repeat("x", dataLimit) + `"`)}, protocol.CodeTooLarge},
	} {
		_, err := j.Records.Append(ctx, test.entry)
		wantCode(t, err, test.code)
	}
}

// TestEntriesAgainstFilter: a query finds what a walk over all rows finds.
func TestEntriesAgainstFilter(t *testing.T) {
	j := fresh(t)
	sessions, turns, names := []string{"", "main", "other"}, []string{"", "t1", "t2"}, []string{"", "x", "y"}
	kinds := []Kind{KindLog, KindNotice, KindProposal, KindVerdict}
	for i := range 200 {
		_, err := j.Records.Append(t.Context(), Entry{
			Kind: kinds[i*i%7%4], Session: sessions[i%3], Turn: turns[i/3%3], ID: names[i/5%3], Data: []byte(fmt.Sprint(i)),
		})
		must(t, err)
	}
	all := entries(t, j, Query{})
	rapid.Check(t, func(r *rapid.T) {
		query := Query{
			Session: rapid.SampledFrom(sessions).Draw(r, "session"),
			Turn:    rapid.SampledFrom(turns).Draw(r, "turn"),
			ID:      rapid.SampledFrom(names).Draw(r, "id"),
			Kinds:   rapid.SliceOfN(rapid.SampledFrom(append(kinds, KindEvent)), 0, 3).Draw(r, "kinds"),
			After:   int64(rapid.IntRange(0, 210).Draw(r, "after")),
			Limit:   rapid.IntRange(0, 30).Draw(r, "limit"),
			Latest:  rapid.Bool().Draw(r, "latest"),
		}
		want := filter(all, query)
		got := entries(t, j, query)
		if len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
			r.Fatalf("got %d rows, want %d\n%v\n%v", len(got), len(want), got, want)
		}
	})
}

func filter(all []Entry, query Query) []Entry {
	var want []Entry
	for _, entry := range all {
		if entry.Seq > query.After && (query.Session == "" || entry.Session == query.Session) &&
			(query.Turn == "" || entry.Turn == query.Turn) && (query.ID == "" || entry.ID == query.ID) &&
			(len(query.Kinds) == 0 || slices.Contains(query.Kinds, entry.Kind)) {
			want = append(want, entry)
		}
	}
	if query.Limit > 0 && len(want) > query.Limit {
		if query.Latest {
			return want[len(want)-query.Limit:]
		}
		return want[:query.Limit]
	}
	return want
}

// TestEntriesEndEarly: rows of more than 16 MiB come in several answers.
func TestEntriesEndEarly(t *testing.T) {
	j := fresh(t)
	data := []byte(`"` + strings.Repeat("x", entriesBytes/3) + `"`)
	for range 5 {
		_, err := j.Records.Append(t.Context(), Entry{Kind: KindModelReply, Data: data})
		must(t, err)
	}
	var sizes []int
	for after := int64(0); ; {
		found := entries(t, j, Query{After: after})
		if len(found) == 0 {
			break
		}
		sizes, after = append(sizes, len(found)), found[len(found)-1].Seq
	}
	if !slices.Equal(sizes, []int{3, 2}) {
		t.Errorf("answers of %v rows", sizes)
	}
}

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
