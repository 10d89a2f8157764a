package session

import (
	"context"
	"errors"
	"strings"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// errEnded: a turn that has ended takes no steering message.
var errEnded = protocol.Errorf(protocol.CodeConflict, "nothing is being answered: send this as a message")

// Steer sends a message to a running turn. When it returns nil the journal has
// the message: either the model is shown it with its next request, or it becomes
// a turn of its own.
func (h *Sessions) Steer(ctx context.Context, p protocol.TurnSteerParams) (protocol.TurnSteerResult, error) {
	if strings.TrimSpace(p.Text) == "" {
		return protocol.TurnSteerResult{}, protocol.Errorf(protocol.CodeInvalidParams, "nothing to say: the text is empty")
	}
	if len(p.Text) > protocol.TextLimit {
		return protocol.TurnSteerResult{}, protocol.Errorf(protocol.CodeTooLarge, "the text has %d bytes, more than the %d allowed", len(p.Text), protocol.TextLimit)
	}
	if p.Turn != "" {
		record, err := h.config.Journal.Turns.Turn(ctx, p.Turn)
		if err != nil {
			return protocol.TurnSteerResult{}, err
		}
		p.Session = record.Session
	}
	s, err := h.use(orMain(p.Session))
	if err != nil {
		return protocol.TurnSteerResult{}, err
	}
	defer s.release()
	running := s.queue.current()
	if running == nil || p.Turn != "" && running.Record.ID != p.Turn {
		return protocol.TurnSteerResult{}, errEnded
	}
	if p.ID == "" {
		p.ID = h.config.NewID()
	}
	if err := running.steer(ctx, p.ID, strings.ToValidUTF8(p.Text, "\uFFFD")); err != nil {
		return protocol.TurnSteerResult{}, err
	}
	return protocol.TurnSteerResult{Turn: running.Record.ID, Event: running.Record.Event}, nil
}

// steer journals the message, unless the turn has ended.
func (t *Turn) steer(ctx context.Context, id, text string) error {
	t.steerMu.Lock()
	defer t.steerMu.Unlock()
	if t.ended {
		return errEnded
	}
	t.heard = false
	return t.session.sessions.config.Journal.Turns.PutSteer(ctx, journal.Steer{ID: id, Turn: t.Record.ID, Text: text})
}

// hear reports whether a steering message may have come since its last call.
func (t *Turn) hear() bool {
	t.steerMu.Lock()
	defer t.steerMu.Unlock()
	heard := t.heard
	t.heard = true
	return !heard
}

// unhear makes the next call of hear report true, after the messages could not be read.
func (t *Turn) unhear() {
	t.steerMu.Lock()
	defer t.steerMu.Unlock()
	t.heard = false
}

// NewSteers returns what a person said to the turn since the last call, for the model,
// and notes that it was shown it. In a turn that is answered again that begins
// with what it was told before.
func (t *Turn) NewSteers(ctx context.Context) (texts []string, err error) {
	if !t.hear() {
		return nil, nil
	}
	defer func() {
		if err != nil {
			t.unhear()
		}
	}()
	j := t.session.sessions.config.Journal
	steers, err := j.Turns.Steers(ctx, t.Record.ID)
	if err != nil {
		return nil, err
	}
	t.trail.mu.Lock()
	known := len(t.trail.steers)
	t.trail.mu.Unlock()
	var fresh, ids []string
	for _, s := range steers {
		if s.Used {
			// A message of its own, of an earlier attempt that made no further request.
			if _, err := j.Turns.TurnOfEvent(ctx, s.ID); err == nil {
				continue
			}
		}
		if known > 0 {
			known--
			continue
		}
		fresh, ids = append(fresh, s.Text), append(ids, s.ID)
	}
	if len(ids) == 0 {
		return nil, nil
	}
	if err := j.Turns.UseSteers(ctx, ids...); err != nil {
		return nil, err
	}
	t.trail.mu.Lock()
	defer t.trail.mu.Unlock()
	t.trail.steers = append(t.trail.steers, fresh...)
	return fresh, nil
}

// leftover makes turns of the steering messages that no model was shown before the turn ended.
func (s *Session) leftover(ctx context.Context, t *Turn) {
	t.steerMu.Lock()
	t.ended = true
	heard := t.heard
	t.steerMu.Unlock()
	if heard {
		return
	}
	j := s.sessions.config.Journal
	steers, err := j.Turns.Steers(ctx, t.Record.ID)
	for _, steer := range steers {
		if steer.Used {
			continue
		}
		event := t.Record.Question
		_, took := s.accept(ctx, protocol.Event{
			ID: steer.ID, Session: s.name(), Sensor: protocol.SensorChatMessage, Route: event.Route, Level: t.Record.Level, Text: steer.Text,
		})
		if took == nil {
			took = j.Turns.UseSteers(ctx, steer.ID)
		}
		err = errors.Join(err, took)
	}
	if err != nil {
		s.logger().Error("what the turn was told is not a message yet", "turn", t.Record.ID, "err", err)
	}
}
