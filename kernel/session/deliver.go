package session

import (
	"context"
	"fmt"
	"strings"

	"org-agent/kernel/journal"
	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
)

// send delivers an act that the journal has to every attached client. If no client keeps the file, it
// writes the file. It does not wait for receipts.
func (s *Session) send(ctx context.Context, act journal.Act, turn journal.Turn) {
	for _, a := range s.viewers.attachments() {
		if params, ok := s.wireAct(act, turn, a.view); ok {
			s.sendTo(a, params)
		}
	}
	s.file.writeUnkept(ctx)
}

// wireAct returns the act for a client with this view. It returns false if the view does not show the
// act: the plain view shows answers only.
func (s *Session) wireAct(act journal.Act, turn journal.Turn, view protocol.View) (protocol.Act, bool) {
	if act.Kind == journal.ActAction {
		return protocol.Act{}, false // it was performed
	}
	text := act.Text
	if view == protocol.ViewPlain {
		if act.Kind != journal.ActAnswer {
			return protocol.Act{}, false
		}
		text = act.Plain
	}
	sent := s.sessions.config.InsertionAct(text)
	sent.ID, sent.Session, sent.Turn, sent.Event = act.ID, act.Session, act.Turn, act.Event
	sent.Words, sent.Asks = headingWords(turn), act.Kind == journal.ActAsk
	return sent, true
}

// sendTo queues an act for one client, in order with its other notifications. A goroutine records the
// receipt.
func (s *Session) sendTo(a *attachment, act protocol.Act) {
	h := s.sessions
	recorded := s.viewers.expectReceipt(a)
	wait := a.client.Deliver(act)
	started := h.start(func() {
		defer recorded()
		receipt, err := wait(a.ctx)
		ctx := context.WithoutCancel(a.ctx)
		kept := journal.Receipt{Client: a.client.ID(), Receipt: receipt}
		if err != nil {
			kept.Failure = err.Error()
		}
		if receipt.Saved {
			if err := s.file.flush(); err != nil {
				// The text counts as one that the file does not have, and the kernel adds it if that is so.
				s.logger().Warn("conversation file not flushed", "err", err)
				receipt.Saved, kept.Saved = false, false
			}
		}
		if err := h.config.Journal.Acts.PutReceipt(ctx, act.ID, kept); err != nil {
			s.logger().Error("receipt not recorded", "act", act.ID, "err", err)
		}
		if err == nil && receipt.Saved {
			// The question is saved as well, because the keeper saved the whole buffer. A text that a
			// person removes from now on is not sent again.
			if err := h.config.Journal.Turns.MarkQuestionSaved(ctx, act.Event); err != nil {
				s.logger().Error("receipt not recorded", "act", act.ID, "err", err)
			}
		}
	})
	if !started {
		recorded()
	}
}

// showQuestion notifies every client that the turn runs. Clients that lack the question insert it. If no
// client keeps the file, the question is written with the answer, so that the turn does not wait for the
// disk here.
func (s *Session) showQuestion(turn journal.Turn) {
	model := turn.RequestedModel
	if model == "" {
		model = turn.Model
	}
	s.viewers.broadcast(protocol.MethodTurnStarted, protocol.TurnStarted{
		Session: s.name(), Turn: turn.ID, Event: turn.Event, Question: questionSubtree(turn), Parent: turn.Parent, Model: model,
	})
}

// questionSubtree returns the subtree of the question, or "" for an event that is no message of a
// person.
func questionSubtree(turn journal.Turn) string {
	if !turn.Question.HasHeading() {
		return ""
	}
	return org.Question{Level: turn.Level, ID: turn.Event, Instead: turn.Replaces, Properties: orgProperties(turn.Question.Properties), Text: turn.Question.Text}.Subtree()
}

func orgProperties(properties []protocol.Property) []org.Property {
	var own []org.Property
	for _, p := range properties {
		own = append(own, org.Property{Key: p.Name, Value: p.Value})
	}
	return own
}

// Insert puts the text into the conversation of the running turn.
func (h *Sessions) Insert(ctx context.Context, session, turn, action, text string) error {
	h.mu.Lock() // not use: an answer is recorded also while the kernel stops
	s := h.open[session]
	h.mu.Unlock()
	if s != nil {
		if running := s.queue.current(); running != nil && running.Record.ID == turn {
			return running.Insert(ctx, action, text)
		}
	}
	return fmt.Errorf("turn %s is not running any more", turn)
}

// Post puts the text at the end of another conversation, as a turn of its own
// that has no question. ID is the event's: the same id again posts nothing.
func (h *Sessions) Post(ctx context.Context, id, session, text string) error {
	_, err := h.Submit(ctx, protocol.Event{ID: id, Session: session, Sensor: protocol.SensorPost, Route: protocol.Route{Kind: protocol.RoutePost}, Text: text})
	return err
}

// headingWords returns the first words of the question, for a heading that stands in its place.
func headingWords(turn journal.Turn) string {
	if !turn.Question.HasHeading() {
		return ""
	}
	return strings.TrimSpace(strings.TrimPrefix(org.ReHeading(turn.Question.Text), "* Re:"))
}
