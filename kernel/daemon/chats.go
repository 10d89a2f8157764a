package daemon

import (
	"context"
	"time"

	"org-agent/kernel/channel/outbox"
	"org-agent/kernel/journal"
	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
	"org-agent/kernel/service"
)

// chatService returns the service of the conversations on channels.
func (d *daemon) chatService() service.Chats {
	return service.Chats{
		Store: d.journal.Chats, Send: d.channels.post.Send, Post: d.sessions.Post, Connected: d.channels.post.Connected, Inert: d.inert, Changed: d.chatChanged,
	}
}

// inert makes a text safe to have in a conversation.
func (d *daemon) inert(text string) string { return org.Inert(text, d.tags.Held()...) }

// chatChanged tells the clients that something in a chat changed.
func (d *daemon) chatChanged(channel, chat string) {
	d.clients.NotifyAll(protocol.MethodChatChanged, protocol.ChatParams{Channel: protocol.Channel(channel), Chat: chat})
}

// chatStore is the store of chats, whose changes are told.
type chatStore struct {
	*journal.ChatStore
	changed func(channel, chat string)
}

// Put keeps a message.
func (s chatStore) Put(ctx context.Context, chat journal.Chat, m journal.ChatMessage) (fresh bool, err error) {
	fresh, err = s.ChatStore.Put(ctx, chat, m)
	if err == nil && fresh {
		s.changed(m.Channel, m.Chat)
	}
	return fresh, err
}

// Change changes a message.
func (s chatStore) Change(ctx context.Context, channel, id string, change func(*journal.ChatMessage)) (found bool, err error) {
	chat := ""
	found, err = s.ChatStore.Change(ctx, channel, id, func(m *journal.ChatMessage) {
		change(m)
		chat = m.Chat
	})
	if err == nil && found {
		s.changed(channel, chat)
	}
	return found, err
}

// outgoingStore is the store of what is sent. What is sent becomes a message of its chat, which is told.
type outgoingStore struct {
	outbox.Store
	changed func(channel, chat string)
}

// Set records what became of a message.
func (s outgoingStore) Set(ctx context.Context, m journal.Outgoing, text string, fields journal.ChatFields, at time.Time) error {
	err := s.Store.Set(ctx, m, text, fields, at)
	if err == nil && m.State == journal.OutgoingSent {
		s.changed(m.Channel, m.Chat)
	}
	return err
}
