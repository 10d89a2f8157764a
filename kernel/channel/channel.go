// Package channel lets people talk to the agent outside of an editor. A [Driver] knows one kind of
// chat and nothing about the agent. This package connects it to the kernel with events that have a
// route to their chat, and with a kind of action that sends a message.
//
// Ordering: the messages of one driver are taken in the order in which it delivers them. Blocking:
// a driver waits until the journal has a message, and never until the message is answered.
// Ownership: whoever starts a channel runs [Run] in its own goroutine, ends it through its context
// and waits for it.
//
// A message is taken once for each id, across restarts. A text is sent before the turn counts as
// answered. If the kernel is killed between these two steps, the turn is shown as interrupted
// although the text may have arrived.
package channel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"

	"org-agent/kernel/act"
	"org-agent/kernel/channel/rich"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/sensor"
)

// Config configures a channel.
type Config struct {
	// Take receives the events.
	Take sensor.Take
	// May reports whether the author of a message may talk to the agent. A message of anybody else
	// is logged and not answered. nil: nobody may.
	May    func(m Message) bool
	Logger *slog.Logger
}

// Run passes the driver's messages to the kernel until ctx ends. Each chat is its own session,
// named by the channel and the chat.
func Run(ctx context.Context, d Driver, c Config) error {
	return d.Run(ctx, func(ctx context.Context, m Message) error {
		if c.May == nil || !c.May(m) {
			c.Logger.Info("message of a stranger", "channel", d.Name(), "chat", m.Chat.ID, "sender", m.Sender.ID)
			return nil
		}
		event := protocol.Event{
			ID: eventID(d.Name(), m.ID), Session: sessionOf(d.Name(), m.Chat.ID), Sensor: protocol.SensorChatMessage, Level: 1,
			Route: protocol.Route{Kind: protocol.RouteChannel, Channel: protocol.Channel(d.Name()), Chat: m.Chat.ID},
			Text:  m.Text, Stamp: m.Sent,
			Payload: protocol.Object{{Key: usualField, Value: m.Chat.ID}, {Key: "sender", Value: m.Sender.ID}},
		}
		event.Payload.Set(fieldOf(d.Name()), m.Chat.ID)
		if m.Chat.Group {
			event.Payload.Set(protocol.PayloadGroup, true)
		}
		_, err := c.Take(ctx, event)
		return err
	})
}

// Conversations answers turns.
type Conversations interface {
	// Insert sends the text to where a running turn came from, and puts it durably into the turn's
	// conversation. action is the action that does so, in its canonical form.
	Insert(ctx context.Context, session, turn, action, text string) error
}

// Drivers are all drivers of a kernel.
type Drivers []Driver

// Send sends a text to the chat of a route. It fails if no driver is for the route's channel.
func (all Drivers) Send(ctx context.Context, route protocol.Route, id, text string) error {
	for _, d := range all {
		if d.Name() == string(route.Channel) {
			return send(ctx, d, Outgoing{ID: id, Chat: route.Chat, Text: rich.Plain(text)})
		}
	}
	return fmt.Errorf("no channel %s is connected", route.Channel)
}

func send(ctx context.Context, d Driver, out Outgoing) error {
	if _, err := d.Send(ctx, out); err != nil {
		return fmt.Errorf("send to %s on %s: %w", out.Chat, d.Name(), err)
	}
	return nil
}

// Kind returns the kind of action that sends messages through the driver. A message to the chat of
// the turn is the answer and ends the turn. For a message to any other chat, a person is asked.
func Kind(d Driver, conversations Conversations) kind.Kind {
	k := act.Chat(d.Name(), fieldOf(d.Name()))
	k.Perform = func(ctx context.Context, o kind.Order) (kind.Result, error) {
		a := o.Action.Action()
		if k.Ends(a, policy.Where{Session: o.Session, Route: o.Route}) {
			return kind.Result{}, conversations.Insert(ctx, o.Session, o.Turn, a.Canonical(), a.Text("text"))
		}
		chat, _ := k.Spec.ChatOf(a)
		return kind.Result{Text: "it was sent to " + chat}, send(ctx, d, Outgoing{ID: o.ID, Chat: chat, Text: rich.Plain(a.Text("text"))})
	}
	return k
}

// eventID returns the :ID: for the question of a message. If the message's own id is not valid
// there, it is the SHA-256 of that id.
func eventID(channel, id string) string { return validOrHash(channel, id, protocol.ValidID) }

// sessionOf returns the session of a chat.
func sessionOf(channel, chat string) string { return validOrHash(channel, chat, protocol.ValidSession) }

func validOrHash(channel, id string, valid func(string) bool) string {
	if name := channel + "-" + id; valid(name) {
		return name
	}
	sum := sha256.Sum256([]byte(id))
	return channel + "-" + hex.EncodeToString(sum[:12])
}

// Find reports whether a name is that of a channel, and whether a driver is for it.
func (all Drivers) Find(name string) (known, connected bool) {
	connected = slices.ContainsFunc(all, func(d Driver) bool { return d.Name() == name })
	return connected || slices.ContainsFunc(Known(), func(k kind.Kind) bool { return string(k.Spec.Target) == name }), connected
}
