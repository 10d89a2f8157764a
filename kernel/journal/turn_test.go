package journal_test

import (
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

func TestTurnFromAcceptanceToAnswer(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	turn := accepted(t, j, "q1", "main", "which notes?")
	if turn.State != protocol.TurnQueued || turn.Attempt != 1 || turn.Question.Text != "which notes?" || turn.Accepted.IsZero() {
		t.Fatalf("accepted: %+v", turn)
	}
	running := set(t, j, turn.ID, protocol.TurnRunning)
	if running.Started.IsZero() || !running.Finished.IsZero() {
		t.Fatalf("running: %+v", running)
	}
	skill := "chat@3f9c"
	_, err := j.Turns.SetTurn(ctx, journal.TurnChange{ID: turn.ID, Skill: &skill, Input: 10, Output: 2, Cost: 0.5})
	must(t, err)
	_, err = j.Turns.SetTurn(ctx, journal.TurnChange{ID: turn.ID, Input: 5, Cost: 0.25})
	must(t, err)
	answered(t, j, turn, "a1", "two of them")

	got, err := j.Turns.TurnOfEvent(ctx, "q1")
	must(t, err)
	if got.State != protocol.TurnAnswered || got.Skill != skill || got.Input != 15 || got.Output != 2 || got.Cost != 0.75 || got.Finished.IsZero() {
		t.Fatalf("answered: %+v", got)
	}
	_, err = j.Turns.SetTurn(ctx, journal.TurnChange{ID: turn.ID, State: protocol.TurnRunning})
	wantCode(t, err, protocol.CodeConflict)
	_, err = j.Turns.SetTurn(ctx, journal.TurnChange{ID: "nobody", State: protocol.TurnRunning})
	wantCode(t, err, protocol.CodeNotFound)
	if kinds := entries(t, j, journal.Query{Turn: turn.ID}); len(kinds) != 6 || kinds[0].Kind != journal.KindEvent || kinds[4].Kind != journal.KindAct || kinds[5].Kind != journal.KindTurn {
		t.Fatalf("rows: %+v", kinds)
	}
}

func TestRetryGoesBehindTheQueued(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	first := accepted(t, j, "q1", "main", "one")
	accepted(t, j, "q2", "main", "two")
	_, err := j.Turns.Retry(ctx, first.ID, "", nil)
	wantCode(t, err, protocol.CodeConflict)

	set(t, j, first.ID, protocol.TurnRunning)
	set(t, j, first.ID, protocol.TurnInterrupted)
	again, err := j.Turns.Retry(ctx, first.ID, "", nil)
	must(t, err)
	if again.State != protocol.TurnQueued || again.Attempt != 2 || !again.Finished.IsZero() || !again.Started.IsZero() {
		t.Fatalf("retried: %+v", again)
	}
	unfinished, err := j.Turns.Unfinished(ctx)
	must(t, err)
	if got := ids(unfinished); got != "[turn-q2 turn-q1]" {
		t.Errorf("order of answering: %s", got)
	}
	turns, err := j.Turns.List(ctx, "main", 0, 0)
	must(t, err)
	if got := ids(turns); got != "[turn-q1 turn-q2]" {
		t.Errorf("order of the conversation: %s", got)
	}
}

// What there is to go on with is told in its order, and without what is asked in it.
// The turns of a session are counted that were accepted at a time or later.
func TestCountSince(t *testing.T) {
	j := fresh(t)
	first := accepted(t, j, "q1", "one", "a")
	second := accepted(t, j, "q2", "one", "b")
	accepted(t, j, "q3", "two", "c")
	for since, want := range map[time.Time]int{first.Accepted: 2, second.Accepted: 1, second.Accepted.Add(time.Microsecond): 0} {
		if second.Accepted.Equal(first.Accepted) && since.Equal(first.Accepted) {
			want = 2
		}
		if got, err := j.Turns.CountSince(t.Context(), "one", since); got != want || err != nil {
			t.Errorf("since %v: %d and not %d, %v", since, got, want, err)
		}
	}
}

func TestUnfinished(t *testing.T) {
	j := fresh(t)
	done := accepted(t, j, "q1", "main", "text")
	answered(t, j, done, "a1", "yes")
	for _, id := range []string{"q2", "q3"} {
		accepted(t, j, id, "main", "text")
	}
	left, err := j.Turns.Unfinished(t.Context())
	must(t, err)
	if len(left) != 2 || left[0].Event != "q2" || left[1].ID != "turn-q3" || left[0].State != protocol.TurnQueued || left[0].Session != "main" || left[0].Order == 0 {
		t.Errorf("left is %+v", left)
	}
	if len(left) > 0 && (left[0].Question.Text != "" || !left[0].Accepted.IsZero()) {
		t.Errorf("more is read than is needed: %+v", left[0])
	}
}
