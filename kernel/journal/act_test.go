package journal_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

func TestActAndItsReceipts(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	turn := accepted(t, j, "q1", "main", "text")
	act := journal.Act{
		ID: "a1", Session: "main", Turn: turn.ID, Event: "q1", Kind: journal.ActAnswer, Action: `(:type :response :text "x")`,
		Raw: "x < y & z", Text: "** x\n", Plain: "x\n", Time: time.Date(2026, 11, 21, 1, 2, 3, 4000, time.UTC), Final: true,
	}
	must(t, j.Acts.PutAct(ctx, act))
	wantCode(t, j.Acts.PutAct(ctx, act), protocol.CodeConflict)
	for _, test := range []struct {
		id, session, turn, kind string
		code                    protocol.Code
	}{
		{"q1", "main", turn.ID, journal.ActAnswer, protocol.CodeConflict}, // a question's id
		{"a2", "main", "nowhere", journal.ActAnswer, protocol.CodeNotFound},
		{"a2", "other", turn.ID, journal.ActAnswer, protocol.CodeNotFound},
		{"a2", "main", turn.ID, "dance", protocol.CodeInvalidParams},
		{"not an id", "main", turn.ID, journal.ActAnswer, protocol.CodeInvalidParams},
	} {
		wantCode(t, j.Acts.PutAct(ctx, journal.Act{ID: test.id, Session: test.session, Turn: test.turn, Kind: test.kind}), test.code)
	}
	got, err := j.Acts.Act(ctx, "a1")
	if err != nil || got != act {
		t.Errorf("%v\n got %+v\nwant %+v", err, got, act)
	}

	must(t, j.Acts.PutReceipt(ctx, "a1", journal.Receipt{Client: "terminal", Receipt: protocol.Receipt{Done: true}}))
	must(t, j.Acts.PutReceipt(ctx, "a1", journal.Receipt{Client: "emacs", Failure: "the buffer is read-only"}))
	if got, _ := j.Acts.Act(ctx, "a1"); got.Saved {
		t.Error("saved, and no receipt said so")
	}
	must(t, j.Acts.PutReceipt(ctx, "a1", journal.Receipt{Client: "emacs", Receipt: protocol.Receipt{Buffer: "*org-agent-chat*", Saved: true}}))
	if got, _ := j.Acts.Act(ctx, "a1"); !got.Saved {
		t.Error("not saved, and a receipt said so")
	}
	wantCode(t, j.Acts.PutReceipt(ctx, "nothing", journal.Receipt{Client: "emacs"}), protocol.CodeNotFound)
	wantCode(t, j.Acts.MarkSaved(ctx, "nothing"), protocol.CodeNotFound)
	rows := entries(t, j, journal.Query{ID: "a1", Kinds: []journal.Kind{journal.KindReceipt}})
	if len(rows) != 3 || string(rows[1].Data) != `{"client":"emacs","failure":"the buffer is read-only"}` {
		t.Errorf("receipts: %+v", rows)
	}

	must(t, j.Acts.PutAct(ctx, journal.Act{ID: "a2", Session: "main", Turn: turn.ID, Kind: journal.ActNotice, Text: "** stopped\n"}))
	must(t, j.Acts.MarkSaved(ctx, "a2"))
	acts, err := j.Acts.ActsOf(ctx, turn.ID, "nowhere")
	if err != nil || len(acts) != 2 || acts[0].ID != "a1" || acts[1].ID != "a2" || !acts[1].Saved {
		t.Errorf("acts: %+v, %v", acts, err)
	}
	if acts, err := j.Acts.ActsOf(ctx); err != nil || len(acts) != 0 {
		t.Errorf("acts of no turn: %+v, %v", acts, err)
	}
}

func TestQuestionSaved(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	accepted(t, j, "q1", "main", "text")
	for want, mark := range []bool{false, true, true} {
		if mark {
			must(t, j.Turns.MarkQuestionSaved(ctx, "q1"))
		}
		if saved, err := j.Turns.QuestionSaved(ctx, "q1"); err != nil || saved != (want > 0) {
			t.Errorf("saved %v, %v", saved, err)
		}
	}
	if rows := entries(t, j, journal.Query{ID: "q1", Kinds: []journal.Kind{journal.KindReceipt}}); len(rows) != 1 {
		t.Errorf("marked twice, %d rows", len(rows))
	}
	_, err := j.Turns.QuestionSaved(ctx, "q2")
	wantCode(t, err, protocol.CodeNotFound)
	wantCode(t, j.Turns.MarkQuestionSaved(ctx, "q2"), protocol.CodeNotFound)
}

func TestHistory(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	first := accepted(t, j, "q1", "main", "one")
	answered(t, j, first, "a1", "first answer")
	failed := accepted(t, j, "q2", "main", "two")
	set(t, j, failed.ID, protocol.TurnFailed)
	answered(t, j, accepted(t, j, "q3", "other", "elsewhere"), "a3", "not here")
	third := accepted(t, j, "q4", "main", "three")
	answered(t, j, third, "a4", "third answer")
	running := accepted(t, j, "q5", "main", "four")
	answered(t, j, accepted(t, j, "q6", "main", "five"), "a6", "later")

	_, err := j.Turns.Retry(ctx, first.ID, "", nil)
	must(t, err)
	if got := historyText(t, j, running.ID, 0); got != "one=first answer three=third answer" {
		t.Errorf("while the first is retried: %s", got)
	}
	answered(t, j, first, "a1-2", "a better answer")
	for _, test := range []struct {
		before string
		limit  int
		want   string
	}{
		{running.ID, 0, "one=a better answer three=third answer"},
		{running.ID, 1, "three=third answer"},
		{third.ID, 5, "one=a better answer"},
		{first.ID, 5, ""},
		{"", 2, "three=third answer five=later"},
	} {
		if got := historyText(t, j, test.before, test.limit); got != test.want {
			t.Errorf("before %q, limit %d: %s", test.before, test.limit, got)
		}
	}
	_, err = j.Transcripts.History(ctx, "other", running.ID, 0)
	wantCode(t, err, protocol.CodeNotFound)
}

func historyText(t *testing.T, j *journal.Journal, before string, limit int) string {
	t.Helper()
	history, err := j.Transcripts.History(t.Context(), "main", before, limit)
	must(t, err)
	var parts []string
	for _, exchange := range history {
		parts = append(parts, strings.Join(append([]string{exchange.Question}, exchange.Steers...), "/")+"="+exchange.Answer)
	}
	return strings.Join(parts, " ")
}

func TestHistoryKeepsTheLatestOfVeryMuch(t *testing.T) {
	j := fresh(t)
	long := strings.Repeat("x", journal.HistoryBytes/4-100)
	for i := range 6 {
		answered(t, j, accepted(t, j, fmt.Sprint("q", i), "main", "question"), fmt.Sprint("a", i), long)
	}
	history, err := j.Transcripts.History(t.Context(), "main", "", 0)
	must(t, err)
	if len(history) != 4 || history[3].Turn != "turn-q5" {
		t.Errorf("%d exchanges, the last of %s", len(history), history[len(history)-1].Turn)
	}
}

func TestKnownAndSessions(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	first := accepted(t, j, "q1", "main", "text")
	answered(t, j, first, "a1", "answer")
	accepted(t, j, "q2", "main", "text")
	answered(t, j, accepted(t, j, "q3", "other", "text"), "a3", "answer")

	ask := []string{"q1", "a1", "q3", "a3", "never", "", "it's \x00 \"odd\""}
	for i := range 20000 {
		ask = append(ask, fmt.Sprint("unknown-", i))
	}
	known, err := j.Sessions.KnownIDs(ctx, "main", ask)
	if want := map[string]bool{"q1": true, "a1": true}; err != nil || !reflect.DeepEqual(known, want) {
		t.Errorf("known: %v, %v", known, err)
	}
	if known, err := j.Sessions.KnownIDs(ctx, "main", nil); err != nil || len(known) != 0 {
		t.Errorf("none of none: %v, %v", known, err)
	}

	sessions, err := j.Sessions.List(ctx)
	must(t, err)
	if len(sessions) != 2 || sessions[0].Name != "other" || sessions[0].State != protocol.TurnAnswered ||
		sessions[1].Turns != 2 || sessions[1].State != protocol.TurnQueued {
		t.Errorf("sessions: %+v", sessions)
	}
	if _, err := time.Parse(time.RFC3339, sessions[0].Updated); err != nil {
		t.Error(err)
	}
}
