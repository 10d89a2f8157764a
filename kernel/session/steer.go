package session

import (
	"context"
	"errors"
	"strings"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// errTurnEnded is returned for a steering message to a turn that has ended.
var errTurnEnded = protocol.Errorf(protocol.CodeConflict, "nothing is being answered: send this as a message")

// Steer sends a message to a running turn. When it returns nil the message is in the journal. It is
// part of the next request to the model, or becomes a turn of its own if there is no next request.
func (h *Sessions) Steer(ctx context.Context, p protocol.TurnSteerParams) (protocol.TurnSteerResult, error) {
	if strings.TrimSpace(p.Text) == "" {
		return protocol.TurnSteerResult{}, protocol.Errorf(protocol.CodeInvalidParams, "the text is empty: write a message")
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
	s, err := h.use(sessionOrMain(p.Session))
	if err != nil {
		return protocol.TurnSteerResult{}, err
	}
	defer s.release()
	running := s.queue.current()
	if running == nil || p.Turn != "" && running.Record.ID != p.Turn {
		return protocol.TurnSteerResult{}, errTurnEnded
	}
	if p.ID == "" {
		p.ID = h.config.NewID()
	}
	if err := running.steer(ctx, p.ID, strings.ToValidUTF8(p.Text, "\uFFFD"), nil); err != nil {
		return protocol.TurnSteerResult{}, err
	}
	return protocol.TurnSteerResult{Turn: running.Record.ID, Event: running.Record.Event}, nil
}

// steer writes the message to the journal, unless the turn has ended.
func (t *Turn) steer(ctx context.Context, id, text string, payload protocol.Object) error {
	t.steerMu.Lock()
	defer t.steerMu.Unlock()
	if t.ended {
		return errTurnEnded
	}
	t.steersRead = false
	return t.session.sessions.config.Journal.Turns.PutSteer(ctx, journal.Steer{ID: id, Turn: t.Record.ID, Text: text, Payload: payload})
}

// startSteerRead reports whether there may be a steering message since its last call.
func (t *Turn) startSteerRead() bool {
	t.steerMu.Lock()
	defer t.steerMu.Unlock()
	heard := t.steersRead
	t.steersRead = true
	return !heard
}

// repeatSteerRead makes the next call of startSteerRead return true, because reading the messages
// failed.
func (t *Turn) repeatSteerRead() {
	t.steerMu.Lock()
	defer t.steerMu.Unlock()
	t.steersRead = false
}

// NewSteers returns the steering messages since the last call, and marks them as used. A new attempt
// of a turn begins with the messages of the earlier attempts.
func (t *Turn) NewSteers(ctx context.Context) (texts []string, err error) {
	if !t.startSteerRead() {
		return nil, nil
	}
	defer func() {
		if err != nil {
			t.repeatSteerRead()
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

// requeueSteers queues each steering message that was in no request of the turn as a turn of its own.
func (s *Session) requeueSteers(ctx context.Context, t *Turn) {
	t.steerMu.Lock()
	t.ended = true
	heard := t.steersRead
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
			ID: steer.ID, Session: s.name(), Sensor: protocol.SensorChatMessage, Route: event.Route, Level: t.Record.Level, Text: spoken(steer.Text), Payload: steer.Payload,
		})
		if took == nil {
			took = j.Turns.UseSteers(ctx, steer.ID)
		}
		err = errors.Join(err, took)
	}
	if err != nil {
		s.logger().Error("a steering message of an ended turn is not queued yet", "turn", t.Record.ID, "err", err)
	}
}
