package journal_test

import (
	"fmt"
	"path/filepath"
	"reflect"
	"sync"
	"sync/atomic"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

func asking(id string, turn journal.Turn, hash string) protocol.Ask {
	return protocol.Ask{ID: id, Sort: protocol.AskApproval, Session: turn.Session, Turn: turn.ID, Event: turn.Event,
		PendingAction: protocol.PendingAction{Action: `(:type :request)`, Hash: hash, Reason: "it writes a file", Always: true}}
}

func TestApprovalIsDecidedOnce(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	turn := accepted(t, j, "q1", "main", "text")
	must(t, j.Asks.PutAsk(ctx, asking("p1", turn, "hash")))
	wantCode(t, j.Asks.PutAsk(ctx, asking("p1", turn, "hash")), protocol.CodeConflict)
	wantCode(t, j.Asks.PutAsk(ctx, asking("p2", journal.Turn{ID: "nowhere", Session: "main"}, "hash")), protocol.CodeNotFound)
	wantCode(t, j.Asks.PutAsk(ctx, asking("p2", turn, "")), protocol.CodeInvalidParams)

	for _, test := range []struct {
		id, edited string
		decision   protocol.Decision
		code       protocol.Code
	}{
		{"p2", "", protocol.AllowOnce, protocol.CodeNotFound},
		{"p1", "", "perhaps", protocol.CodeInvalidParams},
		{"p1", "", "", protocol.CodeInvalidParams},
		{"p1", "(:type :request)", protocol.AllowAlways, protocol.CodeInvalidParams},
	} {
		_, err := j.Asks.Decide(ctx, test.id, protocol.AskOutcome{Decision: test.decision, Edited: test.edited, Client: "cli"})
		wantCode(t, err, test.code)
	}

	var group sync.WaitGroup
	var taken atomic.Int32
	for range 8 {
		group.Go(func() {
			if _, err := j.Asks.Decide(ctx, "p1", protocol.AskOutcome{Decision: protocol.Deny, Comment: "too dangerous", Client: "cli"}); err == nil {
				taken.Add(1)
			} else if protocol.ErrorCode(err) != protocol.CodeConflict {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if taken.Load() != 1 {
		t.Errorf("decided %d times", taken.Load())
	}
	got, err := j.Asks.Ask(ctx, "p1")
	if err != nil || got.Decision != protocol.Deny || got.Comment != "too dangerous" || got.Waits() || got.Action != `(:type :request)` || got.Opened == "" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestApprovalSurvivesAndEndsWithItsTurn(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	first, second := accepted(t, j, "q1", "main", "text"), accepted(t, j, "q2", "main", "text")
	must(t, j.Asks.PutAsk(ctx, asking("p1", first, "h1")))
	must(t, j.Asks.PutAsk(ctx, asking("p2", second, "h2")))
	must(t, j.Asks.PutAsk(ctx, asking("p3", first, "h3")))
	must(t, j.Close())
	j = reopen(t, j.Path())
	wantOpen(t, j, "p1", "p2", "p3")

	closed, err := j.Asks.CloseAsks(ctx, first.ID)
	if err != nil || len(closed) != 2 || closed[0].ID != "p1" || closed[1].ID != "p3" {
		t.Errorf("closed: %+v, %v", closed, err)
	}
	wantOpen(t, j, "p2")
	_, err = j.Asks.Decide(ctx, "p1", protocol.AskOutcome{Decision: protocol.AllowOnce, Client: "cli"})
	wantCode(t, err, protocol.CodeConflict)

	set(t, j, second.ID, protocol.TurnCancelled) // without closing them first
	wantOpen(t, j)
	wantCode(t, j.Asks.PutAsk(ctx, asking("p4", second, "h4")), protocol.CodeNotFound)
	checkWhole(t, j)
}

func wantOpen(t *testing.T, j *journal.Journal, want ...string) {
	t.Helper()
	open, err := j.Asks.OpenAsks(t.Context())
	must(t, err)
	got := []string{}
	for _, approval := range open {
		got = append(got, approval.ID)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("open %v, want %v", got, want)
	}
}

func TestAllowed(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	turn := accepted(t, j, "q1", "main", "text")
	decide := func(hash string, decision protocol.Decision, edited string) {
		id := fmt.Sprintf("p-%s-%s-%d", hash, decision, len(edited))
		must(t, j.Asks.PutAsk(ctx, asking(id, turn, hash)))
		_, err := j.Asks.Decide(ctx, id, protocol.AskOutcome{Decision: decision, Edited: edited, Client: "cli"})
		must(t, err)
	}
	decide("once", protocol.AllowOnce, "")
	decide("edited", protocol.AllowOnce, "(:type :log)")
	decide("denied", protocol.Deny, "")
	decide("turn", protocol.AllowTurn, "")
	decide("session", protocol.AllowTurn, "")
	decide("session", protocol.AllowSession, "")
	decide("always", protocol.AllowSession, "")
	decide("always", protocol.AllowAlways, "")
	decide("always", protocol.Deny, "")
	must(t, j.Asks.PutAsk(ctx, asking("waits", turn, "waits")))

	for _, test := range []struct {
		hash, turn, session string
		want                protocol.Decision
	}{
		{"once", turn.ID, "main", ""},
		{"edited", turn.ID, "main", ""},
		{"denied", turn.ID, "main", ""},
		{"waits", turn.ID, "main", ""},
		{"turn", turn.ID, "main", protocol.AllowTurn},
		{"turn", "other", "main", ""},
		{"session", turn.ID, "main", protocol.AllowSession},
		{"session", "other", "main", protocol.AllowSession},
		{"session", "other", "other", ""},
		{"always", "other", "main", protocol.AllowSession},
		{"always", "other", "other", ""},
		{"nothing", turn.ID, "main", ""},
	} {
		got, ok, err := j.Asks.Allowed(ctx, test.hash, test.turn, test.session)
		if err != nil || got != test.want || ok != (test.want != "") {
			t.Errorf("%s in turn %s of %s: %q, %v, %v", test.hash, test.turn, test.session, got, ok, err)
		}
	}
}

func questioning(id string, turn journal.Turn) protocol.Ask {
	return protocol.Ask{ID: id, Sort: protocol.AskQuestion, Session: turn.Session, Turn: turn.ID, Event: turn.Event, Form: &protocol.QuestionForm{
		Title: "Printing", Fields: []protocol.FormField{{Name: "copies", Kind: protocol.FieldNumber, Question: "How many?"}}},
		Act: "act-" + id, PendingAction: protocol.PendingAction{Action: "(:type :request)"},
	}
}

func TestQuestionIsAnsweredOnce(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	turn := accepted(t, j, "q1", "main", "text")
	must(t, j.Asks.PutAsk(ctx, questioning("f1", turn)))
	wantCode(t, j.Asks.PutAsk(ctx, questioning("f1", turn)), protocol.CodeConflict)
	wantCode(t, j.Asks.PutAsk(ctx, questioning("f2", journal.Turn{ID: "nowhere", Session: "main"})), protocol.CodeNotFound)
	wantCode(t, j.Asks.PutAsk(ctx, protocol.Ask{ID: "f2", Sort: protocol.AskQuestion, Turn: turn.ID, Session: "main"}), protocol.CodeInvalidParams)
	_, err := j.Asks.Decide(ctx, "f2", protocol.AskOutcome{Decision: protocol.Answered, Client: "cli"})
	wantCode(t, err, protocol.CodeNotFound)

	answer := protocol.AskOutcome{Decision: protocol.Answered, Client: "cli", Answers: []protocol.FieldAnswer{{Name: "copies", Values: []string{"3"}}, {Name: "token"}}}
	var group sync.WaitGroup
	var taken atomic.Int32
	for range 8 {
		group.Go(func() {
			if _, err := j.Asks.Decide(ctx, "f1", answer); err == nil {
				taken.Add(1)
			} else if protocol.ErrorCode(err) != protocol.CodeConflict {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if taken.Load() != 1 {
		t.Errorf("answered %d times", taken.Load())
	}
	got, err := j.Asks.Ask(ctx, "f1")
	if err != nil || got.Decision != protocol.Answered || got.Client != "cli" || got.Act != "act-f1" || got.Action != "(:type :request)" || got.Opened == "" ||
		len(got.Answers) != 2 || got.Answers[0].Values[0] != "3" || got.Form.Title != "Printing" {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestQuestionSurvivesAndEndsWithItsTurn(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	path := j.Path()
	turn := accepted(t, j, "q1", "main", "text")
	set(t, j, turn.ID, protocol.TurnWaiting)
	must(t, j.Asks.PutAsk(ctx, questioning("f1", turn)))
	must(t, j.Asks.PutAsk(ctx, questioning("f2", turn)))
	must(t, j.Close())
	j = reopen(t, path)
	open, err := j.Asks.OpenAsks(ctx)
	must(t, err)
	if len(open) != 2 || open[0].ID != "f1" || open[0].CheckWaits() != nil {
		t.Fatalf("%+v waits", open)
	}
	// Declining is a decision, also without the name of a client.
	declined, err := j.Asks.Decide(ctx, "f1", protocol.AskOutcome{Decision: protocol.Declined, Comment: "no"})
	must(t, err)
	if declined.Decision != protocol.Declined || declined.Waits() {
		t.Errorf("declined is %s", declined.Decision)
	}
	set(t, j, turn.ID, protocol.TurnCancelled)
	withdrawn, err := j.Asks.Ask(ctx, "f2")
	must(t, err)
	if withdrawn.Decision != "" || withdrawn.Waits() {
		t.Errorf("withdrawn is %q", withdrawn.Decision)
	}
	_, err = j.Asks.Decide(ctx, "f2", protocol.AskOutcome{Decision: protocol.Answered, Client: "emacs"})
	wantCode(t, err, protocol.CodeConflict)
	if open, err := j.Asks.OpenAsks(ctx); err != nil || len(open) != 0 {
		t.Errorf("%+v waits, %v", open, err)
	}
	if again, err := j.Asks.CloseAsks(ctx, turn.ID); err != nil || len(again) != 0 {
		t.Errorf("withdrawn again: %+v, %v", again, err)
	}
	checkWhole(t, j)
}

// TestReadingIsDecidedOnce: a decision on an approval that offered the read-only set of a project is kept for
// the project, also after the journal was opened again. An approval that ends with its turn is none.
func TestReadingIsDecidedOnce(t *testing.T) {
	path, ctx := filepath.Join(t.TempDir(), "journal.db"), t.Context()
	j := reopen(t, path)
	turn := accepted(t, j, "q1", "main", "text")
	decided := func(directory string, want bool) {
		t.Helper()
		if got, err := j.Asks.ReadingDecided(ctx, directory); err != nil || got != want {
			t.Errorf("%s: %v, %v", directory, got, err)
		}
	}
	for id, decision := range map[string]protocol.Decision{"/a": protocol.Deny, "/b": protocol.AllowReading, "/ends": "", "/none": protocol.AllowOnce} {
		ask := asking(id[1:], turn, "hash")
		if id != "/none" {
			ask.Reading = &protocol.ReadingOffer{Directory: id, Rows: []protocol.OfferedRow{{Rule: "reads", Matches: id + "/**"}}}
		}
		must(t, j.Asks.PutAsk(ctx, ask))
		decided(id, false)
		if decision != "" {
			_, err := j.Asks.Decide(ctx, ask.ID, protocol.AskOutcome{Decision: decision})
			must(t, err)
		}
	}
	must(t, j.Asks.PutAsk(ctx, asking("plain", turn, "hash")))
	_, err := j.Asks.Decide(ctx, "plain", protocol.AskOutcome{Decision: protocol.AllowReading})
	wantCode(t, err, protocol.CodeInvalidParams)
	_, err = j.Asks.CloseAsks(ctx, turn.ID)
	must(t, err)
	must(t, j.Close())
	j = reopen(t, path)
	for directory, want := range map[string]bool{"/a": true, "/b": true, "/ends": false, "/none": false} {
		decided(directory, want)
	}
}

// backToFormerAsks makes the tables of asks those of the schemas 3 to 12, without their rows.
const backToFormerAsks = `DROP TRIGGER journal_kept; CREATE TRIGGER journal_kept BEFORE DELETE ON journal BEGIN SELECT RAISE(ABORT, 'a row of the journal is never removed'); END; DROP TABLE archiving; DROP TABLE identity; DROP TABLE incident; DROP TABLE reading_decided; DROP TABLE always_before; DROP INDEX journal_rules;
	DROP TABLE ask;
	CREATE TABLE approval (seq INTEGER PRIMARY KEY REFERENCES journal, id TEXT NOT NULL UNIQUE, session TEXT NOT NULL, turn TEXT NOT NULL, hash TEXT NOT NULL,
		decision TEXT NOT NULL DEFAULT '', comment TEXT NOT NULL DEFAULT '', edited TEXT NOT NULL DEFAULT '', closed INTEGER NOT NULL DEFAULT 0, client TEXT NOT NULL DEFAULT '') STRICT;
	CREATE INDEX approval_turn ON approval (turn);
	CREATE TABLE question (seq INTEGER PRIMARY KEY REFERENCES journal, id TEXT NOT NULL UNIQUE, session TEXT NOT NULL, turn TEXT NOT NULL,
		answer TEXT NOT NULL DEFAULT '', client TEXT NOT NULL DEFAULT '', closed INTEGER NOT NULL DEFAULT 0) STRICT`

// TestOldAsksStay: a journal of schema 12 keeps its approvals and questions, with what was decided,
// and what waited in it still waits.
func TestOldAsksStay(t *testing.T) {
	ctx := t.Context()
	j := reopen(t, olderJournal(t, 12, "asks-12.sql"))
	wantOpen(t, j, "p-waits", "q-waits")
	if n, err := j.Asks.Waiting(ctx); err != nil || n != 2 {
		t.Errorf("%d wait, %v", n, err)
	}
	for _, test := range []struct {
		id      string
		sort    protocol.AskSort
		outcome protocol.AskOutcome
		waits   bool
	}{
		{"p-waits", protocol.AskApproval, protocol.AskOutcome{}, true},
		{"p-edited", protocol.AskApproval, protocol.AskOutcome{Decision: protocol.AllowOnce, Comment: "this way", Edited: "(:type :log)", Client: "cli"}, false},
		{"p-always", protocol.AskApproval, protocol.AskOutcome{Decision: protocol.AllowAlways, Client: "emacs"}, false},
		{"p-ended", protocol.AskApproval, protocol.AskOutcome{}, false},
		{"q-waits", protocol.AskQuestion, protocol.AskOutcome{}, true},
		{"q-answered", protocol.AskQuestion, protocol.AskOutcome{Decision: protocol.Answered, Client: "emacs", Answers: []protocol.FieldAnswer{{Name: "copies", Values: []string{"3"}}, {Name: "pin"}}}, false},
		{"q-declined", protocol.AskQuestion, protocol.AskOutcome{Decision: protocol.Declined, Comment: "not now", Client: "cli"}, false},
		{"q-ended", protocol.AskQuestion, protocol.AskOutcome{}, false},
	} {
		ask, err := j.Asks.Ask(ctx, test.id)
		must(t, err)
		if ask.Sort != test.sort || ask.Waits() != test.waits || !reflect.DeepEqual(ask.AskOutcome, test.outcome) || ask.Session != "renamed" || ask.Opened != "2026-11-01T10:00:00Z" {
			t.Errorf("%s is %+v", test.id, ask)
		}
		if ask.Sort == protocol.AskQuestion && (ask.Form == nil || ask.Form.Title != "Printing" || ask.Act != "act-1" || ask.Action != "(:type :request)") ||
			ask.Sort == protocol.AskApproval && (ask.Summary != "Do it" || ask.Reason != "it writes" || ask.Action != "(:type :request)") {
			t.Errorf("%s asks %+v", test.id, ask)
		}
	}
	if _, ok, err := j.Asks.Allowed(ctx, "h-always", "another", "another"); err != nil || ok {
		t.Errorf("always counts without a rule: %v, %v", ok, err)
	}
	former, err := j.Rules.FormerAlways(ctx)
	must(t, err)
	if len(former) != 1 || former[0].ID != "p-always" || former[0].Hash != "h-always" {
		t.Errorf("formerly always: %+v", former)
	}
	must(t, j.Rules.ForgetFormer(ctx, "h-always"))
	wantCode(t, j.Rules.ForgetFormer(ctx, "h-always"), protocol.CodeNotFound)
	if former, err = j.Rules.FormerAlways(ctx); err != nil || len(former) != 0 {
		t.Errorf("forgotten: %+v, %v", former, err)
	}
	rows, err := j.Records.Entries(ctx, journal.Query{Kinds: []journal.Kind{journal.KindDecision, journal.KindAnswer}})
	must(t, err)
	for _, row := range rows {
		outcome, err := journal.ReadOutcome(row)
		must(t, err)
		if ask, err := j.Asks.Ask(ctx, row.ID); err != nil || !reflect.DeepEqual(outcome, ask.AskOutcome) {
			t.Errorf("the row of %s says %+v, the table %+v (%v)", row.ID, outcome, ask.AskOutcome, err)
		}
	}
	if len(rows) != 6 {
		t.Errorf("%d rows say how an ask was closed", len(rows))
	}
	_, err = j.Asks.Decide(ctx, "p-waits", protocol.AskOutcome{Decision: protocol.Deny, Client: "cli"})
	must(t, err)
	_, err = j.Asks.Decide(ctx, "q-answered", protocol.AskOutcome{Decision: protocol.Declined, Client: "cli"})
	wantCode(t, err, protocol.CodeConflict)
	wantOpen(t, j, "q-waits")
	checkWhole(t, j)
}
