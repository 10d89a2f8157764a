package service

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// The limits of what is listed.
const (
	chatsListed    = 500
	chatMessages   = 100 // by default
	messagesAtMost = 1000
	messagesBytes  = 2 << 20 // of the texts of messages that are listed
	lastTextLimit  = 200     // characters
)

// byHand is how the ids of acts begin by which the owner says something.
const byHand = "said-"

// Chats lists the conversations on channels and what is said there. The owner answers there by hand through it, and has them
// answered in another conversation of the agent.
type Chats struct {
	Store ChatStore
	// Send sends a message, once for its id, and returns in words what became of it.
	Send func(ctx context.Context, m channel.Sending) (outcome string, err error)
	// Post puts a text at the end of a conversation, once for its id.
	Post      func(ctx context.Context, id, session, text string) error
	Connected func(channel string) bool
	// Inert makes a text safe to have in a conversation.
	Inert func(text string) string
	// Changed is called when something in a conversation changed.
	Changed func(channel, chat string)
}

// ChatStore has what was written on channels.
type ChatStore interface {
	Chats(ctx context.Context) ([]journal.Chat, error)
	Chat(ctx context.Context, channel, chat string) (journal.Chat, error)
	Messages(ctx context.Context, channel, chat string, before int64, limit int) ([]journal.ChatMessage, error)
	MarkSeen(ctx context.Context, channel, chat string) error
	SetSession(ctx context.Context, channel, chat, session string) error
}

// Methods returns the methods of this service.
func (s Chats) Methods() []Method {
	return []Method{
		{protocol.MethodChatList, For(s.list)}, {protocol.MethodChatMessages, For(s.messages)}, {protocol.MethodChatSeen, For(s.seen)},
		{protocol.MethodChatSay, Concurrent(For(s.say))}, {protocol.MethodChatMove, For(s.move)},
	}
}

func (s Chats) list(ctx context.Context, _ protocol.Empty) (result protocol.ChatListResult, err error) {
	chats, err := s.Store.Chats(ctx)
	if err != nil {
		return result, err
	}
	for i, c := range chats {
		c = answered(c)
		result.Unread += c.Unread
		if i >= chatsListed {
			result.Left++
			continue
		}
		shown, err := s.shown(ctx, c)
		if err != nil {
			return result, err
		}
		result.Chats = append(result.Chats, shown)
	}
	return result, nil
}

// chat returns a conversation, with the session in which it is or would be answered.
func (s Chats) chat(ctx context.Context, name protocol.Channel, chat string) (journal.Chat, error) {
	c, err := s.Store.Chat(ctx, string(name), chat)
	return answered(c), err
}

// answered returns a conversation with its session. The journal has none where only a code was written so far.
func answered(c journal.Chat) journal.Chat {
	c.Session = cmp.Or(c.Session, channel.SessionOf(c.Channel, c.Chat))
	return c
}

// shown returns a conversation as clients get it, with its last message.
func (s Chats) shown(ctx context.Context, c journal.Chat) (protocol.Chat, error) {
	shown := protocol.Chat{
		Channel: protocol.Channel(c.Channel), Chat: c.Chat, Session: c.Session, Title: c.Title, Shared: c.Shared, Last: stamp(c.Last), Unread: c.Unread, Connected: s.Connected(c.Channel),
	}
	last, err := s.Store.Messages(ctx, c.Channel, c.Chat, 0, 1)
	if err != nil || len(last) == 0 {
		return shown, err
	}
	m := last[0]
	shown.LastSender, shown.LastText, shown.ByHand = author(m), text.PlainLine(m.Text, lastTextLimit), saidByHand(m)
	if shown.LastText == "" && len(m.Attachments) > 0 {
		shown.LastText = text.PlainLine(m.Attachments[0].Name, lastTextLimit)
	}
	return shown, nil
}

// author returns what the author of a message is called, "" for the agent.
func author(m journal.ChatMessage) string {
	if m.Act != "" || m.Myself {
		return ""
	}
	return cmp.Or(m.Name, m.Sender)
}

// saidByHand reports whether the owner wrote a message through the agent's account.
func saidByHand(m journal.ChatMessage) bool { return strings.HasPrefix(m.Act, byHand) }

// stamp returns a moment as clients get it, "" for none.
func stamp(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}

func (s Chats) messages(ctx context.Context, p protocol.ChatMessagesParams) (result protocol.ChatMessagesResult, err error) {
	if p.Limit < 0 || p.Limit > messagesAtMost || p.Before < 0 {
		return result, protocol.Errorf(protocol.CodeInvalidParams, "%d messages are asked for, before %d: at most %d can be", p.Limit, p.Before, messagesAtMost)
	}
	chat, err := s.chat(ctx, p.Channel, p.Chat)
	if err != nil {
		return result, err
	}
	if result.Chat, err = s.shown(ctx, chat); err != nil {
		return result, err
	}
	limit := cmp.Or(p.Limit, chatMessages)
	messages, err := s.Store.Messages(ctx, chat.Channel, chat.Chat, p.Before, limit+1)
	if err != nil {
		return result, err
	}
	if result.More = len(messages) > limit; result.More {
		messages = messages[1:]
	}
	size := 0
	for i, m := range slices.Backward(messages) {
		if size += len(m.Text); size > messagesBytes && i < len(messages)-1 {
			result.More = true
			break
		}
		result.Messages = append(result.Messages, shownMessage(m))
	}
	slices.Reverse(result.Messages)
	return result, nil
}

func shownMessage(m journal.ChatMessage) protocol.ChatMessage {
	shown := protocol.ChatMessage{
		Number: m.Seq, ID: m.ID, Kind: protocol.Keyword(m.Kind), Time: stamp(m.Time), Text: m.Text, ReplyTo: m.ReplyTo, Forwarded: m.Forwarded, Edited: stamp(m.Edited), Deleted: stamp(m.Deleted),
	}
	if name := author(m); name != "" {
		shown.Sender, shown.Name = m.Sender, name
	}
	shown.ByHand = saidByHand(m)
	for _, r := range m.Reactions {
		i := slices.IndexFunc(shown.Reactions, func(c protocol.ChatReaction) bool { return c.Emoji == r.Emoji })
		if i < 0 {
			shown.Reactions, i = append(shown.Reactions, protocol.ChatReaction{Emoji: r.Emoji}), len(shown.Reactions)
		}
		shown.Reactions[i].Count++
	}
	for _, a := range m.Attachments {
		shown.Attachments = append(shown.Attachments, protocol.ChatAttachment{Name: a.Name, Media: a.Media, Size: a.Size, Path: a.Path, Fault: a.Fault})
	}
	return shown
}

func (s Chats) seen(ctx context.Context, p protocol.ChatParams) (protocol.Empty, error) {
	chat, err := s.chat(ctx, p.Channel, p.Chat)
	if err != nil || chat.Unread == 0 {
		return protocol.Empty{}, err
	}
	if err := s.Store.MarkSeen(ctx, chat.Channel, chat.Chat); err != nil {
		return protocol.Empty{}, err
	}
	s.Changed(chat.Channel, chat.Chat)
	return protocol.Empty{}, nil
}

// say sends what the owner says, and puts it into the conversation, so that the agent knows of it. What cannot be sent is
// not put there.
func (s Chats) say(ctx context.Context, p protocol.ChatSayParams) (result protocol.ChatSayResult, err error) {
	if !protocol.ValidID(p.ID) || strings.TrimSpace(p.Text) == "" {
		return result, protocol.Errorf(protocol.CodeInvalidParams, "what is said needs an id and a text")
	}
	chat, err := s.chat(ctx, p.Channel, p.Chat)
	if err != nil {
		return result, err
	}
	if !s.Connected(chat.Channel) {
		return result, protocol.Errorf(protocol.CodeNotFound, "the channel %s is not connected, so that nothing was sent", chat.Channel)
	}
	if result.Outcome, err = s.Send(ctx, channel.Sending{ID: byHand + p.ID, Session: chat.Session, Channel: chat.Channel, Chat: chat.Chat, Text: p.Text}); err != nil {
		return result, protocol.Errorf(protocol.CodeInvalidParams, "%v", err)
	}
	if err := s.Store.MarkSeen(ctx, chat.Channel, chat.Chat); err != nil {
		return result, err
	}
	s.Changed(chat.Channel, chat.Chat)
	return result, s.Post(ctx, "post-"+byHand+p.ID, chat.Session, "* Answered by hand\n\n"+s.Inert(p.Text))
}

func (s Chats) move(ctx context.Context, p protocol.ChatMoveParams) (moved protocol.Chat, err error) {
	session := cmp.Or(p.Session, channel.SessionOf(string(p.Channel), p.Chat))
	if !protocol.ValidSession(session) {
		return moved, protocol.Errorf(protocol.CodeInvalidParams, "%q is no name of a conversation", session)
	}
	if err := s.Store.SetSession(ctx, string(p.Channel), p.Chat, session); err != nil {
		return moved, err
	}
	chat, err := s.chat(ctx, p.Channel, p.Chat)
	if err != nil {
		return moved, err
	}
	s.Changed(chat.Channel, chat.Chat)
	return s.shown(ctx, chat)
}
