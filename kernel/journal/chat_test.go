package journal_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

var loft = journal.Chat{Channel: "dove", Chat: "loft/7", Session: "dove-loft", Title: "The loft", Shared: true}

func written(id, text string) journal.ChatMessage {
	return journal.ChatMessage{Channel: "dove", Chat: "loft/7", ID: id, Sender: "ada", Text: text, Time: nine, ChatFields: journal.ChatFields{Name: "Ada", Mentions: true}}
}

// TestChatMessages checks that a message is kept once for its channel and id, and counts as unread until the owner saw it.
func TestChatMessages(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	for i := range 3 {
		isNew, err := j.Chats.Put(ctx, loft, written(fmt.Sprint(i), "hello"))
		if must(t, err); !isNew {
			t.Errorf("message %d is known", i)
		}
	}
	j = reopen(t, closed(t, j))
	again := written("1", "something else")
	again.Event = "q1"
	if isNew, err := j.Chats.Put(ctx, journal.Chat{Channel: "dove", Chat: "loft/7", Session: "other"}, again); err != nil || isNew {
		t.Errorf("it is kept twice: %v", err)
	}
	m, err := j.Chats.Message(ctx, "dove", "1")
	if must(t, err); m.Text != "hello" || m.Event != "q1" || m.Name != "Ada" || !m.Mentions || !m.Time.Equal(nine) {
		t.Errorf("the message is %+v", m)
	}
	other := written("1", "of another channel")
	other.Channel = "owl"
	if isNew, err := j.Chats.Put(ctx, journal.Chat{Channel: "owl", Chat: "loft/7", Session: "owl-loft"}, other); err != nil || !isNew {
		t.Errorf("the same id on another channel is taken for the same message: %v", err)
	}
	found, err := j.Chats.Change(ctx, "dove", "2", func(m *journal.ChatMessage) { m.Text, m.Edited = "hello!", nine.Add(time.Hour) })
	if must(t, err); !found {
		t.Error("a message is not found")
	}
	if found, err := j.Chats.Change(ctx, "dove", "9", func(*journal.ChatMessage) {}); err != nil || found {
		t.Errorf("a message that is not there is changed: %v", err)
	}
	messages, err := j.Chats.Messages(ctx, "dove", "loft/7", 0, 2)
	if must(t, err); len(messages) != 2 || messages[0].ID != "1" || messages[1].Text != "hello!" || messages[1].Edited.IsZero() {
		t.Errorf("the last are %+v", messages)
	}
	if earlier, err := j.Chats.Messages(ctx, "dove", "loft/7", messages[0].Seq, 9); err != nil || len(earlier) != 1 || earlier[0].ID != "0" {
		t.Errorf("before them are %+v, %v", earlier, err)
	}
	chats, err := j.Chats.Chats(ctx)
	if must(t, err); len(chats) != 2 || chats[0].Unread != 3 || chats[0].Title != "The loft" || chats[0].Session != "dove-loft" || chats[0].Shared {
		t.Errorf("the chats are %+v", chats)
	}
	must(t, j.Chats.SetSession(ctx, "dove", "loft/7", "main"))
	if session, err := j.Chats.SessionOf(ctx, "dove", "loft/7"); err != nil || session != "main" {
		t.Errorf("it is answered in %q, %v", session, err)
	}
	if _, err := j.Chats.Put(ctx, loft, written("1", "hello")); err != nil {
		t.Error(err)
	}
	if session, err := j.Chats.SessionOf(ctx, "dove", "loft/7"); err != nil || session != "main" {
		t.Errorf("a message moves it to %q, %v", session, err)
	}
	if session, err := j.Chats.SessionOf(ctx, "dove", "nowhere"); err != nil || session != "" {
		t.Errorf("an unknown chat is answered in %q, %v", session, err)
	}
	if err := j.Chats.SetSession(ctx, "dove", "nowhere", "main"); protocol.ErrorCode(err) != protocol.CodeNotFound {
		t.Error(err)
	}
	must(t, j.Chats.MarkSeen(ctx, "dove", "loft/7"))
	if chats, err = j.Chats.Chats(ctx); err != nil || chats[0].Unread != 0 || chats[1].Unread != 1 {
		t.Errorf("the chats are %+v, %v", chats, err)
	}
	if n, err := j.Chats.Said(ctx, "dove", "ada", nine.Add(-time.Hour)); err != nil || n != 1 {
		t.Errorf("%d became questions, %v", n, err)
	}
	if n, err := j.Chats.Said(ctx, "dove", "ada", nine.Add(time.Second)); err != nil || n != 0 {
		t.Errorf("%d became questions since then, %v", n, err)
	}
	if _, err := j.Chats.Message(ctx, "dove", "9"); protocol.ErrorCode(err) != protocol.CodeNotFound {
		t.Error(err)
	}
	if _, err := j.Chats.Put(ctx, loft, journal.ChatMessage{Channel: "dove", Chat: "loft/7"}); protocol.ErrorCode(err) != protocol.CodeInvalidParams {
		t.Error(err)
	}
}

// TestOutgoing checks that what is to be sent is queued with its act or not at all, once for its id and in order, that it
// survives a restart, and that what was sent is a message of its chat that does not count as unread.
// TestChatGetsItsSession checks that a chat in which the first thing said had no session gets that of the next, and keeps it.
func TestChatGetsItsSession(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	for i, session := range []string{"", "dove-loft", "other"} {
		_, err := j.Chats.Put(ctx, journal.Chat{Channel: "dove", Chat: "loft/7", Session: session}, written(fmt.Sprint(i), "hello"))
		must(t, err)
		want := "dove-loft"
		if session == "" {
			want = ""
		}
		got, err := j.Chats.SessionOf(ctx, "dove", "loft/7")
		if must(t, err); got != want {
			t.Errorf("after %q the chat is answered in %q, not in %q", session, got, want)
		}
	}
}

func TestOutgoing(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	accepted(t, j, "q1", "dove-loft", "hello")
	turn, err := j.Turns.TurnOfEvent(ctx, "q1")
	must(t, err)
	part := func(n int) journal.Outgoing {
		return journal.Outgoing{ID: fmt.Sprint("a1.", n), Act: "a1", Turn: turn.ID, Session: "dove-loft", Channel: "dove", Chat: "loft/7", Body: json.RawMessage(fmt.Sprint(n)), Queued: nine}
	}
	answer := journal.Act{ID: "a1", Session: "dove-loft", Turn: "nobody", Event: "q1", Kind: journal.ActAnswer, Raw: "Yes."}
	messages := []journal.Outgoing{part(1), part(2)}
	if err := j.Acts.PutActWith(ctx, answer, messages); protocol.ErrorCode(err) != protocol.CodeNotFound {
		t.Error(err)
	}
	if open, err := j.Outgoing.Open(ctx, "dove"); err != nil || len(open) != 0 {
		t.Errorf("of an act that is not there %+v is sent, %v", open, err)
	}
	answer.Turn = turn.ID
	must(t, j.Acts.PutActWith(ctx, answer, messages))
	must(t, j.Outgoing.Queue(ctx, part(2), part(3)))
	j = reopen(t, closed(t, j))
	elsewhere := part(4)
	elsewhere.Chat = "tower"
	must(t, j.Outgoing.Queue(ctx, elsewhere))
	if first, err := j.Outgoing.Open(ctx, "dove"); err != nil || len(first) != 2 || first[0].ID != "a1.1" || first[1].ID != "a1.4" {
		t.Errorf("the first of each chat are %+v, %v", first, err)
	}
	open, err := j.Outgoing.Of(ctx, "a1")
	if must(t, err); len(open) != 4 || open[0].ID != "a1.1" || open[2].ID != "a1.3" || string(open[1].Body) != "2" || open[0].State != journal.OutgoingWaiting {
		t.Fatalf("to be sent is %+v", open)
	}
	sending := open[0]
	sending.State, sending.Attempts = journal.OutgoingSending, 1
	must(t, j.Outgoing.Set(ctx, sending, "", journal.ChatFields{}, nine))
	sending.State, sending.Sent = journal.OutgoingSent, "m1"
	must(t, j.Outgoing.Set(ctx, sending, "Yes.", journal.ChatFields{}, nine))
	if err := j.Outgoing.Set(ctx, sending, "Yes.", journal.ChatFields{}, nine); protocol.ErrorCode(err) != protocol.CodeConflict {
		t.Errorf("it is sent twice: %v", err)
	}
	failed := open[1]
	failed.State, failed.Failure = journal.OutgoingFailed, "blocked"
	must(t, j.Outgoing.Set(ctx, failed, "", journal.ChatFields{}, nine))
	if open, err = j.Outgoing.Open(ctx, "dove"); err != nil || len(open) != 2 || open[0].ID != "a1.3" {
		t.Errorf("left is %+v, %v", open, err)
	}
	if all, err := j.Outgoing.OfTurn(ctx, turn.ID); err != nil || len(all) != 4 || all[0].Sent != "m1" || all[1].Failure != "blocked" {
		t.Errorf("the turn sends %+v, %v", all, err)
	}
	if m, err := j.Chats.Message(ctx, "dove", "m1"); err != nil || m.Act != "a1" || m.Text != "Yes." || m.Sender != "" {
		t.Errorf("the chat has %+v, %v", m, err)
	}
	if chats, err := j.Chats.Chats(ctx); err != nil || len(chats) != 1 || chats[0].Unread != 0 {
		t.Errorf("the chats are %+v, %v", chats, err)
	}
	unknown := journal.Outgoing{ID: "nothing", State: journal.OutgoingSent}
	if err := j.Outgoing.Set(ctx, unknown, "", journal.ChatFields{}, nine); protocol.ErrorCode(err) != protocol.CodeNotFound {
		t.Error(err)
	}
}

// TestChannelState checks that what a driver keeps is there after a restart, apart from that of others.
func TestChannelState(t *testing.T) {
	j, ctx := fresh(t), t.Context()
	must(t, j.Channels.Store(ctx, "dove", "place", "7"))
	must(t, j.Channels.Store(ctx, "dove", "place", "8"))
	must(t, j.Channels.Store(ctx, "owl", "place", "1"))
	j = reopen(t, closed(t, j))
	for _, c := range []struct{ channel, key, want string }{{"dove", "place", "8"}, {"owl", "place", "1"}, {"dove", "other", ""}} {
		if got, err := j.Channels.Load(ctx, c.channel, c.key); err != nil || got != c.want {
			t.Errorf("%s keeps %q as its %s, %v", c.channel, got, c.key, err)
		}
	}
	must(t, j.Channels.Store(ctx, "dove", "place", ""))
	if got, err := j.Channels.Load(ctx, "dove", "place"); err != nil || got != "" {
		t.Errorf("it keeps %q, %v", got, err)
	}
}
