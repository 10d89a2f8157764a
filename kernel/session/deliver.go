package session

import (
	"context"
	"fmt"
	"strings"

	"org-agent/kernel/journal"
	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
)

// send brings a journalled act to every attached client and, where no client
// keeps the file, into the file. Receipts are awaited beside the turn.
func (s *Session) send(ctx context.Context, act journal.Act, turn journal.Turn) {
	for _, a := range s.viewers.attached() {
		if params, ok := s.wireAct(act, turn, a.view); ok {
			s.sendTo(a, params)
		}
	}
	s.file.writeUnkept(ctx)
}

// wireAct is the act as a client with this view gets it; false when it is not
// for that view: the command line prints answers only.
func (s *Session) wireAct(act journal.Act, turn journal.Turn, view protocol.View) (protocol.Act, bool) {
	if act.Kind == journal.ActAction {
		return protocol.Act{}, false // somebody did it already
	}
	text := act.Text
	if view == protocol.ViewPlain {
		if act.Kind != journal.ActAnswer {
			return protocol.Act{}, false
		}
		text = act.Plain
	}
	sent := s.sessions.config.Insertion(text)
	sent.ID, sent.Session, sent.Turn, sent.Event = act.ID, act.Session, act.Turn, act.Event
	sent.Words, sent.Asks = words(turn), act.Kind == journal.ActAsk
	return sent, true
}

// sendTo queues one act for one client, before what is sent to it next, and
// keeps its receipt.
func (s *Session) sendTo(a *attached, act protocol.Act) {
	h := s.sessions
	wait := a.client.Deliver(act)
	h.begin(func() {
		receipt, err := wait(a.ctx)
		ctx := context.WithoutCancel(a.ctx)
		kept := journal.Receipt{Client: a.client.ID(), Receipt: receipt}
		if err != nil {
			kept.Failure = err.Error()
		}
		if err := h.config.Journal.Acts.PutReceipt(ctx, act.ID, kept); err != nil {
			s.logger().Error("receipt not kept", "act", act.ID, "err", err)
		}
		if err == nil && receipt.Saved {
			// The question as well: the keeper saved the whole buffer. What a person
			// removes from now on stays away.
			if err := h.config.Journal.Turns.MarkQuestionSaved(ctx, act.Event); err != nil {
				s.logger().Error("receipt not kept", "act", act.ID, "err", err)
			}
		}
	})
}

// showQuestion opens the turn at every client; those that lack the question
// insert it. Where no client keeps the file it comes in with the answer, so that
// nobody waits for the disk.
func (s *Session) showQuestion(turn journal.Turn) {
	model := turn.Wanted
	if model == "" {
		model = turn.Model
	}
	s.viewers.broadcast(protocol.MethodTurnStarted, protocol.TurnStarted{
		Session: s.name(), Turn: turn.ID, Event: turn.Event, Question: questionSubtree(turn), Parent: turn.Parent, Model: model,
	})
}

// questionSubtree is the question as the conversation's file has it, or "" for
// an event that is no message of a person.
func questionSubtree(turn journal.Turn) string {
	if !turn.Question.HasHeading() {
		return ""
	}
	return org.Question{Level: turn.Level, ID: turn.Event, Instead: turn.Instead, Properties: orgProperties(turn.Question.Properties), Text: turn.Question.Text}.Subtree()
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
	h.mu.Lock() // not use: what a turn has is kept also while the kernel stops
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

// words is the question's first words, for a heading that stands in its place.
func words(turn journal.Turn) string {
	if !turn.Question.HasHeading() {
		return ""
	}
	return strings.TrimSpace(strings.TrimPrefix(org.ReHeading(turn.Question.Text), "* Re:"))
}
