package journal_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

func TestAppend(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	at := time.Date(1969, 12, 31, 23, 59, 59, 123456789, time.FixedZone("east", 3600))
	first, err := j.Records.Append(ctx, journal.Entry{Time: at, Kind: journal.KindProposal, Session: "main", Turn: "t1", ID: "x", Data: []byte(`{"a": "é\u0000<"}`)})
	must(t, err)
	second, err := j.Records.Append(ctx, journal.Entry{Kind: journal.KindLog})
	must(t, err)
	if second.Seq <= first.Seq || second.Time.IsZero() || string(second.Data) != "{}" || !first.Time.Equal(at.Truncate(time.Microsecond)) {
		t.Errorf("appended %+v, %+v", first, second)
	}
	if got := entries(t, j, journal.Query{}); !reflect.DeepEqual(got, []journal.Entry{first, second}) {
		t.Errorf("got %+v\nwant %+v", got, []journal.Entry{first, second})
	}
	for _, test := range []struct {
		entry journal.Entry
		code  protocol.Code
	}{
		{journal.Entry{}, protocol.CodeInvalidParams},
		{journal.Entry{Kind: journal.KindLog, Data: []byte("text")}, protocol.CodeInvalidParams},
		{journal.Entry{Kind: journal.KindLog, Data: []byte(`{"a":1} {`)}, protocol.CodeInvalidParams},
		{journal.Entry{Kind: journal.KindLog, Data: []byte(`"` + strings.Repeat("x", journal.DataLimit) + `"`)}, protocol.CodeTooLarge},
	} {
		_, err := j.Records.Append(ctx, test.entry)
		wantCode(t, err, test.code)
	}
}

// TestEntriesAgainstFilter: a query finds what a walk over all rows finds.
func TestEntriesAgainstFilter(t *testing.T) {
	j := fresh(t)
	sessions, turns, names := []string{"", "main", "other"}, []string{"", "t1", "t2"}, []string{"", "x", "y"}
	kinds := []journal.Kind{journal.KindLog, journal.KindNotice, journal.KindProposal, journal.KindVerdict}
	for i := range 200 {
		_, err := j.Records.Append(t.Context(), journal.Entry{
			Kind: kinds[i*i%7%4], Session: sessions[i%3], Turn: turns[i/3%3], ID: names[i/5%3], Data: []byte(fmt.Sprint(i)),
		})
		must(t, err)
	}
	all := entries(t, j, journal.Query{})
	rapid.Check(t, func(r *rapid.T) {
		query := journal.Query{
			Session: rapid.SampledFrom(sessions).Draw(r, "session"),
			Turn:    rapid.SampledFrom(turns).Draw(r, "turn"),
			ID:      rapid.SampledFrom(names).Draw(r, "id"),
			Kinds:   rapid.SliceOfN(rapid.SampledFrom(append(kinds, journal.KindEvent)), 0, 3).Draw(r, "kinds"),
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

func filter(all []journal.Entry, query journal.Query) []journal.Entry {
	var want []journal.Entry
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
	data := []byte(`"` + strings.Repeat("x", journal.EntriesBytes/3) + `"`)
	for range 5 {
		_, err := j.Records.Append(t.Context(), journal.Entry{Kind: journal.KindModelReply, Data: data})
		must(t, err)
	}
	var sizes []int
	for after := int64(0); ; {
		found := entries(t, j, journal.Query{After: after})
		if len(found) == 0 {
			break
		}
		sizes, after = append(sizes, len(found)), found[len(found)-1].Seq
	}
	if !slices.Equal(sizes, []int{3, 2}) {
		t.Errorf("answers of %v rows", sizes)
	}
}
