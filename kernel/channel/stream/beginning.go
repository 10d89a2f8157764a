package stream

import (
	"strings"
	"unicode/utf8"

	"org-agent/kernel/channel/outbox"
	"org-agent/kernel/channel/rich"
)

// more is the end of a text that goes on.
const more = "…"

// beginning returns what a chat shows of an answer whose text so far is said: as much as a message takes, with an ellipsis.
// begun reports whether there is anything but that. The beginning of [outbox.Silence] is nothing.
func beginning(said string, limit int) (text rich.Text, begun bool) {
	said = said[:whole(said, 4*limit)]
	if strings.HasPrefix(outbox.Silence, strings.TrimSpace(said)) {
		return rich.Plain(more), false
	}
	said, silent := outbox.Said(said)
	if silent {
		return rich.Plain(more), false
	}
	pieces := rich.FromModel(said).Chunks(limit - 2)
	if len(pieces) == 0 || strings.TrimSpace(pieces[0].Plain) == "" {
		return rich.Plain(more), false
	}
	text = pieces[0]
	end := " "
	for _, s := range text.Spans {
		if s.End == len(text.Plain) && (s.Style == rich.Block || s.Style == rich.Quote) {
			end = "\n"
		}
	}
	if last := text.Plain[len(text.Plain)-1]; last == '\n' || last == ' ' && end == " " {
		end = ""
	}
	text.Plain += end + more
	return text, true
}

// whole returns the longest length up to most at which a text can be cut between two characters.
func whole(text string, most int) int {
	if len(text) <= most {
		return len(text)
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return most
}
