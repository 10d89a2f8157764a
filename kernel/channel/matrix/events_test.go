package matrix_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/channeltest/matrixtest"
)

type object = matrixtest.Object

func said(text string) object { return object{"msgtype": "m.text", "body": text} }

func with(o object, key string, value any) object {
	o[key] = value
	return o
}

// TestEvents checks what the events of a room become.
func TestEvents(t *testing.T) {
	h := newHome(t)
	root := h.Post(h.room, matrixtest.Ada, "m.room.message", said("where it began"))
	thread := h.Post(h.room, matrixtest.Ada, "m.room.message", with(said("aside"), "m.relates_to", object{"rel_type": "m.thread", "event_id": root, "is_falling_back": true, "m.in_reply_to": object{"event_id": root}}))
	w := watch(t, h.config())
	w.messages(2)
	threadChat := h.room + "/" + root
	for name, c := range map[string]struct {
		kind    string
		content object
		want    channel.Message // without ID, Chat.Title, Sender and Sent
	}{
		"text":          {"m.room.message", said("hello"), channel.Message{Text: "hello"}},
		"no body":       {"m.room.message", object{"msgtype": "m.text"}, channel.Message{}},
		"odd types":     {"m.room.message", with(said("odd"), "m.relates_to", "yes"), channel.Message{Text: "odd"}},
		"odd numbers":   {"m.room.message", object{"msgtype": "m.text", "body": "odd", "info": object{"size": object{}}}, channel.Message{Text: "odd"}},
		"emote":         {"m.room.message", object{"msgtype": "m.emote", "body": "waves"}, channel.Message{Text: "* waves"}},
		"a program":     {"m.room.message", object{"msgtype": "m.notice", "body": "it built"}, channel.Message{Kind: channel.Event, Text: "it built"}},
		"a place":       {"m.room.message", object{"msgtype": "m.location", "body": "here", "geo_uri": "geo:1,2"}, channel.Message{Text: "here geo:1,2"}},
		"thread":        {"m.room.message", with(said("more"), "m.relates_to", object{"rel_type": "m.thread", "event_id": root, "is_falling_back": true, "m.in_reply_to": object{"event_id": thread}}), channel.Message{Text: "more", Chat: channel.Chat{ID: threadChat}}},
		"thread, reply": {"m.room.message", with(said("yes"), "m.relates_to", object{"rel_type": "m.thread", "event_id": root, "m.in_reply_to": object{"event_id": thread}}), channel.Message{Text: "yes", Chat: channel.Chat{ID: threadChat}, Reply: &channel.Quote{ID: thread, Text: "aside", Sender: channel.Person{ID: matrixtest.Ada, Name: "Ada", Username: matrixtest.Ada}}}},
		"reply with fallback": {"m.room.message", with(said("> <@ada:test> where it began\n\nhere"), "m.relates_to", object{"m.in_reply_to": object{"event_id": root}}),
			channel.Message{Text: "here", Reply: &channel.Quote{ID: root, Text: "where it began", Sender: channel.Person{ID: matrixtest.Ada, Name: "Ada", Username: matrixtest.Ada}}}},
		"reply to nothing":     {"m.room.message", with(said("here"), "m.relates_to", object{"m.in_reply_to": object{"event_id": "$gone"}}), channel.Message{Text: "here", Reply: &channel.Quote{ID: "$gone"}}},
		"quotes nobody":        {"m.room.message", said("> <@ada:test> hello\n\nhere"), channel.Message{Text: "> <@ada:test> hello\n\nhere"}},
		"mention":              {"m.room.message", with(said("Agent: look"), "m.mentions", object{"user_ids": []string{matrixtest.Agent}}), channel.Message{Text: "Agent: look", Mentions: true}},
		"mention of others":    {"m.room.message", with(said("Agent said so"), "m.mentions", object{"user_ids": []string{matrixtest.Eve}}), channel.Message{Text: "Agent said so"}},
		"mention by name":      {"m.room.message", said("agent, look"), channel.Message{Text: "agent, look", Mentions: true}},
		"within a word":        {"m.room.message", said("reagents look"), channel.Message{Text: "reagents look"}},
		"mention by link":      {"m.room.message", object{"msgtype": "m.text", "body": "you!", "format": "org.matrix.custom.html", "formatted_body": `<a href="https://matrix.to/#/@agent:test">you</a>!`}, channel.Message{Text: "you!", Mentions: true}},
		"edit in a thread":     {"m.room.message", edit(thread, "beside"), channel.Message{Kind: channel.Edited, Of: thread, Text: "beside", Chat: channel.Chat{ID: threadChat}}},
		"reaction in a thread": {"m.reaction", object{"m.relates_to": object{"rel_type": "m.annotation", "event_id": thread, "key": "👍"}}, channel.Message{Kind: channel.Reacted, Of: thread, Text: "👍", Chat: channel.Chat{ID: threadChat}}},
		"reaction to nothing":  {"m.reaction", object{"m.relates_to": "it"}, channel.Message{}},
		"something else":       {"org.example.poll", object{"question": "?"}, channel.Message{}},
		"hidden characters":    {"m.room.message", said("a\u200bb\u202ec\x00"), channel.Message{Text: "a\u200bb\u202ec\x00"}},
	} {
		t.Run(name, func(t *testing.T) {
			id := h.Post(h.room, matrixtest.Ada, c.kind, c.content)
			end := h.Post(h.room, matrixtest.Ada, "m.room.message", said("end"))
			wanted := c.want.Text != ""
			n := 1
			if wanted {
				n = 2
			}
			got := w.messages(n)
			if got[n-1].ID != end {
				t.Fatalf("the last is %+v", got[n-1])
			}
			if !wanted {
				return
			}
			m := got[0]
			if m.ID != id || m.Sender != (channel.Person{ID: matrixtest.Ada, Name: "Ada", Username: matrixtest.Ada}) || time.Since(m.Sent).Abs() > time.Minute || m.Chat.Title != "Ada" || m.Chat.Group {
				t.Errorf("it is %+v", m)
			}
			if c.want.Chat.ID == "" {
				c.want.Chat.ID = h.room
			}
			m.ID, m.Chat.Title, m.Sender, m.Sent = "", "", channel.Person{}, time.Time{}
			if !reflect.DeepEqual(m, c.want) {
				t.Errorf("it is %+v\nand not %+v", m, c.want)
			}
		})
	}
}

// TestChangesOfRoom checks what is said of who comes and goes, and what the chat is called then.
func TestChangesOfRoom(t *testing.T) {
	h := newHome(t)
	w := watch(t, h.config())
	h.Say(t, line("begin"))
	if m := w.messages(1)[0]; m.Chat.Group || m.Chat.Title != "Ada" {
		t.Errorf("the two of them are %+v", m.Chat)
	}
	for _, c := range []struct {
		do          func()
		text, title string
		group       bool
	}{
		{func() { h.Member(h.room, matrixtest.Ada, matrixtest.Eve, "invite", "Eve") }, "Ada (@ada:test) invited Eve (@eve:test)", "", true},
		{func() { h.Member(h.room, matrixtest.Eve, matrixtest.Eve, "join", "Eve") }, "Eve (@eve:test) joined", "", true},
		{func() { h.Member(h.room, matrixtest.Eve, matrixtest.Eve, "join", "Ada") }, "Eve (@eve:test) is called Ada (@eve:test) now", "", true},
		{func() { h.State(h.room, matrixtest.Ada, "m.room.name", object{"name": "Loft"}) }, "Ada (@ada:test) named the room \"Loft\"", "Loft", true},
		{func() { h.State(h.room, matrixtest.Ada, "m.room.topic", object{"topic": "doves"}) }, "Ada (@ada:test) set the topic to \"doves\"", "Loft", true},
		{func() { h.Member(h.room, matrixtest.Ada, matrixtest.Eve, "ban", "") }, "Ada (@ada:test) banned Ada (@eve:test)", "Loft", false},
		{func() {
			h.State(h.room, matrixtest.Ada, "m.room.history_visibility", object{"history_visibility": "world_readable"})
			h.State(h.room, matrixtest.Ada, "m.room.pinned_events", object{"pinned": []string{}})
		}, "Ada (@ada:test) changed what is pinned", "Loft", true},
	} {
		c.do()
		m := w.messages(1)[0]
		if m.Kind != channel.Event || m.Text != c.text || m.Chat.Title != c.title || m.Chat.Group != c.group {
			t.Errorf("it is %+v\nand not %+v", m, c)
		}
	}
	h.Member(h.room, matrixtest.Ada, matrixtest.Agent, "leave", "")
	if m := w.messages(1)[0]; m.Kind != channel.Event || !strings.HasSuffix(m.Text, "removed Agent (@agent:test)") {
		t.Errorf("the agent was put out: %+v", m)
	}
}

// TestWhatIsNoEvent checks that what another server may write does not hide the messages around it.
func TestWhatIsNoEvent(t *testing.T) {
	h := newHome(t)
	w := watch(t, h.config())
	for i, raw := range []string{`7`, `"a"`, `null`, `{}`, `{"type":5}`, `{"type":"m.room.message","content":"text","event_id":"$x","sender":"@eve:test"}`,
		`{"type":"m.room.member","state_key":"@eve:test","content":{"membership":7},"sender":"@eve:test","event_id":"$y"}`, `{"type":"m.room.message","content":null}`} {
		h.Raw(h.room, raw)
		text := fmt.Sprint("after ", i)
		h.Say(t, line(text))
		if m := w.messages(1)[0]; m.Text != text {
			t.Errorf("behind %s there is %+v", raw, m)
		}
	}
	h.Raw(h.room, `{"type":"m.room.message","content":{"msgtype":"m.text","body":"odd stamp"},"event_id":"$z","sender":"@ada:test","origin_server_ts":1.5e12,"unsigned":{"age":"old"}}`)
	if m := w.messages(1)[0]; m.Text != "odd stamp" || m.Sent.Year() != 2017 {
		t.Errorf("it is %+v", m)
	}
}

// TestNobodyChangesOthersMessages checks that a change by somebody else is none: a homeserver lets it through.
func TestNobodyChangesOthersMessages(t *testing.T) {
	h := newHome(t)
	h.Member(h.room, matrixtest.Ada, matrixtest.Eve, "join", "Eve")
	id := h.Say(t, line("I owe nothing"))
	w := watch(t, h.config())
	w.messages(2)
	h.Post(h.room, matrixtest.Eve, "m.room.message", edit(id, "I owe Eve"))
	h.Say(t, line("end"))
	if m := w.messages(1)[0]; m.Text != "end" {
		t.Errorf("it is %+v", m)
	}
}

// TestOwnAccount checks that what the driver sends does not come back, and that what the account writes elsewhere does,
// as its own.
func TestOwnAccount(t *testing.T) {
	h := newHome(t)
	w := watch(t, h.config())
	h.Say(t, line("hello"))
	w.messages(1)
	if _, err := w.Send(t.Context(), channel.Outgoing{ID: "a", Chat: h.room, Text: plain("hi")}); err != nil {
		t.Fatal(err)
	}
	gone, err := w.Send(t.Context(), channel.Outgoing{ID: "b", Chat: h.room, Text: plain("oh")})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Delete(t.Context(), h.room, gone); err != nil {
		t.Fatal(err)
	}
	elsewhere := h.Post(h.room, matrixtest.Agent, "m.room.message", said("from a telephone"))
	if m := w.messages(1)[0]; m.ID != elsewhere || !m.Myself {
		t.Errorf("it is %+v", m)
	}
}

// TestReactionIsTakenBackAfterRestart checks that what a reaction was is known when it is taken back: the event that does
// so does not say it.
func TestReactionIsTakenBackAfterRestart(t *testing.T) {
	h := newHome(t)
	id := h.Say(t, line("hello"))
	w := watch(t, h.config())
	w.messages(1)
	h.PersonReacts(t, id, "👍", false)
	w.messages(1)
	w.stop()
	w = watch(t, h.config())
	h.PersonReacts(t, id, "👍", true)
	if m := w.messages(1)[0]; m.Kind != channel.Unreact || m.Of != id || m.Text != "👍" {
		t.Errorf("it is %+v", m)
	}
}
