package session_test

import (
	"context"
	"errors"
	"testing"

	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
)

// decider decides on an approval as soon as it is told of another.
type decider struct {
	*client
	decide func()
}

func (d *decider) Notify(method string, params any) {
	d.client.Notify(method, params)
	if method == protocol.MethodAskOpened && d.decide != nil {
		decide := d.decide
		d.decide = nil
		decide()
	}
}

// TestRemindOfWhatIsClosed: what is decided while a client is reminded of what waits does not wait
// for it for ever.
func TestRemindOfWhatIsClosed(t *testing.T) {
	waits := make(chan struct{})
	var h *fixture
	h = open(t, t.TempDir(), func(ctx context.Context, turn *session.Turn) session.Outcome {
		var err error
		for _, id := range []string{"p1", "p2"} {
			approval := protocol.Ask{ID: id, Sort: protocol.AskApproval, Session: "main", Turn: turn.Record.ID, Event: turn.Record.Event, Opened: "2026-11-23T10:00:00Z",
				PendingAction: protocol.PendingAction{Action: "(:type :log)", Hash: id}}
			err = errors.Join(err, h.journal.Asks.PutAsk(ctx, approval), turn.Ask(ctx, approval))
		}
		if err != nil {
			return session.Outcome{State: protocol.TurnFailed, Notice: err.Error()}
		}
		close(waits)
		<-ctx.Done()
		return session.Outcome{State: protocol.TurnInterrupted}
	})
	defer h.close(t)
	if _, err := h.Submit(t.Context(), message("q", "do it")); err != nil {
		t.Fatal(err)
	}
	<-waits
	c := &decider{client: &client{id: "late"}}
	if _, err := h.Attach(t.Context(), c, protocol.SessionLoadParams{Session: "main"}); err != nil {
		t.Fatal(err)
	}
	c.decide = func() {
		for _, id := range []string{"p1", "p2"} {
			if _, err := h.journal.Asks.Decide(t.Context(), id, protocol.AskOutcome{Decision: protocol.Deny, Client: "another"}); err != nil {
				t.Error(err)
			}
		}
	}
	if err := h.Remind(t.Context(), c, "main"); err != nil {
		t.Fatal(err)
	}
	open := map[string]bool{}
	for _, n := range c.told {
		switch p := n.params.(type) {
		case protocol.Ask:
			open[p.ID] = true
		case protocol.AskClosed:
			delete(open, p.ID)
		}
	}
	if len(open) > 0 || count[protocol.Ask](c.client) < 2 {
		t.Errorf("for the client wait %v", open)
	}
}

// TestDecidedAsItsTurnEnds: an ask that a person decides while its turn ends is shown as closed,
// although no turn waits for the decision any more.
func TestDecidedAsItsTurnEnds(t *testing.T) {
	var h *fixture
	h = open(t, t.TempDir(), func(ctx context.Context, turn *session.Turn) session.Outcome {
		approval := protocol.Ask{ID: "p1", Sort: protocol.AskApproval, Session: "main", Turn: turn.Record.ID, Event: turn.Record.Event, Opened: "2026-11-23T10:00:00Z",
			PendingAction: protocol.PendingAction{Action: "(:type :log)", Hash: "p1"}}
		err := errors.Join(h.journal.Asks.PutAsk(ctx, approval), turn.Ask(ctx, approval))
		if err == nil {
			_, err = h.journal.Asks.Decide(ctx, "p1", protocol.AskOutcome{Decision: protocol.AllowOnce, Client: "another"})
		}
		if err != nil {
			t.Error(err)
		}
		return session.Outcome{State: protocol.TurnInterrupted}
	})
	c := &client{id: "emacs"}
	if _, err := h.Attach(t.Context(), c, protocol.SessionLoadParams{Session: "main"}); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Submit(t.Context(), message("q", "do it")); err != nil {
		t.Fatal(err)
	}
	until(t, "the end of the turn", func() bool { return count[protocol.TurnFinished](c) == 1 })
	h.close(t)
	if count[protocol.Ask](c) != 1 || count[protocol.AskClosed](c) != 1 {
		t.Errorf("%d were opened and %d closed", count[protocol.Ask](c), count[protocol.AskClosed](c))
	}
}
