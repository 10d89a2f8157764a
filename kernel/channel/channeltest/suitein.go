package channeltest

import (
	"bytes"
	"io"
	"slices"
	"testing"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/rich"
)

// filesIn: files are what was sent, whatever they are called, and however large.
func (suite) filesIn(t *testing.T, f Fixture) {
	uploading, ok := f.(Uploading)
	if !ok {
		return
	}
	r := run(t, f.Driver(t), nil)
	var sent []Upload
	for _, u := range []Upload{
		{Name: "empty.txt", Media: "text/plain"},
		{Name: "picture.png", Media: "image/png", Data: []byte("no picture at all")},
		{Name: "\u202egnp.exe", Media: "application/octet-stream", Data: []byte("MZ")},
		{Name: "large.bin", Media: "application/octet-stream", Data: bytes.Repeat([]byte("0123456789abcdef"), 1<<16)},
		{Name: "huge.bin", Media: "application/octet-stream", Data: make([]byte, 10_000_000)},
	} {
		if uploading.Uploads(len(u.Data)) {
			f.Say(t, Line{Text: "look", Files: []Upload{u}})
			sent = append(sent, u)
		}
	}
	var files []channel.Attachment
	for _, m := range r.wait(t, channel.Said, len(sent)) {
		if len(m.Attachments) > 0 && m.Text != "look" && m.Text != "" {
			t.Errorf("the text of a message with a file is %q", m.Text)
		}
		files = append(files, m.Attachments...)
	}
	if len(files) != len(sent) {
		t.Fatalf("%d files of %d were delivered", len(files), len(sent))
	}
	for i, file := range files {
		if file.Size >= 0 && file.Size != int64(len(sent[i].Data)) {
			t.Errorf("the file %q is said to have %d bytes, and has %d", file.Name, file.Size, len(sent[i].Data))
		}
		content := func() []byte {
			in, err := file.Open(t.Context())
			if err != nil {
				t.Fatalf("the file %q cannot be fetched: %v", file.Name, err)
			}
			defer in.Close()
			data, err := io.ReadAll(in)
			if err != nil {
				t.Fatalf("the file %q cannot be read: %v", file.Name, err)
			}
			return data
		}
		for range 2 {
			if !bytes.Equal(content(), sent[i].Data) {
				t.Errorf("the file %q is not what was sent", file.Name)
			}
		}
	}
}

// changes: a changed message is an event of its own, about the message.
func (suite) changes(t *testing.T, f Fixture) {
	changing, ok := f.(Changing)
	if !ok {
		return
	}
	r := run(t, f.Driver(t), nil)
	ids := say(t, f, "one", "two")
	changing.Change(t, ids[0], "ONE")
	changing.Change(t, ids[0], "One")
	edits := r.wait(t, channel.Edited, 2)
	for i, want := range []string{"ONE", "One"} {
		if m := edits[i]; m.Of != ids[0] || m.Text != want || m.ID == ids[0] || m.Chat.ID != f.Chat() {
			t.Errorf("change %d is %+v", i, m)
		}
	}
	same(t, f, r.wait(t, channel.Said, 2), ids, []string{"one", "two"})
}

func (suite) removals(t *testing.T, f Fixture) {
	removing, ok := f.(Removing)
	if !ok {
		return
	}
	r := run(t, f.Driver(t), nil)
	ids := say(t, f, "one", "two")
	r.wait(t, channel.Said, 2)
	removing.Remove(t, ids[0])
	if m := r.wait(t, channel.Deleted, 1)[0]; m.Of != ids[0] || m.ID == ids[0] || m.Chat.ID != f.Chat() {
		t.Errorf("the removal is %+v", m)
	}
}

// reactionsIn: people react to messages of the agent, and take it back.
func (suite) reactionsIn(t *testing.T, f Fixture) {
	reacting, ok := f.(Reacting)
	if !ok {
		return
	}
	d := f.Driver(t)
	r := run(t, d, nil)
	id := send(t, d, channel.Outgoing{ID: "a1", Chat: f.Chat(), Text: rich.Plain("Yes.")})
	emoji := emojiOf(d)[0]
	reacting.PersonReacts(t, id, emoji, false)
	added := r.wait(t, channel.Reacted, 1)[0]
	reacting.PersonReacts(t, id, emoji, true)
	removed := r.wait(t, channel.Unreact, 1)[0]
	for _, m := range []channel.Message{added, removed} {
		if m.Of != id || m.Text != emoji || m.Sender.ID == "" || m.Chat.ID != f.Chat() {
			t.Errorf("the reaction %q to %s is %+v", emoji, id, m)
		}
	}
	if added.ID == removed.ID {
		t.Errorf("a reaction, and that it was taken back, have the same ID %s", added.ID)
	}
}

// emojiOf returns two reactions that a chat has.
func emojiOf(d channel.Driver) []string {
	if some := d.Capabilities().Emoji; len(some) > 1 {
		return some[:2]
	}
	return []string{"👍", "🎉"}
}

// repliesIn: a reply says to what, and whether the agent wrote that.
func (suite) repliesIn(t *testing.T, f Fixture) {
	d := f.Driver(t)
	r := run(t, d, nil)
	theirs := f.Say(t, Line{Text: "one"})
	r.wait(t, channel.Said, 1)
	mine := send(t, d, channel.Outgoing{ID: "a1", Chat: f.Chat(), Text: rich.Plain("Yes.")})
	f.Say(t, Line{Text: "two", ReplyTo: mine})
	f.Say(t, Line{Text: "three", ReplyTo: theirs})
	got := r.wait(t, channel.Said, 3)
	if got[0].Reply != nil {
		t.Errorf("a message is a reply to %+v", got[0].Reply)
	}
	if reply := got[1].Reply; got[1].Text != "two" || reply == nil || reply.ID != mine || !reply.ToMe {
		t.Errorf("the reply to the agent is %+v, to %+v", got[1], reply)
	}
	if reply := got[2].Reply; got[2].Text != "three" || reply == nil || reply.ID != theirs || reply.ToMe {
		t.Errorf("the reply to the person is %+v, to %+v", got[2], reply)
	}
	if slices.ContainsFunc(r.messages(channel.Said), func(m channel.Message) bool { return m.ID == mine }) {
		t.Error("the agent's own message is delivered as another's")
	}
}
