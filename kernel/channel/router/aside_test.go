package router_test

import (
	"testing"

	"org-agent/kernel/channel"
	"org-agent/kernel/protocol"
)

// TestAside checks which messages are offered to the turn that runs, with which text, and that one that it does not take is
// taken as a message without the word.
func TestAside(t *testing.T) {
	for name, c := range map[string]struct {
		text    string
		files   []channel.Attachment
		offered bool
		want    string
	}{
		"an aside":             {text: "/btw only the roses", offered: true, want: "only the roses"},
		"as a phone writes it": {text: " /Btw\nonly\n\nthe roses ", offered: true, want: "only\n\nthe roses"},
		"nothing":              {text: "/btw ", want: "/btw"},
		"another word":         {text: "/btwo roses", want: "/btwo roses"},
		"in the middle":        {text: "roses /btw tulips", want: "roses /btw tulips"},
		"with a file":          {text: "/btw look", files: []channel.Attachment{{Name: "a", Size: 1}}, want: "look\n\n(a: the chat does not give it away)"},
	} {
		for _, taken := range []bool{false, true} {
			h := newHouse(t)
			var offered []protocol.Event
			h.mu.Lock()
			h.steer = func(e protocol.Event) bool { offered = append(offered, e); return taken }
			h.mu.Unlock()
			id := h.post(channel.Message{Text: c.text, Attachments: c.files})
			if (len(offered) == 1) != c.offered || c.offered && (offered[0].Text != c.want || offered[0].ID != channel.EventID("matrix", id)) {
				t.Errorf("%s: offered is %+v", name, offered)
			}
			switch {
			case taken && c.offered:
				if h.count() != 0 {
					t.Errorf("%s: it is a message as well: %+v", name, h.last())
				}
			case h.last().Text != c.want || h.count() != 1:
				t.Errorf("%s: the message is %+v", name, h.last())
			}
			if kept, err := h.journal.Chats.Message(t.Context(), "matrix", id); err != nil || kept.Text != c.text {
				t.Errorf("%s: kept is %+v, %v", name, kept, err)
			}
		}
	}
}
