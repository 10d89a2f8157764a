package rpctest

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// buffer is the text of a chat buffer, and the parts of it that are previews. The draft is the last
// heading, if that has no id.
type buffer struct {
	text     string
	previews map[string]*span // by act id
}

// span is a part of the text, in bytes.
type span struct {
	start, end int
	newline    bool // a newline was added after it
	turn       string
}

var (
	headingLine = regexp.MustCompile(`(?m)^(\*+) .*$`)
	idLine      = regexp.MustCompile(`(?m)^[ \t]*:ID:[ \t]+(\S+)[ \t]*$`)
)

// replace replaces the text from start to end, and moves the previews after it. A preview that it
// overlaps grows to contain the new text.
func (b *buffer) replace(start, end int, text string) {
	b.text = b.text[:start] + text + b.text[end:]
	grown := len(text) - (end - start)
	for _, p := range b.previews {
		switch {
		case end <= p.start:
			p.start += grown
			p.end += grown
		case start < p.end:
			p.start = min(p.start, start)
			p.end = max(p.end, end) + grown
		}
	}
}

// withoutPreviews returns the text without the previews.
func (b *buffer) withoutPreviews() string {
	spans := slices.SortedFunc(maps.Values(b.previews), func(p, q *span) int { return p.start - q.start })
	var text strings.Builder
	from := 0
	for _, p := range spans {
		text.WriteString(b.text[from:p.start])
		if from = p.end; p.newline {
			from++
		}
	}
	text.WriteString(b.text[from:])
	return text.String()
}

// ids returns the ids in the text, in order.
func (b *buffer) ids() []string {
	var ids []string
	for _, m := range idLine.FindAllStringSubmatch(b.text, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

func (b *buffer) hasID(id string) bool {
	_, _, found := b.heading(id)
	return found
}

// heading returns the start and the level of the heading with the id.
func (b *buffer) heading(id string) (start, level int, found bool) {
	for from := 0; ; {
		at := strings.Index(b.text[from:], id)
		if at < 0 {
			return 0, 0, false
		}
		at += from
		from = at + len(id)
		before := strings.LastIndexByte(b.text[:at], '\n') + 1
		line, _, _ := strings.Cut(b.text[before:], "\n")
		if m := idLine.FindStringSubmatch(line); m == nil || m[1] != id {
			continue
		}
		for before > 0 {
			end := before - 1
			before = strings.LastIndexByte(b.text[:end], '\n') + 1
			if m := headingLine.FindStringSubmatch(b.text[before:end]); m != nil {
				return before, len(m[1]), true
			}
		}
	}
}

// subtreeEnd returns the end of the subtree whose heading begins at start.
func (b *buffer) subtreeEnd(start, level int) int {
	for at := start; ; {
		next := strings.Index(b.text[at:], "\n*")
		if next < 0 {
			return len(b.text)
		}
		at += next + 1
		line, _, _ := strings.Cut(b.text[at:], "\n")
		if m := headingLine.FindStringSubmatch(line); m != nil && len(m[1]) <= level {
			return at
		}
	}
}

// draftStart returns the start of the draft, or the end of the text if there is no draft.
func (b *buffer) draftStart() int {
	last := strings.LastIndex(b.text, "\n* ") + 1
	if !strings.HasPrefix(b.text[last:], "* ") || idLine.MatchString(b.text[last:]) {
		return len(b.text)
	}
	return last
}

// questionPosition returns where a question is inserted: at the end of its parent's subtree if that
// is in the text, otherwise before the draft.
func (b *buffer) questionPosition(parent string) int {
	if parent == "" {
		return b.draftStart()
	}
	if start, level, found := b.heading(parent); found {
		return b.subtreeEnd(start, level)
	}
	return b.draftStart()
}

// insert inserts text on lines of its own and returns its span.
func (b *buffer) insert(at int, text string) span {
	if at > 0 && b.text[at-1] != '\n' {
		b.replace(at, at, "\n")
		at++
	}
	b.replace(at, at, text)
	s := span{start: at, end: at + len(text)}
	if !strings.HasSuffix(text, "\n") && s.end < len(b.text) {
		b.replace(s.end, s.end, "\n")
		s.newline = true
	}
	return s
}

// answerPosition returns where the answer to an event is inserted: at the end of the question's
// subtree. If somebody deleted the question, it inserts a heading with these words before the draft,
// and the answer comes below that.
func (b *buffer) answerPosition(event, words string) int {
	start, level, found := b.heading(event)
	if found {
		return b.subtreeEnd(start, level)
	}
	return b.insert(b.draftStart(), "* Re: "+words+"\n").end
}

// preview adds text at a code point offset to the preview of an act. It returns false, and changes
// nothing, if there is a gap before the offset.
func (b *buffer) preview(act, turn, event, words string, offset int, text string) bool {
	p := b.previews[act]
	if p == nil || offset == 0 {
		if offset > 0 {
			return false
		}
		b.dropPreview(act)
		s := b.insert(b.answerPosition(event, words), text)
		s.turn = turn
		b.previews[act] = &s
		return true
	}
	have := utf8.RuneCountInString(b.text[p.start:p.end])
	if offset > have {
		return false
	}
	if known := have - offset; known > 0 { // a merged delta may repeat text that is in the buffer
		runes := []rune(text)
		text = string(runes[min(known, len(runes)):])
	}
	start, end := p.start, p.end
	b.replace(end, end, text)
	p.start, p.end = start, end+len(text)
	if p.newline && strings.HasSuffix(text, "\n") {
		b.replace(p.end, p.end+1, "")
		p.newline = false
	}
	return true
}

// dropPreview removes the preview of an act.
func (b *buffer) dropPreview(act string) {
	if p := b.previews[act]; p != nil {
		delete(b.previews, act)
		end := p.end
		if p.newline {
			end++
		}
		b.replace(p.start, end, "")
	}
}

// emacsPosition converts an offset to a buffer position of Emacs, which counts characters from one.
func (b *buffer) emacsPosition(at int) int {
	return utf8.RuneCountInString(b.text[:at]) + 1
}

var waitingHeading = regexp.MustCompile(`(?m)^\*+ TODO (?:Approve: |May I |Answer: ).*\n:PROPERTIES:\n:ID:[ \t]+(\S+)$`)

// openHeadings returns the ids of the headings that wait for a person.
func (b *buffer) openHeadings() []string {
	var ids []string
	for _, m := range waitingHeading.FindAllStringSubmatch(b.text, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

// closeWaiting replaces a subtree that waited for a person by the closed one. If the person changed
// the subtree, it replaces only the heading and its drawer.
func (b *buffer) closeWaiting(waiting, closed string) {
	if at := strings.Index(b.text, waiting); at >= 0 && waiting != "" {
		b.replace(at, at+len(waiting), closed)
		return
	}
	before, _, drawer := strings.Cut(waiting, ":END:\n")
	before += ":END:\n"
	if at := strings.Index(b.text, before); at >= 0 && drawer {
		b.replace(at, at+len(before), closed)
	}
}
