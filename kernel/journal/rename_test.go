package journal_test

import (
	"slices"
	"strings"
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

func TestRename(t *testing.T) {
	j := fresh(t)
	said(t, j, "first", "question", "answer", "unanswered")
	said(t, j, "other", "else", "there")
	_, err := j.Sessions.Rename(t.Context(), "first", "other")
	wantCode(t, err, protocol.CodeConflict)
	_, err = j.Sessions.Rename(t.Context(), "first", "../etc")
	wantCode(t, err, protocol.CodeInvalidParams)

	must(t, j.Sessions.SetSessionModel(t.Context(), "first", "large"))
	must(t, j.Sessions.SetSessionPreset(t.Context(), "first", "concise"))
	before := entries(t, j, journal.Query{Session: "first"})
	renamed, err := j.Sessions.Rename(t.Context(), "first", "second")
	must(t, err)
	model, err := j.Sessions.SessionModel(t.Context(), "second")
	must(t, err)
	preset, err := j.Sessions.SessionPreset(t.Context(), "second")
	must(t, err)
	if model != "large" || preset != "concise" {
		t.Errorf("the model is %q and the preset %q", model, preset)
	}
	pending, err := j.Sessions.PendingMoves(t.Context())
	must(t, err)
	if len(pending) != 1 || pending[0] != renamed {
		t.Errorf("pending %v, want %v", pending, renamed)
	}
	must(t, j.Sessions.MarkMoved(t.Context(), renamed.Seq))
	if pending, err = j.Sessions.PendingMoves(t.Context()); err != nil || len(pending) > 0 {
		t.Errorf("pending %v, %v", pending, err)
	}

	turns, err := j.Turns.List(t.Context(), "second", 0, 0)
	must(t, err)
	if ids(turns) != "[turn-first-0 turn-first-1]" || turns[0].Question.Session != "second" {
		t.Errorf("the turns are %s of %s", ids(turns), turns[0].Question.Session)
	}
	history, err := j.Transcripts.History(t.Context(), "second", "", 0)
	must(t, err)
	if len(history) != 1 || found(t, j, "answer", "second") != "a-first-0" {
		t.Errorf("history %v, found %s", history, found(t, j, "answer", "second"))
	}
	if has, err := j.Sessions.HasSession(t.Context(), "first"); has || err != nil {
		t.Errorf("the former name is a session: %v, %v", has, err)
	}
	// The same message again, sent by who has not heard of it.
	if _, again, err := j.Turns.Accept(t.Context(), message("first-1", "first", "unanswered"), "new"); again || err != nil {
		t.Errorf("taken again: %v, %v", again, err)
	}
	if now := len(entries(t, j, journal.Query{Session: "second"})); now != len(before)+1 {
		t.Errorf("%d rows, want those of before and the renaming, %d", now, len(before)+1)
	}
}

// TestNamesAreReused: what was said under a name stays with the session that had it then.
func TestNamesAreReused(t *testing.T) {
	j := fresh(t)
	rename := func(from, to string) {
		t.Helper()
		_, err := j.Sessions.Rename(t.Context(), from, to)
		must(t, err)
	}
	accepted(t, j, "one", "a", "1")
	rename("a", "b")
	accepted(t, j, "two", "a", "2")
	rename("b", "c")
	accepted(t, j, "three", "b", "3")
	rename("a", "b2")
	rename("c", "a")
	for session, want := range map[string]string{"a": "one", "b2": "two", "b": "three", "c": ""} {
		var got []string
		for _, e := range entries(t, j, journal.Query{Session: session, Kinds: []journal.Kind{journal.KindEvent}}) {
			got = append(got, e.ID)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("the events of %s are %v, want %s", session, got, want)
		}
	}
	for former, want := range map[string]string{"a": "b2", "b": "a", "c": "a", "never": ""} {
		if now, err := j.Sessions.NameNow(t.Context(), former); now != want || err != nil {
			t.Errorf("%s is now %q, want %q (%v)", former, now, want, err)
		}
	}
}

// TestRenameKnowsEveryTable: whoever adds a table that names sessions adds it to
// renameRows.
func TestRenameKnowsEveryTable(t *testing.T) {
	j := fresh(t)
	var names string
	must(t, j.QueryRow(t.Context(),
		"SELECT group_concat(name, ' ') FROM (SELECT DISTINCT s.name FROM sqlite_schema AS s, pragma_table_info(s.name) AS c WHERE s.type = 'table' AND c.name IN ('session', 'parent') ORDER BY 1)").Scan(&names))
	tables := strings.Fields(names)
	if known := []string{"act", "ask", "chat", "digest", "inbox", "journal", "outgoing", "session", "spawn", "turn"}; !slices.Equal(tables, known) {
		t.Errorf("sessions are named in %v, renameRows and this test know %v", tables, known)
	}
}

func TestFork(t *testing.T) {
	j := fresh(t)
	said(t, j, "parent", "first question", "first answer", "second question")
	turn, err := j.Turns.Turn(t.Context(), "turn-parent-0")
	must(t, err)
	acts, err := j.Acts.ActsOf(t.Context(), turn.ID)
	must(t, err)
	copied := journal.Copy{Turn: turn, Origin: turn.ID, Acts: acts}
	copied.Turn.ID, copied.Turn.Event, copied.Acts[0].ID = "copy", "copied-question", "copied-answer"
	fork := journal.Fork{Session: "child", Parent: "parent", At: acts[0].ID, Copies: []journal.Copy{copied}}
	must(t, j.Sessions.Fork(t.Context(), fork))

	history, err := j.Transcripts.History(t.Context(), "child", "", 0)
	must(t, err)
	if h := history[0]; len(history) != 1 || h.Turn != "copy" || h.Event != "copied-question" || h.Question != "first question" || h.Answer != "first answer" {
		t.Errorf("the history is %+v", history)
	}
	turns, questions, err := j.Turns.Unsaved(t.Context(), "child")
	must(t, err)
	if len(turns) != 1 || len(questions) != 1 || turns[0].Origin != "turn-parent-0" || turns[0].Input != 0 {
		t.Errorf("unsaved: %+v, %+v", turns, questions)
	}
	if everywhere, there := found(t, j, "first", ""), found(t, j, "first", "child"); everywhere != "a-parent-0 parent-0" || there != "copied-answer copied-question" {
		t.Errorf("found %q everywhere, %q in the fork", everywhere, there)
	}
	list, err := j.Sessions.List(t.Context())
	must(t, err)
	if list[0].Name != "child" || list[0].Parent != "parent" || list[0].Turns != 1 || list[0].Words != "first question" {
		t.Errorf("the list is %+v", list)
	}
	// Its own turns come after the copies.
	mine := accepted(t, j, "mine", "child", "my own")
	answered(t, j, mine, "a-mine", "answer of mine")
	if got := found(t, j, "mine", ""); got != "a-mine" {
		t.Errorf("found %q", got)
	}

	wantCode(t, j.Sessions.Fork(t.Context(), fork), protocol.CodeConflict)
	fork.Session = "again" // the ids are taken: nothing of it is there
	wantCode(t, j.Sessions.Fork(t.Context(), fork), protocol.CodeConflict)
	if has, err := j.Sessions.HasSession(t.Context(), "again"); has || err != nil {
		t.Errorf("a part of a fork: %v, %v", has, err)
	}
	_, err = j.Sessions.Rename(t.Context(), "parent", "renamed")
	must(t, err)
	if list, err = j.Sessions.List(t.Context()); err != nil || !slices.ContainsFunc(list, func(s protocol.SessionInfo) bool { return s.Name == "child" && s.Parent == "renamed" }) {
		t.Errorf("the fork does not know its parent's new name: %+v, %v", list, err)
	}
}

// A fork takes along what its turns were told, but what became a message is one there
// too, and the model that its parent is answered by.
func TestForkTakesAlongWhatWasTold(t *testing.T) {
	j := fresh(t)
	ctx := t.Context()
	must(t, j.Sessions.SetSessionModel(ctx, "main", "small"))
	turn := accepted(t, j, "q1", "main", "question")
	for _, id := range []string{"s1", "s2", "s3"} {
		must(t, j.Turns.PutSteer(ctx, journal.Steer{ID: id, Turn: turn.ID, Text: "told " + id}))
	}
	must(t, j.Turns.UseSteers(ctx, "s1", "s2"))
	own := accepted(t, j, "s2", "main", "told s2")
	answered(t, j, turn, "a1", "answer")
	copied := journal.Copy{Turn: turn, Origin: turn.ID, Acts: []journal.Act{{ID: "a1-copy", Kind: journal.ActAnswer, Raw: "answer", Final: true}}}
	copied.Turn.ID, copied.Turn.Event, copied.Turn.State, copied.Turn.Answer = "copy", "q1-copy", protocol.TurnAnswered, "a1-copy"
	must(t, j.Sessions.Fork(ctx, journal.Fork{Session: "fork", Parent: "main", Copies: []journal.Copy{copied}}))
	steers, err := j.Turns.Steers(ctx, "copy")
	must(t, err)
	if len(steers) != 1 || steers[0].Text != "told s1" || !steers[0].Used || steers[0].ID == "s1" {
		t.Errorf("the copy was told %+v", steers)
	}
	history, err := j.Transcripts.History(ctx, "fork", "", 0)
	must(t, err)
	if len(history) != 1 || history[0].Question != "question" || strings.Join(history[0].Steers, "|") != "told s1" {
		t.Errorf("its history is %+v, the other turn is %s", history, own.ID)
	}
	if model, err := j.Sessions.SessionModel(ctx, "fork"); model != "small" || err != nil {
		t.Errorf("it is answered by %q, %v", model, err)
	}
}
