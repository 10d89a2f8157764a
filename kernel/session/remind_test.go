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
	if method == protocol.MethodApprovalAsked && d.decide != nil {
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
			approval := protocol.Approval{ID: id, Session: "main", Turn: turn.Record.ID, Event: turn.Record.Event, Action: "(:type :log)", Hash: id, Asked: "2026-11-23T10:00:00Z"}
			err = errors.Join(err, h.journal.Ask(ctx, approval), turn.Ask(ctx, approval))
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
			if _, err := h.journal.Decide(t.Context(), protocol.ApprovalDecideParams{ID: id, Decision: protocol.Deny}, "another"); err != nil {
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
		case protocol.Approval:
			open[p.ID] = true
		case protocol.ApprovalClosed:
			delete(open, p.ID)
		}
	}
	if len(open) > 0 || count[protocol.Approval](c.client) < 2 {
		t.Errorf("for the client wait %v", open)
	}
}
