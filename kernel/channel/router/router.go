// Package router takes what happens in the chats of channels to the conversations of the agent. It decides nothing about
// who may talk (package access does), and sends nothing (package outbox does).
//
// Ordering: what happens in a chat is taken in the order in which its driver delivers it. Blocking: a driver waits until
// the journal has a message and its files are on the disk, and never until it is answered. Ownership: [Router.Run] belongs to whoever
// opens the channel.
//
// A message is taken once for its id, also when it is delivered again after a restart. What is kept of it for people is its
// text as they see it; what a model is shown is made from that later, by package envelope.
package router

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/access"
	"org-agent/kernel/envelope"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/sensor"
	"org-agent/kernel/text"
)

// Config configures a [Router]. All fields but Steer, Seen, Writing and Pressed are required.
type Config struct {
	Take sensor.Take
	// Steer has the turn that runs take a message that begins with /btw, and reports whether it did. One that it does not
	// take is a message like any other.
	Steer func(ctx context.Context, event protocol.Event) (taken bool, err error)
	Chats Chats
	// Decide decides who may talk, and Redeem takes the text of a stranger for a code.
	Decide func(ctx context.Context, channel string, m channel.Message) access.Decision
	Redeem func(ctx context.Context, channel string, m channel.Message) (access.Redemption, error)
	// Inbox keeps something for the owner, once for its id.
	Inbox func(ctx context.Context, item protocol.InboxItem) error
	// Reply has the kernel say something in the chat of a message, once for its id. It is no part of a conversation.
	Reply func(ctx context.Context, channel, chat, id, text string) error
	// Seen is told who wrote, if they may talk.
	Seen func(channel string, who channel.Person, where channel.Chat, at time.Time)
	// Writing is told that a message is being answered, before it is taken; event is the id of its event.
	Writing func(event, channel, chat string)
	// Pressed is told of a button that somebody pressed who may talk; owner says that they are an owner.
	Pressed func(ctx context.Context, channel string, m channel.Message, owner bool) error
	// Inert makes what others wrote safe to have in a conversation.
	Inert  func(text string) string
	Keeper Keeper
	// Now is the clock, in the owner's zone.
	Now    func() time.Time
	Logger *slog.Logger
}

// Chats holds what was written in chats.
type Chats interface {
	Put(ctx context.Context, chat journal.Chat, m journal.ChatMessage) (fresh bool, err error)
	Change(ctx context.Context, channel, id string, change func(*journal.ChatMessage)) (found bool, err error)
	Messages(ctx context.Context, channel, chat string, before int64, limit int) ([]journal.ChatMessage, error)
	SessionOf(ctx context.Context, channel, chat string) (string, error)
}

// Router takes messages.
type Router struct{ config Config }

// New returns a router.
func New(c Config) *Router { return &Router{c} }

// Run takes what a driver delivers until ctx ends.
func (r *Router) Run(ctx context.Context, d channel.Driver) error {
	return d.Run(ctx, func(ctx context.Context, m channel.Message) error { return r.take(ctx, d.Name(), m) })
}

// take takes one thing that happened. An error means that it is to be delivered again.
func (r *Router) take(ctx context.Context, name string, m channel.Message) error {
	if m.ID == "" || m.Chat.ID == "" {
		r.config.Logger.Warn("a message without an id or a chat is left out", "channel", name, "chat", m.Chat.ID, "message", m.ID)
		return nil
	}
	m.Text = text.Shown(m.Text)
	decision := r.config.Decide(ctx, name, m)
	r.config.Logger.Info("message", "channel", name, "chat", m.Chat.ID, "sender", m.Sender.ID, "kind", m.Kind, "verdict", decision.Verdict, "why", decision.Why)
	switch decision.Verdict {
	case access.Answer:
		return r.answer(ctx, name, m, decision.Owner)
	case access.Store:
		return r.store(ctx, name, m, decision.Owner)
	case access.Stranger:
		return r.stranger(ctx, name, m)
	case access.Limited:
		hour := m.Sent.Truncate(time.Hour).Unix()
		return r.config.Reply(ctx, name, m.Chat.ID, hashed("limited", name, m.Chat.ID, m.Sender.ID, fmt.Sprint(hour)),
			"That is more than I may answer you for now. Please try again later.")
	}
	return nil
}

// answer has a message answered.
func (r *Router) answer(ctx context.Context, name string, m channel.Message, owner bool) error {
	r.seen(name, m)
	session, err := r.session(ctx, name, m.Chat.ID)
	if err != nil {
		return err
	}
	attachments := r.config.Keeper.keep(ctx, m.Attachments)
	said, aside := asideOf(m.Text)
	event := protocol.Event{
		ID: eventID(name, m.ID), Session: session, Sensor: protocol.SensorChatMessage, Level: 1, Stamp: m.Sent,
		Route: protocol.Route{Kind: protocol.RouteChannel, Channel: protocol.Channel(name), Chat: m.Chat.ID},
		Text:  r.shownText(said, attachments), Payload: payload(name, m, owner),
	}
	if m.Chat.Group {
		if event.Context, err = r.earlier(ctx, name, m); err != nil {
			return err
		}
	}
	event.Context = append(event.Context, r.config.Keeper.images(attachments)...)
	if err := envelope.Put(r.envelope(name, m, owner, attachments), &event.Payload); err != nil {
		return err
	}
	if _, err := r.config.Chats.Put(ctx, chatOf(name, session, m), kept(name, m, event.ID, attachments)); err != nil {
		return err
	}
	if aside && len(m.Attachments) == 0 && r.config.Steer != nil { // a running turn is shown texts
		if taken, err := r.config.Steer(ctx, event); taken || err != nil {
			return err
		}
	}
	if r.config.Writing != nil {
		r.config.Writing(event.ID, name, m.Chat.ID)
	}
	_, err = r.config.Take(ctx, event) // once for its id, also if the kernel was killed before this line
	if protocol.ErrorCode(err) == protocol.CodeNotFound || protocol.ErrorCode(err) == protocol.CodeInvalidParams {
		return r.config.Reply(ctx, name, m.Chat.ID, event.ID+"+refused", text.Line(err.Error())) // such as a command that does not exist
	}
	return err
}

// asideOf returns what is said in a message, and whether it is for the turn that runs: what stands behind /btw is.
func asideOf(text string) (said string, aside bool) {
	const word = "/btw"
	begun := strings.TrimSpace(text)
	if len(begun) <= len(word) || !strings.EqualFold(begun[:len(word)], word) {
		return text, false
	}
	rest := begun[len(word):]
	if said = strings.TrimLeft(rest, " \t\n"); said == rest {
		return text, false
	}
	return said, true
}

// payload returns the payload of a message: its chat, its sender, and who reads it.
func payload(name string, m channel.Message, owner bool) protocol.Object {
	fields := protocol.Object{{Key: channel.UsualField, Value: m.Chat.ID}, {Key: "sender", Value: m.Sender.ID}}
	fields.Set(channel.FieldOf(name), m.Chat.ID)
	if m.Chat.Group {
		fields.Set(protocol.PayloadGroup, true)
	}
	if owner {
		fields.Set(protocol.PayloadOwner, true)
	}
	return fields
}

// shownText is the text of a message as the conversation has it, with a link to each file that came with it.
func (r *Router) shownText(said string, attachments []journal.Attachment) string {
	said = r.config.Inert(said)
	for _, a := range attachments {
		said += "\n" + link(a)
	}
	return cmp.Or(strings.TrimSpace(said), "(nothing)")
}

// envelope returns what a model is shown beside the text.
func (r *Router) envelope(name string, m channel.Message, owner bool, attachments []journal.Attachment) envelope.Message {
	shown := envelope.Message{
		ID: m.ID, Sender: m.Sender.Name, SenderID: m.Sender.ID, Username: m.Sender.Username, Owner: owner, Time: r.moment(m.Sent), Channel: protocol.Channel(name),
		Conversation: m.Chat.Title, Type: envelope.Private, Kind: string(m.Kind), Myself: m.Myself, MentionsMe: m.Mentions, Forwarded: m.Forwarded,
	}
	if m.Chat.Group {
		shown.Type = envelope.Group
	}
	if q := m.Reply; q != nil {
		shown.RepliesToMe = q.ToMe
		shown.Reply = &envelope.Quote{ID: q.ID, Sender: cmp.Or(q.Sender.Name, q.Sender.ID), Text: q.Text}
	}
	for i, a := range attachments {
		file := envelope.Attachment{Name: a.Name, Media: a.Media, Bytes: a.Size, Path: a.Path, Fault: a.Fault}
		if i < len(m.Attachments) && m.Attachments[i].Media != "" && !sameMedia(m.Attachments[i].Media, a.Media) {
			file.Said = text.PlainLine(m.Attachments[i].Media, 80)
		}
		shown.Attachments = append(shown.Attachments, file)
	}
	return shown.Clean()
}

func (r *Router) moment(at time.Time) string {
	return at.In(r.config.Now().Location()).Format("2006-01-02 Mon 15:04")
}

// session returns the conversation in which a chat is answered.
func (r *Router) session(ctx context.Context, name, chat string) (string, error) {
	session, err := r.config.Chats.SessionOf(ctx, name, chat)
	return cmp.Or(session, channel.SessionOf(name, chat)), err
}

func (r *Router) seen(name string, m channel.Message) {
	if r.config.Seen != nil && !m.Myself {
		r.config.Seen(name, m.Sender, m.Chat, m.Sent)
	}
}

// stranger takes a code, or tells the owner once that somebody wrote.
func (r *Router) stranger(ctx context.Context, name string, m channel.Message) error {
	redeemed, err := r.config.Redeem(ctx, name, m)
	if err != nil {
		return err
	}
	if !redeemed.Closed.IsZero() {
		if err := r.config.Inbox(ctx, protocol.InboxItem{
			ID: hashed("codes", name, fmt.Sprint(redeemed.Closed.Unix())), Kind: protocol.InboxAlert, Title: "Somebody may be guessing codes on " + name,
			Text: fmt.Sprintf("There were too many wrong codes. No code is taken on %s until %s.", name, r.moment(redeemed.Closed)),
		}); err != nil {
			return err
		}
	}
	switch redeemed.Outcome {
	case access.Paired:
		r.seen(name, m)
		return r.config.Reply(ctx, name, m.Chat.ID, eventID(name, m.ID)+"+paired", fmt.Sprintf("You are paired, as %s. Write to me.", redeemed.Role))
	case access.Wrong, access.Refused:
		return nil
	}
	who := text.PlainLine(cmp.Or(m.Sender.Name, m.Sender.Username, m.Sender.ID), 80)
	return r.config.Inbox(ctx, protocol.InboxItem{
		ID: strangerItem(name, m.Sender.ID), Kind: protocol.InboxStranger, Title: fmt.Sprintf("%s wrote on %s", who, name),
		Text: fmt.Sprintf("Nobody with this id may talk to the agent, so that nothing was answered, and what they write is told only once.\n\n- Channel :: %s\n- Id :: =%s=\n- Username :: %s\n\n#+begin_example\n%s\n#+end_example\n\n"+
			"In the inbox of Emacs, + lets them in, and in a shell =org-agent channel allow=.", name, text.PlainLine(m.Sender.ID, 200), cmp.Or(text.PlainLine(m.Sender.Username, 80), "none"), example(m.Text)),
	})
}

// longestSender is the longest id of a stranger who can be let in from the inbox, in bytes. No chat has longer ones.
const longestSender = 255

// strangerItem returns the id of the item about a stranger.
func strangerItem(name, sender string) string {
	if len(sender) > longestSender {
		return hashed("stranger", name, sender)
	}
	return protocol.StrangerItem(name, sender)
}

// example returns the beginning of a text as the lines of an example block.
func example(said string) string {
	var b strings.Builder
	for line := range strings.Lines(text.Clip(said, 500)) {
		if strings.HasPrefix(line, "*") || strings.HasPrefix(strings.TrimSpace(line), "#+") || strings.HasPrefix(line, ",") {
			b.WriteByte(',')
		}
		b.WriteString(line)
	}
	return strings.TrimRight(b.String(), "\n")
}

// eventID returns the :ID: for the question of a message.
func eventID(name, id string) string { return channel.EventID(name, id) }

// hashed returns an id for some words.
func hashed(words ...string) string {
	sum := sha256.New()
	for _, word := range words {
		fmt.Fprintf(sum, "%q ", word)
	}
	return words[0] + "-" + hex.EncodeToString(sum.Sum(nil)[:12])
}
