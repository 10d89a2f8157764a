package journal_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// kinds are the kinds of the rows behind one, on a line.
func kinds(t testing.TB, j *journal.Journal, after int64) string {
	t.Helper()
	var all []string
	for _, e := range entries(t, j, journal.Query{After: after}) {
		all = append(all, string(e.Kind)+e.ID)
	}
	return strings.Join(all, " ")
}

// waiting is a fresh journal in which what may wait does, however slow the machine is.
func waiting(t *testing.T) *journal.Journal {
	j := fresh(t)
	j.SetDeferredTime(time.Hour)
	return j
}

// TestAppendDeferred: rows that may wait stand before the change that came after them, in the same
// transaction, in their order; a change that fails takes none of them along.
func TestAppendDeferred(t *testing.T) {
	j := waiting(t)
	turn := accepted(t, j, "q", "main", "a question")
	for i := range 3 {
		must(t, j.Records.AppendDeferred(t.Context(), journal.Entry{Kind: journal.KindProposal, Session: "main", Turn: turn.ID, ID: fmt.Sprint(i)}))
	}
	if got := kinds(t, j, turn.Seq); got != "" {
		t.Errorf("what may wait was written: %s", got)
	}
	wantCode(t, j.Acts.PutAct(t.Context(), journal.Act{ID: "q", Session: "main", Turn: turn.ID, Kind: journal.ActAnswer}), protocol.CodeConflict)
	if got := kinds(t, j, turn.Seq); got != "" {
		t.Errorf("a change that failed wrote %s", got)
	}
	must(t, j.Records.AppendDeferred(t.Context(), journal.Entry{Kind: journal.KindVerdict, ID: "3"}))
	must(t, j.Acts.PutAct(t.Context(), journal.Act{ID: "a", Session: "main", Turn: turn.ID, Kind: journal.ActAnswer}))
	set(t, j, turn.ID, protocol.TurnAnswered)
	if got := kinds(t, j, turn.Seq); got != "proposal0 proposal1 proposal2 verdict3 acta turn" {
		t.Errorf("written was %s", got)
	}
	for _, bad := range []journal.Entry{{}, {Kind: journal.KindLog, Data: []byte("{")}} {
		wantCode(t, j.Records.AppendDeferred(t.Context(), bad), protocol.CodeInvalidParams)
	}
}

// TestDeferredByTime: what no change takes along is written by itself.
func TestDeferredByTime(t *testing.T) {
	j := fresh(t)
	for round := range 2 {
		must(t, j.Records.AppendDeferred(t.Context(), journal.Entry{Kind: journal.KindLog, ID: fmt.Sprint(round)}))
		want := []string{"log0", "log0 log1"}[round]
		for deadline := time.Now().Add(time.Minute); kinds(t, j, 0) != want; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("written was %q, not %q", kinds(t, j, 0), want)
			}
		}
	}
}

// TestDeferredChanges: what a reply took and an action that changes nothing may wait as rows may, and
// what cannot be kept of them keeps nothing else from being written.
func TestDeferredChanges(t *testing.T) {
	j, ctx := waiting(t), t.Context()
	turn := accepted(t, j, "q", "main", "a question")
	action := func(id, turn string) journal.Act {
		return journal.Act{ID: id, Session: "main", Turn: turn, Kind: journal.ActAction, Action: "(:type :x)"}
	}
	must(t, j.Usage.PutReplyUsageDeferred(ctx, journal.ReplyUsage{Turn: turn.ID, Model: "m", Input: 10, Output: 2}))
	must(t, j.Usage.PutReplyUsageDeferred(ctx, journal.ReplyUsage{Turn: "missing", Model: "m", Input: 1}))
	must(t, j.Acts.PutActDeferred(ctx, action("a", turn.ID)))
	must(t, j.Acts.PutActDeferred(ctx, action("a", turn.ID)))   // taken
	must(t, j.Acts.PutActDeferred(ctx, action("q", turn.ID)))   // a question's
	must(t, j.Acts.PutActDeferred(ctx, action("b", "missing"))) // of no turn
	wantCode(t, j.Acts.PutActDeferred(ctx, action("not an id", turn.ID)), protocol.CodeInvalidParams)
	set(t, j, turn.ID, protocol.TurnAnswered)
	if got := kinds(t, j, turn.Seq); got != "usage acta turn" {
		t.Errorf("written was %s", got)
	}
	used, err := j.Usage.Sum(ctx, protocol.UsageTotal, "main", time.Time{}, 0)
	must(t, err)
	if len(used) != 1 || used[0].Input != 10 || used[0].Replies != 1 {
		t.Errorf("counted was %+v", used)
	}
	if got, err := j.Acts.Act(ctx, "a"); err != nil || got.Action != "(:type :x)" || got.Time.IsZero() {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestDeferredAtClose: what still waits when the journal is closed is written, and behind that
// nothing is taken that could not be.
func TestDeferredAtClose(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j, err := journal.Open(t.Context(), path)
	must(t, err)
	must(t, j.Records.AppendDeferred(t.Context(), journal.Entry{Kind: journal.KindLog, ID: "last"}))
	must(t, j.Close())
	if err := j.Records.AppendDeferred(t.Context(), journal.Entry{Kind: journal.KindLog}); err == nil {
		t.Error("a closed journal took a row")
	}
	if got := kinds(t, reopen(t, path), 0); got != "loglast" {
		t.Errorf("written was %s", got)
	}
	reader, err := journal.OpenToRead(t.Context(), path)
	must(t, err)
	if err := reader.Records.AppendDeferred(t.Context(), journal.Entry{Kind: journal.KindLog}); !errors.Is(err, journal.ErrReadOnly) {
		t.Errorf("a journal to be read took a row: %v", err)
	}
	must(t, reader.Close())
}

// TestDeferredIsBounded: while nothing can wait any more rows are written at once, and none is lost.
func TestDeferredIsBounded(t *testing.T) {
	j := waiting(t)
	data := []byte(`{"text":"` + strings.Repeat("x", journal.DeferredBytes/4) + `"}`)
	for i := range 5 {
		must(t, j.Records.AppendDeferred(t.Context(), journal.Entry{Kind: journal.KindLog, ID: fmt.Sprint(i), Data: data}))
		if j.DeferredSize() > journal.DeferredBytes {
			t.Fatalf("%d bytes wait", j.DeferredSize())
		}
	}
	var all string
	for after := int64(0); ; {
		found := entries(t, j, journal.Query{After: after})
		if len(found) == 0 {
			break
		}
		for _, e := range found {
			all, after = all+e.ID, e.Seq
		}
	}
	if !strings.HasPrefix("01234", all) || len(all) < 4 {
		t.Errorf("written were %s", all)
	}
}

// TestDeferredTogether: rows of many turns at once are all written once, each turn's in its order.
func TestDeferredTogether(t *testing.T) {
	j := fresh(t)
	const turns, rows = 8, 25
	var work sync.WaitGroup
	for n := range turns {
		work.Go(func() {
			for i := range rows {
				if err := j.Records.AppendDeferred(t.Context(), journal.Entry{Kind: journal.KindProposal, Turn: fmt.Sprint("t", n), ID: fmt.Sprint(i)}); err != nil {
					t.Error(err)
				}
				switch i % 5 {
				case 2:
					_ = j.Acts.PutReceipt(t.Context(), "unknown", journal.Receipt{}) // which fails
				case 4:
					if _, err := j.Records.Append(t.Context(), journal.Entry{Kind: journal.KindLog}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	work.Wait()
	for n := range turns {
		found := entries(t, j, journal.Query{Turn: fmt.Sprint("t", n)})
		for i, e := range found {
			if e.ID != fmt.Sprint(i) {
				t.Fatalf("row %d of the turn %d is %s", i, n, e.ID)
			}
		}
		if len(found) != rows {
			t.Errorf("the turn %d has %d rows", n, len(found))
		}
	}
}
