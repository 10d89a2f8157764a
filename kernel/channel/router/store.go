package router

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/channel"
	"org-agent/kernel/envelope"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// The limits of what a model is shown of what was said in a group before it was asked something.
const (
	earlierMessages = 30
	earlierBytes    = 16 << 10
)

// store keeps what belongs to a chat and is not answered.
func (r *Router) store(ctx context.Context, name string, m channel.Message, owner bool) error {
	change := func(change func(*journal.ChatMessage)) error {
		_, err := r.config.Chats.Change(ctx, name, m.Of, change)
		return err
	}
	switch m.Kind {
	case channel.Edited:
		return change(func(old *journal.ChatMessage) { old.Text, old.Edited = m.Text, m.Sent })
	case channel.Deleted:
		return change(func(old *journal.ChatMessage) { old.Text, old.Deleted, old.Attachments = "", m.Sent, nil })
	case channel.Reacted:
		return change(func(old *journal.ChatMessage) { react(old, m, true) })
	case channel.Unreact:
		return change(func(old *journal.ChatMessage) { react(old, m, false) })
	case channel.Pressed:
		if r.config.Pressed == nil {
			return nil
		}
		return r.config.Pressed(ctx, name, m, owner)
	}
	r.seen(name, m)
	session, err := r.session(ctx, name, m.Chat.ID)
	if err != nil {
		return err
	}
	var named []journal.Attachment // their content is fetched for what is answered
	for _, a := range m.Attachments {
		named = append(named, journal.Attachment{Name: fileName(a.Name), Media: a.Media, Size: max(a.Size, 0), Voice: a.Voice, Fault: "it was not fetched"})
	}
	_, err = r.config.Chats.Put(ctx, chatOf(name, session, m), kept(name, m, "", named))
	return err
}

// react adds somebody's reaction, or removes it.
func react(old *journal.ChatMessage, m channel.Message, add bool) {
	mine := journal.Reaction{Sender: m.Sender.ID, Emoji: m.Text}
	old.Reactions = slices.DeleteFunc(old.Reactions, func(r journal.Reaction) bool { return r == mine })
	if add && len(old.Reactions) < 200 {
		old.Reactions = append(old.Reactions, mine)
	}
}

func chatOf(name, session string, m channel.Message) journal.Chat {
	title := m.Chat.Title
	if title == "" && !m.Chat.Group && !m.Myself {
		title = m.Sender.Name
	}
	return journal.Chat{Channel: name, Chat: m.Chat.ID, Session: session, Title: title, Shared: m.Chat.Group}
}

// kept returns what is kept of a message.
func kept(name string, m channel.Message, event string, attachments []journal.Attachment) journal.ChatMessage {
	message := journal.ChatMessage{
		Channel: name, Chat: m.Chat.ID, ID: m.ID, Sender: m.Sender.ID, Text: m.Text, Time: m.Sent, Event: event,
		ChatFields: journal.ChatFields{
			Kind: string(m.Kind), Name: m.Sender.Name, Myself: m.Myself, Mentions: m.Mentions, Forwarded: m.Forwarded, Attachments: attachments,
		},
	}
	if m.Reply != nil {
		message.ReplyTo = m.Reply.ID
	}
	return message
}

// earlier returns what was said in a group since the agent last took part, as data that goes along with a message.
func (r *Router) earlier(ctx context.Context, name string, m channel.Message) ([]protocol.ContextItem, error) {
	messages, err := r.config.Chats.Messages(ctx, name, m.Chat.ID, 0, earlierMessages)
	if err != nil {
		return nil, err
	}
	messages = slices.DeleteFunc(messages, func(old journal.ChatMessage) bool { return old.ID == m.ID })
	last := 0
	for i, old := range messages {
		if old.Event != "" || old.Act != "" {
			last = i + 1
		}
	}
	var lines []string
	size := 0
	for _, old := range slices.Backward(messages[last:]) {
		line := r.recorded(name, old)
		if size += len(line) + 1; size > earlierBytes {
			break
		}
		lines = append(lines, line)
	}
	if len(lines) == 0 {
		return nil, nil
	}
	slices.Reverse(lines)
	all := strings.Join(lines, "\n") + "\n"
	return []protocol.ContextItem{{Kind: "chat", Name: fmt.Sprintf("%d messages that were not addressed to you", len(lines)), Bytes: len(all), Text: all}}, nil
}

// recorded returns a message that was kept as a model is shown it.
func (r *Router) recorded(name string, old journal.ChatMessage) string {
	shown := envelope.Message{
		ID: old.ID, Sender: old.Name, SenderID: old.Sender, Time: r.moment(old.Time), Channel: protocol.Channel(name), Type: envelope.Group, Kind: old.Kind,
		Myself: old.Myself, MentionsMe: old.Mentions, Edited: !old.Edited.IsZero(), Deleted: !old.Deleted.IsZero(), Forwarded: old.Forwarded,
	}
	if old.ReplyTo != "" {
		shown.Reply = &envelope.Quote{ID: old.ReplyTo}
	}
	for _, a := range old.Attachments {
		shown.Attachments = append(shown.Attachments, envelope.Attachment{Name: a.Name, Media: a.Media, Bytes: a.Size, Path: a.Path, Fault: a.Fault})
	}
	return envelope.Render(shown.Clean(), old.Text)
}
