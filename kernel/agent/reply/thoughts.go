package reply

import (
	"strings"

	"org-agent/kernel/plist"
)

// thoughts shows a model's thoughts in batches. They come apart from the reply, or in it between tags.
type thoughts struct {
	turn        *Turn
	beside      strings.Builder // those that came apart from the reply
	besideShown int             // bytes of beside that were shown
	taggedShown int             // bytes between tags that were shown
}

func (t *thoughts) write(text string) { t.beside.WriteString(text) }

// flush shows the new thoughts. tagged has all thoughts between tags so far.
func (t *thoughts) flush(tagged string) {
	t.show(t.beside.String()[t.besideShown:])
	t.besideShown = t.beside.Len()
	if len(tagged) > t.taggedShown {
		t.show(tagged[t.taggedShown:])
		t.taggedShown = len(tagged)
	}
}

// show shows a piece. An empty line separates the thoughts of two replies.
func (t *thoughts) show(text string) {
	if text == "" {
		return
	}
	if t.turn.hasThoughts && t.besideShown+t.taggedShown == 0 {
		text = "\n\n" + text
	}
	t.turn.hasThoughts = true
	t.turn.Screen.AddThought(text)
}

// finish shows the rest when the reply is complete.
func (t *thoughts) finish(reply string) {
	tagged := ""
	if strings.Contains(reply, "<") {
		tagged = plist.Recover(reply, plist.RecoverOptions{}).Thought
	}
	t.flush(tagged)
}
