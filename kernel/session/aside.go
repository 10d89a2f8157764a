package session

import (
	"context"
	"strings"

	"org-agent/kernel/envelope"
	"org-agent/kernel/protocol"
)

// Asides gives messages of chats to the turns that run. It is what [Sessions.Steer] is for clients.
type Asides struct{ Sessions *Sessions }

// Take sends a message of a chat to the turn that runs in its conversation, and reports whether that took it, now or when the
// message was delivered before. If it did not, the message is for [Sessions.Submit].
//
// A turn does with a message what it may do for whoever asked. So it takes messages of the same person in the same chat
// only. As with [Sessions.Steer], one that the model is not shown any more becomes a turn of its own, as the event that it is.
func (a Asides) Take(ctx context.Context, event protocol.Event) (taken bool, err error) {
	if known, err := a.Sessions.config.Journal.Turns.Steered(ctx, event.ID); known || err != nil {
		return known, err
	}
	if strings.TrimSpace(event.Text) == "" || len(event.Text) > protocol.TextLimit {
		return false, nil
	}
	name, err := a.Sessions.CurrentName(ctx, event.Session)
	if err != nil {
		return false, err
	}
	s, err := a.Sessions.use(name)
	if err != nil {
		return false, err
	}
	defer s.release()
	running := s.queue.current()
	if running == nil || !sameAuthor(running.Record.Question, event) {
		return false, nil
	}
	err = running.steer(ctx, event.ID, envelope.Show(event.Payload, event.Text), event.Payload)
	if protocol.ErrorCode(err) == protocol.CodeConflict { // the turn has ended, or the message was submitted before
		return false, nil
	}
	return err == nil, err
}

// sameAuthor reports whether two messages are of one person in one chat, who is the owner in both or in none.
func sameAuthor(a, b protocol.Event) bool {
	return a.Route == b.Route && a.Payload.Text("sender") != "" && a.Payload.Text("sender") == b.Payload.Text("sender") &&
		a.Payload.Get(protocol.PayloadOwner) == b.Payload.Get(protocol.PayloadOwner) &&
		a.Payload.Get(protocol.PayloadGroup) == b.Payload.Get(protocol.PayloadGroup)
}

// spoken returns what a person said of a text that a model was shown.
func spoken(text string) string {
	if m, body, err := envelope.Parse(text); err == nil && m.Channel != "" {
		return body
	}
	return text
}
