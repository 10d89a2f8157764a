package journal_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

func TestPreferredAnswerIsShown(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	first := accepted(t, j, "q1", "main", "one")
	answered(t, j, first, "a1", "first")
	_, err := j.Turns.Retry(ctx, first.ID, "other-model", nil)
	must(t, err)
	answered(t, j, first, "a1-2", "second")
	if got := historyText(t, j, "", 0); got != "one=second" {
		t.Errorf("the last one counts: %s", got)
	}
	for _, test := range []struct {
		id   string
		not  bool
		want string
	}{{"a1", false, "one=first"}, {"a1", false, "one=first"}, {"a1-2", true, "one=first"}, {"a1", true, "one=second"}} {
		turn, err := j.Turns.Prefer(ctx, test.id, test.not)
		must(t, err)
		if got := historyText(t, j, "", 0); got != test.want || turn.RequestedModel != "other-model" {
			t.Errorf("%+v: %s, %+v", test, got, turn)
		}
	}
	_, err = j.Turns.Prefer(ctx, "q1", false)
	wantCode(t, err, protocol.CodeNotFound)

	// An attempt that fails takes nothing away.
	_, err = j.Turns.Retry(ctx, first.ID, "", nil)
	must(t, err)
	set(t, j, first.ID, protocol.TurnFailed)
	if got := historyText(t, j, "", 0); got != "one=second" {
		t.Errorf("after a failed attempt: %s", got)
	}
}

func TestQuestionInThePlaceOfAnother(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	say := func(id, instead, answer string) journal.Turn {
		event := message(id, "main", id)
		event.Instead = instead
		turn, _, err := j.Turns.Accept(ctx, event, "t-"+id)
		must(t, err)
		if answer != "" {
			answered(t, j, turn, "a-"+id, answer)
		} else {
			set(t, j, turn.ID, protocol.TurnFailed)
		}
		return turn
	}
	say("one", "", "1")
	say("two", "", "2")
	say("three", "", "3")
	edited := say("two2", "two", "2!")
	say("four", "", "4")
	failed := say("one2", "one", "")
	last := say("five", "", "5")
	for _, test := range []struct{ before, want string }{
		{edited.ID, "one=1"},
		{"t-four", "one=1 two2=2!"},
		{failed.ID, ""},
		{last.ID, "one=1 two2=2! four=4"}, // what came to nothing takes no place
		{"t-three", "one=1 two=2"},
	} {
		if got := historyText(t, j, test.before, 0); got != test.want {
			t.Errorf("before %s: %q, want %q", test.before, got, test.want)
		}
	}
	for _, instead := range []string{"nothing", "a-one"} {
		event := message("six"+instead, "main", "six")
		event.Instead = instead
		_, _, err := j.Turns.Accept(ctx, event, "t-six"+instead)
		wantCode(t, err, protocol.CodeNotFound)
	}
}

func TestSteersAreToldOnce(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	turn := accepted(t, j, "q1", "main", "one")
	for range 2 {
		must(t, j.Turns.PutSteer(ctx, journal.Steer{ID: "s1", Turn: turn.ID, Text: "shorter\n* and \"so\""}))
	}
	wantCode(t, j.Turns.PutSteer(ctx, journal.Steer{ID: "q1", Turn: turn.ID, Text: "x"}), protocol.CodeConflict)
	wantCode(t, j.Turns.PutSteer(ctx, journal.Steer{ID: "s2", Turn: "missing", Text: "x"}), protocol.CodeNotFound)
	wantCode(t, j.Turns.PutSteer(ctx, journal.Steer{ID: "s 2", Turn: turn.ID, Text: "x"}), protocol.CodeInvalidParams)
	steers, err := j.Turns.Steers(ctx, turn.ID)
	must(t, err)
	if len(steers) != 1 || steers[0].Used || steers[0].Text != "shorter\n* and \"so\"" {
		t.Fatalf("steers %+v", steers)
	}
	must(t, j.Turns.UseSteers(ctx, "s1"))
	answered(t, j, turn, "a1", "done")
	if got := historyText(t, j, "", 0); got != "one/shorter\n* and \"so\"=done" {
		t.Errorf("history %q", got)
	}
	wantCode(t, j.Turns.PutSteer(ctx, journal.Steer{ID: "s3", Turn: turn.ID, Text: "x"}), protocol.CodeConflict)
}

func TestUsageIsSummedAndUnknownIsNotZero(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j, err := journal.Open(t.Context(), path)
	must(t, err)
	ctx := t.Context()
	price := func(f float64) *float64 { return &f }
	one, two := accepted(t, j, "q1", "main", "one"), accepted(t, j, "q2", "other", "two")
	must(t, j.Usage.PutReplyUsage(ctx, journal.ReplyUsage{Turn: one.ID, Model: "big", Input: 10, Output: 1, Cost: price(0.5)}))
	must(t, j.Usage.PutReplyUsage(ctx, journal.ReplyUsage{Turn: one.ID, Model: "big", Input: 20, Output: 2}))
	must(t, j.Usage.PutReplyUsage(ctx, journal.ReplyUsage{Turn: two.ID, Model: "small", Input: 5, Output: 5, Cost: price(0)}))
	wantCode(t, j.Usage.PutReplyUsage(ctx, journal.ReplyUsage{Turn: "missing"}), protocol.CodeNotFound)
	must(t, j.Close())
	j = reopen(t, path)
	total := func(by protocol.UsageBy, session string) []protocol.Usage {
		rows, err := j.Usage.Sum(ctx, by, session, time.Time{}, 3600)
		must(t, err)
		return rows
	}
	if got := total(protocol.UsageTotal, "main"); len(got) != 1 || got[0].Input != 30 || got[0].Output != 3 || *got[0].Cost != 0.5 || got[0].Unpriced != 1 || got[0].Replies != 2 {
		t.Errorf("total %+v", got)
	}
	if got := total(protocol.UsageTotal, "other"); *got[0].Cost != 0 || got[0].Unpriced != 0 {
		t.Errorf("a price of nothing is known: %+v", got)
	}
	if got := total(protocol.UsageTotal, "nowhere"); len(got) != 0 {
		t.Errorf("nothing is %+v", got)
	}
	if got := total(protocol.UsageByTurn, ""); len(got) != 2 || got[1].What != "one" || got[1].Event != "q1" || got[0].Session != "other" {
		t.Errorf("by turn %+v", got)
	}
	if got := total(protocol.UsageByModel, ""); len(got) != 2 || got[0].Model != "big" {
		t.Errorf("by model %+v", got)
	}
	today := time.Now().UTC().Add(time.Hour).Format(time.DateOnly)
	if got := total(protocol.UsageByDay, ""); len(got) != 1 || got[0].What != today || got[0].Input != 35 {
		t.Errorf("by day %+v", got)
	}
	if got := total(protocol.UsageBySession, ""); len(got) != 2 || got[0].Session != "other" {
		t.Errorf("by session %+v", got)
	}
	if rows, err := j.Usage.Sum(ctx, protocol.UsageTotal, "", time.Now().Add(time.Hour), 0); err != nil || len(rows) != 0 {
		t.Errorf("in the future: %+v, %v", rows, err)
	}
	_, err = j.Usage.Sum(ctx, "colour", "", time.Time{}, 0)
	wantCode(t, err, protocol.CodeInvalidParams)
}

// Means and rates are those of the replies of which they are known.
func TestSpeedOfReplies(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	turn := accepted(t, j, "q1", "main", "one")
	for _, spent := range []journal.ReplyUsage{
		{Model: "big", Input: 100, Cached: 60, Output: 50, First: 1, Streamed: 50, Writing: 2},
		{Model: "big", Input: 100, Cached: 30, Output: 90, First: 3, Streamed: 10, Writing: 1},
		{Model: "big", Input: 100, Output: 1000},
	} {
		spent.Turn = turn.ID
		must(t, j.Usage.PutReplyUsage(ctx, spent))
	}
	must(t, j.Usage.PutCompletion(ctx, journal.ReplyUsage{Model: "big", Input: 1, Output: 500}))
	for _, by := range []protocol.UsageBy{protocol.UsageByTurn, protocol.UsageByModel, protocol.UsageByDay, protocol.UsageTotal} {
		rows, err := j.Usage.Sum(ctx, by, "", time.Time{}, 0)
		must(t, err)
		if len(rows) != 1 || rows[0].Cached != 90 || rows[0].First != 2 || rows[0].Rate != 20 {
			t.Errorf("by %s: %+v", by, rows)
		}
	}
}

// A completion is of no turn and no session: it is summed, and leaves no row behind that
// could be read, however many there are.
func TestCompletionsAreCountedAndNotKept(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	price := 0.25
	before := len(entries(t, j, journal.Query{}))
	for range 50 {
		must(t, j.Usage.PutCompletion(ctx, journal.ReplyUsage{Model: "small", Input: 100, Output: 10, Cost: &price}))
	}
	must(t, j.Usage.PutCompletion(ctx, journal.ReplyUsage{Model: "small", Input: 100, Output: 10}))
	must(t, j.Usage.PutCompletion(ctx, journal.ReplyUsage{Model: "big", Input: 1, Output: 1}))
	if after := len(entries(t, j, journal.Query{})); after != before {
		t.Errorf("%d rows came to the journal", after-before)
	}
	of := func(by protocol.UsageBy, session string) []protocol.Usage {
		rows, err := j.Usage.Sum(ctx, by, session, time.Time{}, 0)
		must(t, err)
		return rows
	}
	if got := of(protocol.UsageByModel, ""); len(got) != 2 || got[0].Model != "small" || got[0].Replies != 51 || got[0].Unpriced != 1 ||
		got[0].Input != 5100 || got[0].Output != 510 || got[0].Cost == nil || *got[0].Cost != 12.5 || got[1].Cost != nil || got[1].Unpriced != 1 {
		t.Errorf("by model %+v", got)
	}
	turn := accepted(t, j, "q1", "main", "one")
	must(t, j.Usage.PutReplyUsage(ctx, journal.ReplyUsage{Turn: turn.ID, Model: "small", Input: 7, Output: 1}))
	if got := of(protocol.UsageBySession, ""); len(got) != 2 || got[0].Input+got[1].Input != 5101+7 || got[0].What+got[1].What != "completions" {
		t.Errorf("by session %+v", got)
	}
	if got := of(protocol.UsageTotal, ""); len(got) != 1 || got[0].Input != 5108 || got[0].Replies != 53 {
		t.Errorf("total %+v", got)
	}
	if got := of(protocol.UsageTotal, "main"); len(got) != 1 || got[0].Input != 7 {
		t.Errorf("a conversation's %+v", got)
	}
	if got := of(protocol.UsageByTurn, ""); len(got) != 1 || got[0].Input != 7 {
		t.Errorf("by turn %+v", got)
	}
}

func TestModelOfASession(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	is := func(session, want string) {
		t.Helper()
		if got, err := j.Sessions.SessionModel(ctx, session); err != nil || got != want {
			t.Errorf("%s: %q, %v", session, got, err)
		}
	}
	is("main", "")
	must(t, j.Sessions.SetSessionModel(ctx, "main", "big"))
	is("main", "big")
	accepted(t, j, "q1", "main", "one")
	is("main", "big")
	must(t, j.Sessions.SetSessionModel(ctx, "main", ""))
	is("main", "")
	wantCode(t, j.Sessions.SetSessionModel(ctx, "../x", "big"), protocol.CodeInvalidParams)
}

// A journal of the first schema is taken over: its whole answers count, and what
// was spent is known.
func TestFirstSchemaIsTakenOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	script, err := journal.Schemas().ReadFile("schema/1.sql")
	must(t, err)
	makeDatabase(t, path, string(script)+fmt.Sprintf("PRAGMA application_id = %d;", journal.ApplicationID)+`
		PRAGMA user_version = 1;
		INSERT INTO journal VALUES (1, 5, 'event', 'main', 't1', 'q1', '{"sensor":"chat-message","level":1,"text":"one"}');
		INSERT INTO session VALUES ('main', 1, 5);
		INSERT INTO turn (seq, id, session, event, queue, state, attempt, model, input, output, accepted, started, finished)
			VALUES (1, 't1', 'main', 'q1', 1, 'answered', 1, 'old', 7, 3, 5, 6, 7);
		INSERT INTO journal VALUES (2, 6, 'act', 'main', 't1', 'a1', '{"kind":"answer","raw":"yes"}');
		INSERT INTO act VALUES (2, 'a1', 'main', 't1', 'answer', 1);`)
	j := reopen(t, path)
	if got := historyText(t, j, "", 0); got != "one=yes" {
		t.Errorf("history %q", got)
	}
	rows, err := j.Usage.Sum(t.Context(), protocol.UsageTotal, "main", time.Time{}, 0)
	must(t, err)
	if len(rows) != 1 || rows[0].Input != 7 || rows[0].Cost != nil || rows[0].Unpriced != 1 {
		t.Errorf("usage %+v", rows)
	}
}
