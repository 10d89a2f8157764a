package session

import (
	"slices"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/org"
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
	s.currentName.Store(&name)
	turn := &Turn{session: s, answer: "a", Record: journal.Turn{Level: 1}}
	p := &turn.preview
	first, second := &looker{}, &looker{}
	s.viewers.clients = []*attachment{{client: first, view: protocol.ViewSubtree}}
	turn.Preview("One *line*.\n\nTwo ")
	turn.Preview("One *line*.\n\nTwo lines.\n\n")
	if p.plain.converted != 0 || p.plain.chars != 0 || p.subtree.converted != len(p.raw) || first.text == "" {
		t.Fatalf("rendered: %d bytes of the view that nobody shows, %d of the other; shown: %q", p.plain.converted, p.subtree.converted, first.text)
	}
	s.viewers.clients = append(s.viewers.clients, &attachment{client: second, view: protocol.ViewPlain})
	turn.Preview("One *line*.\n\nTwo lines.\n\nThree ")
	if asked := turn.previewFrom(protocol.ViewPlain, 0); p.plain.converted != len(p.raw) || second.text == "" || second.text != asked.Text {
		t.Errorf("who came later was shown %q, and who asks gets %q", second.text, asked.Text)
	}
	s.viewers.clients = nil
	before := p.subtree.converted
	turn.Preview("One *line*.\n\nTwo lines.\n\nThree lines.\n\nFour ")
	if p.subtree.converted != before || p.plain.converted != before {
		t.Error("rendered for nobody")
	}
}

// TestHeldTagsOfOneText: a tag of the person's own is held in an answer, its own heading and the others. One that the person
// chooses while the answer is written is held in the next turn: an answer equals its preview.
func TestHeldTagsOfOneText(t *testing.T) {
	tags := []string{"robot"}
	s, name := &Session{sessions: &Sessions{config: Config{HeldTags: func() []string { return tags }}}}, "main"
	s.currentName.Store(&name)
	turn := &Turn{session: s, answer: "a", Record: journal.Turn{Level: 1}}
	shown := &looker{}
	s.viewers.clients = []*attachment{{client: shown, view: protocol.ViewSubtree}}
	const text = "* Plan :robot:\n** TODO One :x:Robot:\n** Two :later:\n"
	turn.Preview(text[:len(text)-10])
	tags = append(tags, "later")
	turn.Preview(text)
	subtree, plain := turn.compose(text)
	if !strings.HasPrefix(subtree, shown.text) || !strings.Contains(shown.text, ":robot\u200b:") {
		t.Errorf("shown is\n%s\nand the answer\n%s", shown.text, subtree)
	}
	for _, result := range []string{subtree, plain} {
		if strings.Contains(result, "obot:") || strings.Count(result, "obot\u200b:") != 2 || !strings.Contains(result, " :later:\n") {
			t.Errorf("the tag is not held, or another one is:\n%s", result)
		}
	}
	next := &Turn{session: s, answer: "b", Record: journal.Turn{Level: 1}}
	if subtree, _ := next.compose(text); strings.Contains(subtree, ":later:") {
		t.Errorf("the next answer is\n%s", subtree)
	}
}

// TestHeldTagsOfAsks: what a model wants to do and asks gives no heading the tag.
func TestHeldTagsOfAsks(t *testing.T) {
	a := protocol.Ask{ID: "i", Sort: protocol.AskApproval, PendingAction: protocol.PendingAction{Summary: "Do it :robot:", Effects: []string{"a\n* TODO b :robot:\n"}, Reason: "c"}}
	q := protocol.Ask{ID: "i", Sort: protocol.AskQuestion, Form: &protocol.QuestionForm{Title: "Is it so :robot:", Fields: []protocol.FormField{{Name: "n", Question: "x\n* y :robot:\nz"}}}}
	for _, ask := range []protocol.Ask{a, q} {
		for _, subtree := range []string{waitingSubtree(1, ask, "robot"), closedSubtree(1, ask, false, "robot"), closedSubtree(1, ask, true, "robot")} {
			for _, h := range org.Parse(subtree).Headings {
				if slices.Contains(h.Tags, "robot") {
					t.Errorf("the heading %q has the tag in\n%s", h.Title, subtree)
				}
			}
		}
		if open := closedSubtree(1, ask, false); !slices.Contains(org.Parse(open).Headings[0].Tags, "robot") {
			t.Errorf("without the person's choice it is no other than any:\n%s", open)
		}
	}
}

// TestPauseIsTheSlowestClientsWish: of the clients that show answers while they are written the one that
// wishes the longest pause is obeyed. The wish is kept when the client attaches again.
func TestPauseIsTheSlowestClientsWish(t *testing.T) {
	s := &Session{sessions: &Sessions{}}
	turn := &Turn{session: s}
	wish := func(want time.Duration) {
		t.Helper()
		if got := turn.Pause(); got != want {
			t.Errorf("the pause is %v and not %v", got, want)
		}
	}
	attach := func(id string, streams bool) {
		s.viewers.add(&attachment{client: viewer{id: id, streams: streams}, leave: func() {}}, false)
	}
	wish(0)
	attach("quick", true)
	attach("slow", true)
	attach("silent", false)
	s.viewers.setPause("silent", time.Second)
	wish(0)
	s.viewers.setPause("quick", 60*time.Millisecond)
	s.viewers.setPause("slow", 90*time.Millisecond)
	wish(90 * time.Millisecond)
	attach("slow", true)
	wish(90 * time.Millisecond)
	s.viewers.remove("slow")
	wish(60 * time.Millisecond)
}

// viewer is a client that may show answers while they are written.
type viewer struct {
	Client
	id      string
	streams bool
}

func (v viewer) ID() string { return v.id }
func (v viewer) Capabilities() protocol.Capabilities {
	return protocol.Capabilities{Streams: v.streams}
}
