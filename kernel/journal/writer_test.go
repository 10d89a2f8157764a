package journal

import (
	"context"
	"testing"
)

// TestSurvives: an event is flushed to the disk before it is accepted, whatever was written before
// it, and what comes behind it survives the process.
func TestSurvives(t *testing.T) {
	j, ctx := Fresh(t), t.Context()
	synchronous := func() (level int) {
		t.Helper()
		Must(t, j.database.writer.conn.QueryRowContext(ctx, "PRAGMA synchronous").Scan(&level))
		return level
	}
	const normal, full = 1, 2
	for _, id := range []string{"1", "2", "3"} {
		turn := Accepted(t, j, "q"+id, "main", "a question")
		if got := synchronous(); got != full {
			t.Errorf("an event was accepted with level %d", got)
		}
		_, err := j.Turns.SetTurn(ctx, TurnChange{ID: turn.ID, State: "running"})
		Must(t, err)
		if got := synchronous(); got != normal {
			t.Errorf("a turn was begun with level %d", got)
		}
	}
	for _, what := range []syncMode{syncFull, syncNormal, syncFull} {
		Must(t, j.database.writer.transaction(ctx, what, func(context.Context, *writer) error {
			if got := synchronous(); (got == full) != (what == syncFull) {
				t.Errorf("in a transaction that is to survive %s the level is %d", what, got)
			}
			return nil
		}))
	}
	stopped, stop := context.WithCancel(ctx)
	stop()
	if err := j.database.writer.setSync(stopped, syncNormal); err == nil || j.database.writer.sync != "" {
		t.Errorf("%v, and the level is taken to be %q", err, j.database.writer.sync)
	}
	Must(t, j.database.writer.setSync(ctx, syncFull))
	if got := synchronous(); got != full {
		t.Errorf("after a change that failed the level is %d", got)
	}
}
