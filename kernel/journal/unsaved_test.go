package journal_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

func TestUnsaved(t *testing.T) {
	ctx := t.Context()
	j, err := journal.Open(ctx, filepath.Join(t.TempDir(), "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for _, id := range []string{"q1", "q2"} {
		event := protocol.Event{ID: id, Session: "main", Sensor: protocol.SensorChatMessage, Text: id, Level: 1}
		if _, _, err := j.Turns.Accept(ctx, event, "t-"+id); err != nil {
			t.Fatal(err)
		}
	}
	unsaved := func(turns, acts int) {
		t.Helper()
		gotTurns, gotActs, err := j.Turns.Unsaved(ctx, "main")
		if err != nil || len(gotTurns) != turns || len(gotActs) != acts {
			t.Errorf("%d turns, %d acts, %v; want %d and %d", len(gotTurns), len(gotActs), err, turns, acts)
		}
	}
	unsaved(0, 0) // both are queued
	if _, err := j.Turns.SetTurn(ctx, journal.TurnChange{ID: "t-q1", State: protocol.TurnRunning}); err != nil {
		t.Fatal(err)
	}
	unsaved(1, 0)
	for _, act := range []journal.Act{{ID: "a1", Kind: journal.ActAnswer}, {ID: "a2", Kind: journal.ActAction}} {
		act.Session, act.Turn, act.Event = "main", "t-q1", "q1"
		if err := j.Acts.PutAct(ctx, act); err != nil {
			t.Fatal(err)
		}
	}
	unsaved(1, 1)
	lacking := func(before time.Time, want string) {
		t.Helper()
		names, err := j.Turns.UnsavedSessions(ctx, before)
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("files lack something in %q, %v; want %q", got, err, want)
		}
	}
	soon := time.Now().Add(time.Hour)
	lacking(soon, "") // the turn runs
	if _, err := j.Turns.SetTurn(ctx, journal.TurnChange{ID: "t-q1", State: protocol.TurnAnswered}); err != nil {
		t.Fatal(err)
	}
	lacking(soon, "main")
	lacking(time.Now().Add(-time.Hour), "")
	if err := j.Turns.MarkQuestionSaved(ctx, "q1"); err != nil {
		t.Fatal(err)
	}
	lacking(soon, "main")
	if err := j.Acts.MarkSaved(ctx, "a1"); err != nil {
		t.Fatal(err)
	}
	lacking(soon, "")
	unsaved(0, 0)
	if turns, acts, err := j.Turns.Unsaved(ctx, "other"); err != nil || len(turns)+len(acts) != 0 {
		t.Errorf("another session has %d turns and %d acts, %v", len(turns), len(acts), err)
	}
}
