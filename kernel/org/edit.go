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

// SubtreeEnd returns the offset behind the subtree of the heading whose :ID: is id: the
// start of the next heading line of the same or a higher level, or the end of text. It
// is false when no heading has the id.
func SubtreeEnd(text, id string) (offset int, ok bool) {
	h := Parse(text).FindID(id)
	if h == nil {
		return 0, false
	}
	return h.End, true
}

// DraftStart returns where the draft of a conversation begins: the first heading
// without :ID: behind the subtree of the last question or answer (a heading with an
// :ID: and the tag :user: or :agent:), or, in a text without any, the first heading
// without :ID:. It is false when there is no such heading; the draft is then empty.
func DraftStart(text string) (offset int, ok bool) {
	headings := Parse(text).Headings
	from := 0
	for _, h := range headings {
		if isTurn(h) {
			from = h.End
		}
	}
	for _, h := range headings {
		if h.Start >= from && h.ID() == "" {
			return h.Start, true
		}
	}
	return 0, false
}

func isTurn(h *Heading) bool {
	return h.ID() != "" && (slices.Contains(h.Tags, UserTag) || slices.Contains(h.Tags, AgentTag))
}

// InsertUnder puts a subtree at the end of the subtree of the heading whose :ID: is
// questionID. It is false when no heading has the id; see [InsertBeforeDraft].
//
// The exact rule, which the Emacs client follows as well: the place is [SubtreeEnd];
// if the text before it does not end in a line end, one is added in front; if the
// subtree does not end in one, one is added behind. No other byte changes.
func InsertUnder(text, questionID, subtree string) (Insertion, bool) {
	offset, ok := SubtreeEnd(text, questionID)
	if !ok {
		return Insertion{}, false
	}
	return insertionAt(text, offset, subtree), true
}

// InsertBeforeDraft puts a subtree where the draft begins, or at the end of a text
// without a draft, with the line ends of [InsertUnder].
func InsertBeforeDraft(text, subtree string) Insertion {
	offset, ok := DraftStart(text)
	if !ok {
		offset = len(text)
	}
	return insertionAt(text, offset, subtree)
}

// AppendTurn adds an answer to a conversation: under its question, or, if that is
// gone, before the draft under a heading "* Re: WORDS" made of the question's text.
func AppendTurn(text, questionID, questionText, answer string) Insertion {
	if insertion, ok := InsertUnder(text, questionID, answer); ok {
		return insertion
	}
	return InsertBeforeDraft(text, ReHeading(questionText)+answer)
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
