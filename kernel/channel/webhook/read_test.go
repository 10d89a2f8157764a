package webhook

import (
	"bytes"
	"strings"
	"testing"
)

// FuzzRead: whatever is posted, a message that is taken has ids, and something that was said.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"id": "1", "chat": "a", "sender": {"id": "ada", "name": "\u202e"}, "text": "hi", "attachments": [{"name": "a", "media": "b", "data": "aGk="}], "sent": "2026-12-01T10:00:00Z"}`))
	f.Add([]byte(`{"id": "\ud800", "chat": "\u0000", "sender": {"id": "ada"}, "text": "hi", "reply_to": "agent:1"}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		in, err := read(bytes.NewReader(body))
		if err != nil {
			return
		}
		m := in.message()
		if m.ID == "" || strings.HasPrefix(m.ID, ownID) || m.Chat.ID == "" || m.Sender.ID == "" || m.Sent.IsZero() || m.Text == "" && len(m.Attachments) == 0 {
			t.Errorf("%q becomes %+v", body, m)
		}
	})
}
