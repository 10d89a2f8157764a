package session

import (
	"context"
	"strings"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// SetModel sets the model that answers in a session from its next turn on, and notifies every client
// of it.
func (h *Sessions) SetModel(ctx context.Context, p protocol.SessionModelParams) error {
	s, err := h.use(p.Session)
	if err != nil {
		return err
	}
	defer s.release()
	if err := h.config.Journal.Sessions.SetSessionModel(ctx, p.Session, p.Model); err != nil {
		return err
	}
	s.viewers.broadcast(protocol.MethodModelChanged, p)
	return nil
}

// SetPreset sets the preset of a session from its next message on, and notifies every client of it.
func (h *Sessions) SetPreset(ctx context.Context, p protocol.SessionPresetParams) error {
	s, err := h.use(p.Session)
	if err != nil {
		return err
	}
	defer s.release()
	if err := h.config.Journal.Sessions.SetSessionPreset(ctx, p.Session, p.Preset); err != nil {
		return err
	}
	s.viewers.broadcast(protocol.MethodPresetChanged, p)
	return nil
}

// Prefer makes an answer the preferred one of its question: later turns see that answer. It notifies
// every client of the session.
func (h *Sessions) Prefer(ctx context.Context, p protocol.TurnPreferParams) (protocol.TurnPreferred, error) {
	record, err := h.config.Journal.Turns.Prefer(ctx, p.ID, p.Not)
	if err != nil {
		return protocol.TurnPreferred{}, err
	}
	preferred := protocol.TurnPreferred{Session: record.Session, Turn: record.ID, Event: record.Event, ID: record.Preferred}
	s, err := h.use(record.Session)
	if err != nil {
		return preferred, err
	}
	defer s.release()
	s.viewers.broadcast(protocol.MethodTurnPreferred, preferred)
	return preferred, nil
}

// withPreference returns the current subtree of an act: the preferred answer has the property
// PREFERRED.
func withPreference(act journal.Act, turn journal.Turn) string {
	if turn.Preferred != act.ID {
		return act.Text
	}
	drawer, rest, found := strings.Cut(act.Text, "\n:END:\n")
	if !found {
		return act.Text
	}
	return drawer + "\n:PREFERRED: t\n:END:\n" + rest
}
