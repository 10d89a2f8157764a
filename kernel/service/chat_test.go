package service_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/service"
)

// street is a service of conversations with a real journal.
type street struct {
	t       *testing.T
	journal *journal.Journal
	conn    *rpc.Conn
	sent    []channel.Sending
	posted  []string
	changed []string
	failure error // of what is sent
}

func newStreet(t *testing.T) *street {
	j, err := journal.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.Close() })
	s := &street{t: t, journal: j}
	s.conn = serve(t, service.Chats{
		Store: j.Chats, Connected: func(name string) bool { return name == "telegram" },
		Send: func(_ context.Context, m channel.Sending) (string, error) {
			s.sent = append(s.sent, m)
			return "it was sent to " + m.Chat, s.failure
		},
		Post: func(_ context.Context, id, session, text string) error {
			s.posted = append(s.posted, id+" "+session+" "+text)
			return nil
		},
		Inert:   func(text string) string { return strings.ReplaceAll(text, "[[elisp:", "[[") },
		Changed: func(channel, chat string) { s.changed = append(s.changed, channel+" "+chat) },
	}.Methods())("test")
	return s
}

// put has a message written.
func (s *street) put(on, chat string, m journal.ChatMessage) {
	s.t.Helper()
	m.Channel, m.Chat = on, chat
	if _, err := s.journal.Chats.Put(s.t.Context(), journal.Chat{Channel: on, Chat: chat, Session: on + "-" + chat, Title: "Room " + chat, Last: m.Time}, m); err != nil {
		s.t.Fatal(err)
	}
}

func (s *street) call(method string, params, result any) {
	s.t.Helper()
	if err := s.conn.Call(within(s.t), method, params, result); err != nil {
		s.t.Fatalf("%s: %v", method, err)
	}
}

// TestChats checks that conversations are listed with their last messages, read, seen, answered by hand and moved.
func TestChats(t *testing.T) {
	s := newStreet(t)
	nine := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	s.put("telegram", "7", journal.ChatMessage{ID: "1", Sender: "ann", Text: "Hello\nthere", Time: nine, ChatFields: journal.ChatFields{
		Name: "Ann", Reactions: []journal.Reaction{{Sender: "a", Emoji: "👍"}, {Sender: "b", Emoji: "🎉"}, {Sender: "c", Emoji: "👍"}},
		Attachments: []journal.Attachment{{Name: "a.pdf", Size: 3, Path: "/f/a.pdf"}, {Name: "b", Fault: "it is too large"}},
	}})
	s.put("telegram", "7", journal.ChatMessage{ID: "2", Sender: "ann", Text: "gone", Time: nine.Add(time.Minute), ChatFields: journal.ChatFields{Deleted: nine.Add(time.Hour)}})
	s.put("telegram", "7", journal.ChatMessage{ID: "3", Text: "I am here", Time: nine.Add(2 * time.Minute), Act: "act1"})
	s.put("matrix", "!a:x", journal.ChatMessage{ID: "1", Sender: "bob", Time: nine.Add(time.Hour), ChatFields: journal.ChatFields{Attachments: []journal.Attachment{{Name: "c.png"}}}})

	var list protocol.ChatListResult
	s.call(protocol.MethodChatList, protocol.Empty{}, &list)
	want := []protocol.Chat{
		{Channel: "matrix", Chat: "!a:x", Session: "matrix-!a:x", Title: "Room !a:x", Last: "2026-12-01T10:00:00Z", LastSender: "bob", LastText: "c.png", Unread: 1},
		{Channel: "telegram", Chat: "7", Session: "telegram-7", Title: "Room 7", Last: "2026-12-01T09:02:00Z", LastText: "I am here", Unread: 2, Connected: true},
	}
	if list.Unread != 3 || !slices.Equal(list.Chats, want) {
		t.Errorf("listed is %+v", list)
	}

	var read protocol.ChatMessagesResult
	s.call(protocol.MethodChatMessages, protocol.ChatMessagesParams{Channel: "telegram", Chat: "7"}, &read)
	if len(read.Messages) != 3 || read.More || read.Chat != want[1] {
		t.Fatalf("read is %+v", read)
	}
	if m := read.Messages[0]; m.Name != "Ann" || m.Sender != "ann" || m.Text != "Hello\nthere" || m.Time != "2026-12-01T09:00:00Z" || fmt.Sprint(m.Reactions) != "[{👍 2} {🎉 1}]" || len(m.Attachments) != 2 || m.Attachments[1].Fault == "" {
		t.Errorf("the first is %+v", m)
	}
	if m := read.Messages[1]; m.Name != "ann" || m.Deleted != "2026-12-01T10:00:00Z" {
		t.Errorf("the second is %+v", m)
	}
	if m := read.Messages[2]; m.Name != "" || m.Sender != "" || m.ByHand {
		t.Errorf("the agent's is %+v", m)
	}
	before := read.Messages[2].Number
	read = protocol.ChatMessagesResult{}
	s.call(protocol.MethodChatMessages, protocol.ChatMessagesParams{Channel: "telegram", Chat: "7", Limit: 1, Before: before}, &read)
	if len(read.Messages) != 1 || read.Messages[0].ID != "2" || !read.More {
		t.Errorf("the one before is %+v", read)
	}

	s.call(protocol.MethodChatSeen, protocol.ChatParams{Channel: "matrix", Chat: "!a:x"}, &protocol.Empty{})
	s.call(protocol.MethodChatSeen, protocol.ChatParams{Channel: "matrix", Chat: "!a:x"}, &protocol.Empty{})
	if got := strings.Join(s.changed, ","); got != "matrix !a:x" {
		t.Errorf("changed is %q", got)
	}

	var said protocol.ChatSayResult
	s.call(protocol.MethodChatSay, protocol.ChatSayParams{ID: "x1", Channel: "telegram", Chat: "7", Text: "Soon [[elisp:x]]"}, &said)
	if said.Outcome != "it was sent to 7" || len(s.sent) != 1 || s.sent[0] != (channel.Sending{ID: "said-x1", Session: "telegram-7", Channel: "telegram", Chat: "7", Text: "Soon [[elisp:x]]"}) {
		t.Errorf("sent is %+v, %+v", s.sent, said)
	}
	if len(s.posted) != 1 || s.posted[0] != "post-said-x1 telegram-7 * Answered by hand\n\nSoon [[x]]" {
		t.Errorf("posted is %q", s.posted)
	}
	s.put("telegram", "7", journal.ChatMessage{ID: "4", Text: "Soon", Time: nine.Add(3 * time.Minute), Act: "said-x1"})
	list, read = protocol.ChatListResult{}, protocol.ChatMessagesResult{}
	s.call(protocol.MethodChatList, protocol.Empty{}, &list)
	s.call(protocol.MethodChatMessages, protocol.ChatMessagesParams{Channel: "telegram", Chat: "7", Limit: 1}, &read)
	if list.Unread != 0 || !read.Messages[0].ByHand || !read.Chat.ByHand {
		t.Errorf("after the answer %d are unread, the last is %+v", list.Unread, read.Messages[0])
	}

	var moved protocol.Chat
	s.call(protocol.MethodChatMove, protocol.ChatMoveParams{Channel: "telegram", Chat: "7", Session: "main"}, &moved)
	if moved.Session != "main" || moved.Chat != "7" {
		t.Errorf("moved is %+v", moved)
	}
	moved = protocol.Chat{}
	s.call(protocol.MethodChatMove, protocol.ChatMoveParams{Channel: "telegram", Chat: "7"}, &moved)
	if moved.Session != channel.SessionOf("telegram", "7") {
		t.Errorf("moved back is %+v", moved)
	}
}

// TestChatOfACode checks that a chat in which only a code was written has the session in which it will be answered: it is
// listed, read and answered by hand there.
func TestChatOfACode(t *testing.T) {
	s := newStreet(t)
	at := time.Date(2026, 12, 1, 9, 0, 0, 0, time.UTC)
	m := journal.ChatMessage{Channel: "telegram", Chat: "7", ID: "agent:1", Text: "You are paired.", Time: at, Act: "paired"}
	if _, err := s.journal.Chats.Put(t.Context(), journal.Chat{Channel: "telegram", Chat: "7", Last: at}, m); err != nil {
		t.Fatal(err)
	}
	var list protocol.ChatListResult
	s.call(protocol.MethodChatList, protocol.Empty{}, &list)
	var read protocol.ChatMessagesResult
	s.call(protocol.MethodChatMessages, protocol.ChatMessagesParams{Channel: "telegram", Chat: "7"}, &read)
	if len(list.Chats) != 1 || list.Chats[0].Session != "telegram-7" || read.Chat.Session != "telegram-7" {
		t.Errorf("listed is %+v, read is %+v", list.Chats, read.Chat)
	}
	s.call(protocol.MethodChatSay, protocol.ChatSayParams{Channel: "telegram", Chat: "7", ID: "1", Text: "Welcome"}, nil)
	if len(s.sent) != 1 || s.sent[0].Session != "telegram-7" || len(s.posted) != 1 || !strings.HasPrefix(s.posted[0], "post-said-1 telegram-7 ") {
		t.Errorf("sent is %+v, and put into a conversation %q", s.sent, s.posted)
	}
}

// TestChatsRefused checks what is refused, and that what cannot be sent is not put into the conversation.
func TestChatsRefused(t *testing.T) {
	s := newStreet(t)
	s.put("telegram", "7", journal.ChatMessage{ID: "1", Sender: "ann", Text: "Hello", Time: time.Now()})
	s.put("matrix", "!a:x", journal.ChatMessage{ID: "1", Sender: "bob", Text: "Hello", Time: time.Now()})
	s.failure = errors.New("it was not sent to 7: the bot was blocked")
	for _, c := range []struct {
		name, method string
		params       any
		code         protocol.Code
		want         string
	}{
		{"a chat that is not there", protocol.MethodChatMessages, protocol.ChatMessagesParams{Channel: "telegram", Chat: "8"}, protocol.CodeNotFound, "nobody has written"},
		{"too many", protocol.MethodChatMessages, protocol.ChatMessagesParams{Channel: "telegram", Chat: "7", Limit: 1001}, protocol.CodeInvalidParams, "at most 1000"},
		{"seen where nothing is", protocol.MethodChatSeen, protocol.ChatParams{Channel: "telegram", Chat: "8"}, protocol.CodeNotFound, "nobody has written"},
		{"without an id", protocol.MethodChatSay, protocol.ChatSayParams{Channel: "telegram", Chat: "7", Text: "x"}, protocol.CodeInvalidParams, "an id and a text"},
		{"nothing", protocol.MethodChatSay, protocol.ChatSayParams{ID: "1", Channel: "telegram", Chat: "7", Text: " \n"}, protocol.CodeInvalidParams, "an id and a text"},
		{"to nobody", protocol.MethodChatSay, protocol.ChatSayParams{ID: "1", Channel: "telegram", Chat: "8", Text: "x"}, protocol.CodeNotFound, "nobody has written"},
		{"on a channel that is away", protocol.MethodChatSay, protocol.ChatSayParams{ID: "1", Channel: "matrix", Chat: "!a:x", Text: "x"}, protocol.CodeNotFound, "not connected, so that nothing was sent"},
		{"refused by the chat", protocol.MethodChatSay, protocol.ChatSayParams{ID: "1", Channel: "telegram", Chat: "7", Text: "x"}, protocol.CodeInvalidParams, "the bot was blocked"},
		{"moved to no name", protocol.MethodChatMove, protocol.ChatMoveParams{Channel: "telegram", Chat: "7", Session: "../x"}, protocol.CodeInvalidParams, "no name of a conversation"},
		{"moved from nowhere", protocol.MethodChatMove, protocol.ChatMoveParams{Channel: "telegram", Chat: "8", Session: "main"}, protocol.CodeNotFound, "nobody has written"},
	} {
		wantError(t, c.name, s.conn.Call(within(t), c.method, c.params, &protocol.Object{}), c.code, c.want)
	}
	if len(s.posted) != 0 || len(s.changed) != 0 || len(s.sent) != 1 {
		t.Errorf("posted %q, changed %q, sent %+v", s.posted, s.changed, s.sent)
	}
}
