package session

import (
	"context"
	"strings"

	"org-agent/kernel/journal"
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
	if err := h.config.Journal.Sessions.SetSessionModel(ctx, p.Session, p.Model); err != nil {
		return err
	}
	s.viewers.broadcast(protocol.MethodModelChanged, p)
	return nil
}

// ChoosePreset sets the preset that holds in a session from its next message on, and
// tells every client of it.
func (h *Sessions) ChoosePreset(ctx context.Context, p protocol.SessionPresetParams) error {
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

// Prefer makes an answer the one of its question that later turns are shown, and
// tells every client of the session.
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

// marked is the subtree of an act as it stands in a conversation now: the answer that a
// person prefers has the mark that a client gave it.
func marked(act journal.Act, turn journal.Turn) string {
	if turn.Preferred != act.ID {
		return act.Text
	}
	drawer, rest, found := strings.Cut(act.Text, "\n:END:\n")
	if !found {
		return act.Text
	}
	return drawer + "\n:PREFERRED: t\n:END:\n" + rest
}
