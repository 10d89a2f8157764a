package org

import (
	"slices"
	"strings"
)

// An Insertion is text to be put at a byte offset of another text. Nothing else changes.
type Insertion struct {
	Offset int
	Text   string
}

// Apply returns text with the insertion made.
func (i Insertion) Apply(text string) string {
	return text[:i.Offset] + i.Text + text[i.Offset:]
}

// subtreeEnd returns the offset behind the subtree of the heading whose :ID: is id: the start of
// the next heading line of the same or a higher level, or the end of text. ok is false when no
// heading has the id. Of a large text only the part between the headings of level 1 around the id
// is parsed.
func subtreeEnd(text, id string) (offset int, ok bool) {
	if id == "" {
		return 0, false
	}
	for from := 0; ; {
		at := strings.Index(text[from:], id)
		if at < 0 {
			return 0, false
		}
		start, end := topStart(text, from+at), topEnd(text, from+at)
		if h := Parse(text[start:end]).FindID(id); h != nil {
			return start + h.End, true
		}
		from = end
	}
}

// topStart returns the start of the last line at or before offset that begins a heading of level 1, or
// 0.
func topStart(text string, offset int) int {
	return strings.LastIndex(text[:min(len(text), offset+len("\n* "))], "\n* ") + 1
}

// topEnd returns the start of the next line behind offset that begins a heading of level 1, or the end
// of text.
func topEnd(text string, offset int) int {
	if next := strings.Index(text[offset:], "\n* "); next >= 0 {
		return offset + next + 1
	}
	return len(text)
}

// draftTag is the tag of a draft that stands below an old question or answer.
const draftTag = "draft"

// draftStart returns where the draft of a conversation begins: the first heading without :ID:
// behind the subtree of the last question or answer. A question or an answer is a heading with an
// :ID: and the tag :user: or :agent:. In a text without any it is the first heading without :ID:. A
// heading with the tag :draft: is another draft, which belongs to an old heading. ok is false when
// there is no such heading; the draft is then empty. Of a large text only the end is parsed, from a
// heading of level 1 on.
func draftStart(text string) (offset int, ok bool) {
	for size := 1 << 16; ; size *= 4 {
		start := 0
		if size < len(text) {
			start = topStart(text, len(text)-size)
		}
		offset, turns, ok := draftOf(text[start:])
		if turns || start == 0 {
			return start + offset, ok
		}
	}
}

// draftOf does the same as [draftStart], for a whole text. turns is true if the text has questions or answers.
func draftOf(text string) (offset int, turns, ok bool) {
	headings := Parse(text).Headings
	from := 0
	for _, h := range headings {
		if isTurn(h) {
			from, turns = h.End, true
		}
	}
	for _, h := range headings {
		switch {
		case h.Start < from || h.ID() != "":
		case slices.Contains(h.Tags, draftTag):
			from = h.End
		default:
			return h.Start, turns, true
		}
	}
	return 0, turns, false
}

func isTurn(h *Heading) bool {
	return h.ID() != "" && (slices.Contains(h.Tags, userTag) || slices.Contains(h.Tags, agentTag))
}

// InsertUnder puts a subtree at the end of the subtree of the heading whose :ID: is questionID. ok
// is false when no heading has the id; see [InsertBeforeDraft].
//
// The Emacs client follows the same exact rule: the place is [subtreeEnd]; if the text before it
// does not end in a line end, one is added in front; if the subtree does not end in one, one is
// added behind. No other byte changes.
func InsertUnder(text, questionID, subtree string) (Insertion, bool) {
	offset, ok := subtreeEnd(text, questionID)
	if !ok {
		return Insertion{}, false
	}
	return insertionAt(text, offset, subtree), true
}

// InsertBeforeDraft puts a subtree where the draft begins, or at the end of a text
// without a draft, with the line ends of [InsertUnder].
func InsertBeforeDraft(text, subtree string) Insertion {
	offset, ok := draftStart(text)
	if !ok {
		offset = len(text)
	}
	return insertionAt(text, offset, subtree)
}

func insertionAt(text string, offset int, subtree string) Insertion {
	if offset > 0 && text[offset-1] != '\n' {
		subtree = "\n" + subtree
	}
	if !strings.HasSuffix(subtree, "\n") {
		subtree += "\n"
	}
	return Insertion{offset, subtree}
}
