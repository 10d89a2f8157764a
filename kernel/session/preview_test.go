package session

import (
	"testing"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// looker is a client that shows answers while they are written.
type looker struct {
	Client
	text string
}

func (l *looker) Capabilities() protocol.Capabilities { return protocol.Capabilities{Streams: true} }
func (l *looker) Notify(_ string, params any)         { l.text += params.(protocol.TurnDelta).Text }

// TestPreviewsAreLazy: while an answer streams, a view that no client shows is not rendered. A client
// that shows it from then on, and one that asks for it, get all of it.
func TestPreviewsAreLazy(t *testing.T) {
	s, name := &Session{sessions: &Sessions{}}, "main"
	s.named.Store(&name)
	turn := &Turn{session: s, answer: "a", Record: journal.Turn{Level: 1}}
	p := &turn.preview
	first, second := &looker{}, &looker{}
	s.viewers.all = []*attached{{client: first, view: protocol.ViewSubtree}}
	turn.Preview("One *line*.\n\nTwo ")
	turn.Preview("One *line*.\n\nTwo lines.\n\n")
	if p.plain.read != 0 || p.plain.chars != 0 || p.subtree.read != len(p.raw) || first.text == "" {
		t.Fatalf("rendered: %d bytes of the view that nobody shows, %d of the other; shown: %q", p.plain.read, p.subtree.read, first.text)
	}
	s.viewers.all = append(s.viewers.all, &attached{client: second, view: protocol.ViewPlain})
	turn.Preview("One *line*.\n\nTwo lines.\n\nThree ")
	if asked := turn.previewFrom(protocol.ViewPlain, 0); p.plain.read != len(p.raw) || second.text == "" || second.text != asked.Text {
		t.Errorf("who came later was shown %q, and who asks gets %q", second.text, asked.Text)
	}
	s.viewers.all = nil
	before := p.subtree.read
	turn.Preview("One *line*.\n\nTwo lines.\n\nThree lines.\n\nFour ")
	if p.subtree.read != before || p.plain.read != before {
		t.Error("rendered for nobody")
	}
}
