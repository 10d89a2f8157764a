package session

import (
	"context"

	"org-agent/kernel/protocol"
)

// Choose sets the model that answers in a session from its next turn on, and
// tells every client of it.
func (h *Sessions) Choose(ctx context.Context, p protocol.SessionModelParams) error {
	s, err := h.use(p.Session)
	if err != nil {
		return err
	}
	defer s.release()
	if err := h.config.Journal.SetSessionModel(ctx, p.Session, p.Model); err != nil {
		return err
	}
	s.broadcast(protocol.MethodModelChanged, p)
	return nil
}

// Prefer makes an answer the one of its question that later turns are shown, and
// tells every client of the session.
func (h *Sessions) Prefer(ctx context.Context, p protocol.TurnPreferParams) (protocol.TurnPreferred, error) {
	record, err := h.config.Journal.Prefer(ctx, p.ID, p.Not)
	if err != nil {
		return protocol.TurnPreferred{}, err
	}
	preferred := protocol.TurnPreferred{Session: record.Session, Turn: record.ID, Event: record.Event, ID: record.Preferred}
	s, err := h.use(record.Session)
	if err != nil {
		return preferred, err
	}
	defer s.release()
	s.broadcast(protocol.MethodTurnPreferred, preferred)
	return preferred, nil
}
