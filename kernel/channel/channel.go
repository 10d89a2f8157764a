// Package channel is the vocabulary of conversations outside of an editor. A [Driver] knows one kind of chat and nothing
// about the agent. What happens in its chats goes through package router, which asks package access who may talk, to the
// conversations; what the agent says goes through package outbox to the driver. Package live runs the channels that the
// person's settings have.
//
// Ordering: what happens in a chat is delivered in its order. Blocking: a driver waits until the journal has a message, and
// never until it is answered. Ownership: whoever runs a channel ends it through its context and waits for it.
//
// A message is taken once for each id, across restarts. What is said to a chat is in the journal with the answer, and is
// sent from there, once.
package channel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"org-agent/kernel/act"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// Drivers are the drivers of the channels that run.
type Drivers []Driver

// Find returns the driver of a name.
func (all Drivers) Find(name string) (Driver, bool) {
	i := slices.IndexFunc(all, func(d Driver) bool { return d.Name() == name })
	if i < 0 {
		return nil, false
	}
	return all[i], true
}

// Post sends what a turn says.
type Post interface {
	// Insert makes the text the answer of a running turn. action is the action that does so, in its canonical form.
	Insert(ctx context.Context, session, turn, action, text string) error
	// Connected reports whether a channel can be sent to.
	Connected(channel string) bool
	// Send sends a text to a chat, once for the id, and says what became of it.
	Send(ctx context.Context, m Sending) (result string, err error)
}

// Sending is a text that a turn sends to a chat other than its own.
type Sending struct {
	ID            string // of the act
	Session, Turn string
	Channel, Chat string
	Text          string
	ReplyTo       string
}

// Kind returns the kind of action that sends messages on a channel. A message to the chat of the turn is the answer and ends
// the turn. For a message to any other chat, a person is asked.
func Kind(name string, post Post) kind.Kind {
	k := act.Chat(name, FieldOf(name))
	k.Offered = func() bool { return post != nil && post.Connected(name) }
	k.Perform = func(ctx context.Context, o kind.Order) (kind.Result, error) {
		a := o.Action.Action()
		if k.Ends(a, policy.Where{Session: o.Session, Route: o.Route}) {
			return kind.Result{}, post.Insert(ctx, o.Session, o.Turn, a.Canonical(), a.Text("text"))
		}
		chat, _ := k.Spec.ChatOf(a)
		result, err := post.Send(ctx, Sending{ID: o.ID, Session: o.Session, Turn: o.Turn, Channel: name, Chat: chat, Text: a.Text("text"), ReplyTo: a.Text("reply-to")})
		return kind.Result{Text: result}, err
	}
	return k
}

// EventID returns the :ID: for the question of a message. If the message's own id is not valid
// there, it is the SHA-256 of that id.
func EventID(channel, id string) string { return validOrHash(channel, id, protocol.ValidID) }

// SessionOf returns the session in which a chat is answered, unless the person moved it to another one.
func SessionOf(channel, chat string) string {
	return validOrHash(channel, chat, protocol.ValidSession)
}

func validOrHash(channel, id string, valid func(string) bool) string {
	if name := channel + "-" + id; valid(name) {
		return name
	}
	sum := sha256.Sum256([]byte(id))
	return channel + "-" + hex.EncodeToString(sum[:12])
}
