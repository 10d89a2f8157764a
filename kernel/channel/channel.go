// Package channel lets people talk to the agent elsewhere than in an editor. A [Driver] knows one
// kind of chat and nothing of the agent; this package makes of it what the rest of the kernel
// knows: events with a route to their chat, and a kind of action that sends.
//
// Ordering: messages of one driver are taken in the order in which it hands them over. Blocking: a
// driver is held up while the journal takes a message, and never until it is answered.
// Ownership: whoever starts a channel runs [Run] in a goroutine of its own, ends it by its
// context and waits for it.
//
// A message is taken once for each id, across restarts. A text is sent before the turn counts as
// answered: when the kernel is killed between the two, the turn is shown as interrupted, and
// the text may have arrived.
package channel

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"time"

	"org-agent/kernel/act"
	"org-agent/kernel/action"
	"org-agent/kernel/describe"
	"org-agent/kernel/kind"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/sensor"
)

// Driver is one kind of chat. Adding one takes a package with its type and a line in the list of
// kernel/daemon/edges.go.
type Driver interface {
	// Name is the channel's name in small letters: the :channel of its events and the :target
	// of what is sent.
	Name() string
	// Run hands over messages until ctx ends, and returns when nothing of it runs any more. A
	// message whose receive fails is kept and handed over again later. An error says why no more
	// come, and ends the channel.
	Run(ctx context.Context, receive func(ctx context.Context, m Message) error) error
	// Send sends a text, and returns when the chat's server has it. The ID is the same when the
	// same text is sent again.
	Send(ctx context.Context, text Text) error
}

// Message is what somebody wrote.
type Message struct {
	ID     string // the chat's own, unique in the channel
	Chat   string // the conversation on the channel
	Sender string // who wrote it, as the channel names them for good
	Text   string
	Group  bool // others than the sender read the chat
	Sent   time.Time
}

// Text is what is sent to a chat.
type Text struct {
	ID   string // of the act
	Chat string
	Text string
}

// Config is what a channel works with.
type Config struct {
	// Take takes the events.
	Take sensor.Take
	// May says who may talk to the agent. Nil lets nobody: a message of a stranger is logged and
	// has no answer.
	May    func(m Message) bool
	Logger *slog.Logger
}

// Run has what the driver receives answered, until ctx ends. Each chat is a session of its own,
// named by the channel and the chat.
func Run(ctx context.Context, d Driver, c Config) error {
	return d.Run(ctx, func(ctx context.Context, m Message) error {
		if c.May == nil || !c.May(m) {
			c.Logger.Info("message of a stranger", "channel", d.Name(), "chat", m.Chat, "sender", m.Sender)
			return nil
		}
		event := protocol.Event{
			ID: eventID(d.Name(), m.ID), Session: sessionOf(d.Name(), m.Chat), Sensor: protocol.SensorChatMessage, Level: 1,
			Route: protocol.Route{Kind: protocol.RouteChannel, Channel: protocol.Channel(d.Name()), Chat: m.Chat},
			Text:  m.Text, Stamp: m.Sent,
			Payload: protocol.Object{{Key: "chat-id", Value: m.Chat}, {Key: "sender", Value: m.Sender}},
		}
		if m.Group {
			event.Payload.Set(protocol.PayloadGroup, true)
		}
		_, err := c.Take(ctx, event)
		return err
	})
}

// Conversations is where the answer is kept beside being sent.
type Conversations interface {
	// Insert puts the text into the conversation of the order's turn, for good.
	Insert(ctx context.Context, order kind.Order, text string) error
}

// field names the chat in an action.
const field = "chat-id"

// Kind is the kind of action that sends messages through the driver. Sent to the chat that a turn
// came from it is the answer, and ends the turn; to any other chat a person is asked.
func Kind(d Driver, conversations Conversations) kind.Kind {
	k := act.Chat(d.Name(), field)
	chatOf := func(a action.Action) string {
		value, _ := a.Field(field)
		return describe.Plain(value)
	}
	k.Perform = func(ctx context.Context, o kind.Order) (kind.Result, error) {
		a := o.Action.Action()
		text := Text{ID: o.ID, Chat: chatOf(a), Text: a.Text("text")}
		if err := d.Send(ctx, text); err != nil {
			return kind.Result{}, fmt.Errorf("send to %s on %s: %w", text.Chat, d.Name(), err)
		}
		if k.Ends(a, policy.Where{Session: o.Session, Route: o.Route}) {
			return kind.Result{}, conversations.Insert(ctx, o, text.Text)
		}
		return kind.Result{Text: "it was sent to " + text.Chat}, nil
	}
	return k
}

// eventID is a message's id as the :ID: of its question. Of an id that cannot stand there it is
// the SHA-256.
func eventID(channel, id string) string { return named(channel, id, protocol.ValidID) }

// sessionOf is the session of a chat.
func sessionOf(channel, chat string) string { return named(channel, chat, protocol.ValidSession) }

func named(channel, id string, valid func(string) bool) string {
	if name := channel + "-" + id; valid(name) {
		return name
	}
	sum := sha256.Sum256([]byte(id))
	return channel + "-" + hex.EncodeToString(sum[:12])
}
