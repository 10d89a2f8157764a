package matrix

import (
	"testing"

	"maunium.net/go/mautrix/event"
	"maunium.net/go/mautrix/id"

	"org-agent/kernel/channel/channeltest/matrixtest"
)

// FuzzParse checks that no event of another server ends the program, whatever is asked of it.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"type":"m.room.message","content":{"msgtype":"m.text","body":"hello"},"event_id":"$a","sender":"@ada:test","origin_server_ts":1}`,
		`{"type":"m.room.message","content":{"msgtype":"m.image","body":"a","url":"mxc://a/b","info":{"size":-1},"m.relates_to":{"rel_type":"m.thread","event_id":"$b"}}}`,
		`{"type":"m.room.member","state_key":"@ada:test","content":{"membership":"join"},"unsigned":{"prev_content":{"membership":7}}}`,
		`{"type":"m.room.encrypted","content":{"algorithm":"m.megolm.v1.aes-sha2","ciphertext":7}}`,
		`{"type":"m.reaction","content":{"m.relates_to":7}}`, `{"type":"m.room.redaction","content":{},"redacts":"$a"}`, `7`,
	} {
		f.Add([]byte(seed))
	}
	d := New(Config{URL: "http://localhost", Token: matrixtest.Token})
	follow := &follower{driver: d}
	f.Fuzz(func(t *testing.T, raw []byte) {
		evt, ok := parse(raw, "!a:test")
		if !ok {
			return
		}
		r := &room{id: evt.RoomID, members: map[id.UserID]string{}}
		r.apply(evt)
		if content, is := evt.Content.Parsed.(*event.MessageEventContent); is {
			d.see(evt, content)
			follow.mentioned(r, content)
			d.attachment(content)
		}
		if evt.StateKey != nil {
			follow.describe(r, evt)
		}
		follow.ownMembership(evt)
		unreadOf(evt)
	})
}
