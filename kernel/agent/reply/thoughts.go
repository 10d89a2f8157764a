package reply

import (
	"strings"

	"org-agent/kernel/plist"
)

// thoughts shows what a model thinks, a batch at a time. Thoughts come beside the reply, or in it
// between tags.
type thoughts struct {
	turn  *Turn
	apart strings.Builder // those that came beside the reply
	shown int             // bytes of them that were shown
	tags  int             // bytes of those between tags that were shown
}

func (t *thoughts) write(text string) { t.apart.WriteString(text) }

// flush shows what is new. The text between is all that has come between tags.
func (t *thoughts) flush(between string) {
	t.pass(t.apart.String()[t.shown:])
	t.shown = t.apart.Len()
	if len(between) > t.tags {
		t.pass(between[t.tags:])
		t.tags = len(between)
	}
}

// pass shows a piece. An empty line stands between the thoughts of two replies.
func (t *thoughts) pass(text string) {
	if text == "" {
		return
	}
	if t.turn.thought && t.shown+t.tags == 0 {
		text = "\n\n" + text
	}
	t.turn.thought = true
	t.turn.Screen.Thought(text)
}

// finish shows the rest when the whole reply is there.
func (t *thoughts) finish(reply string) {
	between := ""
	if strings.Contains(reply, "<") {
		between = plist.Recover(reply, plist.RecoverOptions{}).Thought
	}
	t.flush(between)
}
