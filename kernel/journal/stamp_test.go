package journal_test

import (
	"fmt"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// What a turn is stamped with is never earlier than what the turn before it was, in the zone
// where the person is now, and stays: when the journal is opened again, when the turn is
// answered again, and in a fork.
func TestStamps(t *testing.T) {
	j := fresh(t)
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	tokyo := time.FixedZone("", 9*3600)
	at := time.Date(2026, 10, 25, 0, 30, 12, 987, time.UTC).In(berlin) // the first of the two
	cases := []struct {
		session string
		sent    time.Time
		want    string
	}{
		{"main", at, "2026-10-25T02:30:12+02:00"},
		{"main", at.Add(time.Hour), "2026-10-25T02:30:12+01:00"},
		{"main", at.Add(-2 * time.Hour), "2026-10-25T02:30:12+01:00"}, // a clock set back
		{"other", at.Add(-24 * time.Hour), "2026-10-24T02:30:12+02:00"},
		{"other", at.UTC().AddDate(70, 0, 0), "2096-10-25T00:30:12Z"}, // it was wrong, and was put right
		{"other", at, "2026-10-25T02:30:12+02:00"},
		{"main", at.Add(90 * time.Minute).In(tokyo), "2026-10-25T11:00:12+09:00"}, // who travels
		{"main", at.In(tokyo), "2026-10-25T11:00:12+09:00"},
		{"main", time.Time{}, ""},
		{"main", at, "2026-10-25T03:00:12+01:00"},
	}
	for i, c := range cases {
		event := protocol.Event{ID: fmt.Sprint("q", i), Session: c.session, Sensor: protocol.SensorChatMessage, Text: "x", Stamp: c.sent}
		turn, _, err := j.Turns.Accept(t.Context(), event, fmt.Sprint("t", i))
		if err != nil || journal.StampText(turn.Stamp) != c.want {
			t.Errorf("case %d: %s, %v, want %s", i, journal.StampText(turn.Stamp), err, c.want)
		}
		event.Stamp = event.Stamp.Add(time.Hour)
		if again, fresh, err := j.Turns.Accept(t.Context(), event, "other"); err != nil || fresh || !again.Stamp.Equal(turn.Stamp) {
			t.Errorf("sent again it is of %v, %v, %v", again.Stamp, fresh, err)
		}
		if err := j.Acts.PutAct(t.Context(), journal.Act{ID: fmt.Sprint("a", i), Session: c.session, Turn: turn.ID, Event: event.ID, Kind: journal.ActAnswer, Raw: "y", Final: true}); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if _, err := j.Turns.SetTurn(t.Context(), journal.TurnChange{ID: turn.ID, State: protocol.TurnAnswered}); err != nil {
				t.Fatal(err)
			}
			if again, err := j.Turns.Retry(t.Context(), turn.ID, "", nil); err != nil || journal.StampText(again.Stamp) != c.want {
				t.Errorf("asked again it is of %v, %v", again.Stamp, err)
			}
		}
		if _, err := j.Turns.SetTurn(t.Context(), journal.TurnChange{ID: turn.ID, State: protocol.TurnAnswered}); err != nil {
			t.Fatal(err)
		}
	}
	copied, err := j.Turns.Turn(t.Context(), "t1")
	if err != nil {
		t.Fatal(err)
	}
	copied.ID, copied.Event, copied.Answer = "copy", "copied", ""
	if err := j.Sessions.Fork(t.Context(), journal.Fork{Session: "fork", Parent: "main", At: "a1", Copies: []journal.Copy{{Turn: copied, Origin: "t1"}}}); err != nil {
		t.Fatal(err)
	}
	if fork, err := j.Turns.Turn(t.Context(), "copy"); err != nil || journal.StampText(fork.Stamp) != cases[1].want {
		t.Errorf("the copy is of %v, %v", fork.Stamp, err)
	}
	path := j.Path()
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	j = reopen(t, path)
	exchanges, err := j.Transcripts.History(t.Context(), "main", "", 0)
	if err != nil || len(exchanges) != 7 {
		t.Fatalf("%d exchanges, %v", len(exchanges), err)
	}
	for _, e := range exchanges {
		var i int
		if _, err := fmt.Sscanf(e.Event, "q%d", &i); err != nil || journal.StampText(e.Stamp) != cases[i].want {
			t.Errorf("%s is of %v, want %s", e.Event, e.Stamp, cases[i].want)
		}
	}
}
