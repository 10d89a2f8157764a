//go:build !race

// These tests have one goroutine, and with the race detector they take three times as long.

package journal_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// acrossBuckets is a journal whose texts are in buckets of all lengths, with what was said, the
// latest first.
func acrossBuckets(t *testing.T) (j *journal.Journal, ids []string, times []time.Time) {
	j = fresh(t)
	for i, jump := range []int64{0, 8190, 16384, 131_070, 131_100, 262_144, 600_000, 2_097_151} {
		if jump > 0 {
			must(t, j.Exec(t.Context(), "INSERT INTO journal (seq, time, kind, session, turn, id, data) VALUES (?, ?, 'log', '', '', '', '{}')", jump, time.Now().UnixMicro()))
		}
		session := fmt.Sprint("s", i%2)
		for n := range 3 {
			id := fmt.Sprintf("q%d-%d", i, n)
			accepted(t, j, id, session, fmt.Sprintf("the road number %d of w%d", n, i))
			turn, err := j.Turns.TurnOfEvent(t.Context(), id)
			must(t, err)
			ids, times = append(ids, id), append(times, turn.Accepted)
		}
	}
	slices.Reverse(ids)
	slices.Reverse(times)
	return j, ids, times
}

// TestSearchGoesOn: whatever the time a search may take, its pages together are what is
// there, once.
func TestSearchGoesOn(t *testing.T) {
	j, ids, times := acrossBuckets(t)
	in := func(session int) (list []string) {
		for _, id := range ids {
			if int(id[1]-'0')%2 == session {
				list = append(list, id)
			}
		}
		return list
	}
	for _, c := range []struct {
		search journal.Search
		want   []string
	}{
		{journal.Search{Query: "road"}, ids},
		{journal.Search{Query: `"the road number"`}, ids},
		{journal.Search{Query: "roa* num*"}, ids},
		{journal.Search{Query: `"road the"`}, nil},
		{journal.Search{Query: "nowhere"}, nil},
		{journal.Search{Query: "w3"}, []string{"q3-2", "q3-1", "q3-0"}},
		{journal.Search{Query: "road", Session: "s1"}, in(1)},
		{journal.Search{Query: "road", Session: "s0"}, in(0)},
		{journal.Search{Query: "road", Since: times[5]}, ids[:6]},
		{journal.Search{Query: "road", Until: times[5]}, ids[6:]},
		{journal.Search{Query: "road", Since: times[9], Until: times[2]}, ids[3:10]},
		{journal.Search{Query: "road", Since: time.Now().Add(time.Hour)}, nil},
		{journal.Search{Query: "road", Until: times[len(times)-1]}, nil},
	} {
		for _, budget := range []time.Duration{0, 100 * time.Microsecond, time.Hour} {
			got, count := pages(t, j, c.search, budget)
			slices.Sort(got)
			want := slices.Sorted(slices.Values(c.want))
			if !slices.Equal(got, want) {
				t.Errorf("%+v in %v finds %v, want %v", c.search, budget, got, want)
			}
			if budget == time.Hour && count != 1 {
				t.Errorf("%+v has %d pages, with all the time there is", c.search, count)
			}
			if budget == 0 && c.search == (journal.Search{Query: "nowhere"}) && count < 5 {
				t.Errorf("without time all was looked at in %d pages", count)
			}
		}
	}
}

// TestSearchLatestFirst: with hardly any time, what is found is the latest.
func TestSearchLatestFirst(t *testing.T) {
	j, _, _ := acrossBuckets(t)
	found, err := j.Search.SearchWithin(t.Context(), journal.Search{Query: "road"}, 0)
	must(t, err)
	if len(found.Hits) != 3 || found.Hits[0].ID[:3] != "q7-" || found.Before == 0 {
		t.Errorf("found %+v", found)
	}
}

// TestSearchManyHits: more texts than are ranked at once come page by page.
func TestSearchManyHits(t *testing.T) {
	j := fresh(t)
	var want []string
	for i := range 2*journal.Candidates + 50 {
		id := fmt.Sprintf("m%04d", i)
		accepted(t, j, id, "main", "again and again")
		want = append(want, id)
	}
	got, count := pages(t, j, journal.Search{Query: "again"}, time.Hour)
	slices.Sort(got)
	if !slices.Equal(got, want) || count != 3 {
		t.Errorf("%d hits of %d, in %d pages", len(got), len(want), count)
	}
}

// TestSearchEnds: a search ends with its context, and the next one is none the worse.
func TestSearchEnds(t *testing.T) {
	j, ids, _ := acrossBuckets(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := j.Search.Find(ctx, journal.Search{Query: "road"}); !errors.Is(err, context.Canceled) {
		t.Errorf("a search that was cancelled: %v", err)
	}
	if got, _ := pages(t, j, journal.Search{Query: "road"}, time.Hour); len(got) != len(ids) {
		t.Errorf("then %d of %d are found", len(got), len(ids))
	}
}

// TestSearchOfForksByTime: the copies that a fork has were said when their origins were,
// however late they were written, and mislead no search by time.
func TestSearchOfForksByTime(t *testing.T) {
	j := fresh(t)
	for n := range 40 {
		accepted(t, j, fmt.Sprint("q", n), "main", "the road")
	}
	middle, err := j.Turns.TurnOfEvent(t.Context(), "q20")
	must(t, err)
	fork := journal.Fork{Session: "fork", Parent: "main", At: "q19"}
	for n := range 20 {
		origin, err := j.Turns.TurnOfEvent(t.Context(), fmt.Sprint("q", n))
		must(t, err)
		fork.Copies = append(fork.Copies, journal.Copy{Turn: copyOf(t, j, origin.Event), Origin: origin.ID})
	}
	must(t, j.Sessions.Fork(t.Context(), fork))
	for n := range 40 {
		accepted(t, j, fmt.Sprint("p", n), "main", "the road")
	}
	for _, c := range []struct {
		search journal.Search
		want   int
	}{
		{journal.Search{Since: middle.Accepted}, 60}, {journal.Search{Until: middle.Accepted}, 20},
		{journal.Search{Session: "fork", Since: middle.Accepted}, 0}, {journal.Search{Session: "fork", Until: middle.Accepted}, 20},
		{journal.Search{Session: "main", Since: middle.Accepted}, 60}, {journal.Search{Session: "main", Until: middle.Accepted}, 20},
	} {
		c.search.Query = "road"
		if got, _ := pages(t, j, c.search, time.Hour); len(got) != c.want {
			t.Errorf("%+v finds %d, want %d", c.search, len(got), c.want)
		}
	}
}

// TestPlacesAreNoWords: what the index has beside the text is not found as text.
func TestPlacesAreNoWords(t *testing.T) {
	j := fresh(t)
	accepted(t, j, "q", "main", "one text")
	must(t, j.Sessions.Fork(t.Context(), journal.Fork{Session: "fork", Parent: "main", At: "q", Copies: []journal.Copy{{Turn: copyOf(t, j, "q"), Origin: "turn-q"}}}))
	for _, query := range []string{"s1", "s*", "a0", "a*", "b*", "c*", "copy", "cop*", "\ue000a0", "\ue000*"} {
		found, err := j.Search.Find(t.Context(), journal.Search{Query: query})
		if protocol.ErrorCode(err) == protocol.CodeInvalidParams {
			continue // no word in it
		}
		must(t, err)
		if len(found.Hits) != 0 {
			t.Errorf("%q finds %+v", query, found.Hits)
		}
	}
	if got := found(t, j, "text", ""); got != "q" {
		t.Errorf("all: %s", got)
	}
	if got := found(t, j, "text", "fork"); got != "q-copy" {
		t.Errorf("the fork: %s", got)
	}
}
