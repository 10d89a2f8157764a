package rpctest

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// A buffer is the text of a chat buffer, and which parts of it are previews. The
// draft is its last heading, if that has no id.
type buffer struct {
	text     string
	previews map[string]*span // by act id
}

// A span is a part of the text, in bytes. newline: one was added behind it.
type span struct {
	start, end int
	newline    bool
	turn       string
}

var (
	headingLine = regexp.MustCompile(`(?m)^(\*+) .*$`)
	idLine      = regexp.MustCompile(`(?m)^[ \t]*:ID:[ \t]+(\S+)[ \t]*$`)
)

// replace puts text in the place of what stands from start to end, and moves the
// previews that stand behind. One that is touched takes the text in.
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

// settled is the text without the previews.
func (b *buffer) settled() string {
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

// ids lists the ids in the text, in order.
func (b *buffer) ids() []string {
	var ids []string
	for _, m := range idLine.FindAllStringSubmatch(b.text, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

func (b *buffer) has(id string) bool {
	_, _, found := b.heading(id)
	return found
}

// heading finds the heading with the id: where it begins, and its level.
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

// subtreeEnd is where the subtree of the heading that begins at start ends.
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

// draftStart is where the draft begins: the last heading of level 1 without an
// id, else the end.
func (b *buffer) draftStart() int {
	last := len(b.text)
	for _, m := range headingLine.FindAllStringSubmatchIndex(b.text, -1) {
		if m[3]-m[2] == 1 {
			last = m[0]
		}
	}
	if last == len(b.text) || idLine.MatchString(b.text[last:]) {
		return len(b.text)
	}
	return last
}

// questionPlace is where a question goes: the end of its parent's subtree if there is one,
// else before the draft.
func (b *buffer) questionPlace(parent string) int {
	if parent == "" {
		return b.draftStart()
	}
	if start, level, found := b.heading(parent); found {
		return b.subtreeEnd(start, level)
	}
	return b.draftStart()
}

// insert puts text at a place, on lines of its own, and returns where it stands.
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

// place is where the answer to event goes: the end of its subtree; where that
// has gone, before the draft under a heading with its words.
func (b *buffer) place(event, words string) int {
	start, level, found := b.heading(event)
	if found {
		return b.subtreeEnd(start, level)
	}
	return b.insert(b.draftStart(), "* Re: "+words+"\n").end
}

// preview puts text at code point offset of the preview of an act. False: there
// is a gap before it.
func (b *buffer) preview(act, turn, event, words string, offset int, text string) bool {
	p := b.previews[act]
	if p == nil || offset == 0 {
		if offset > 0 {
			return false
		}
		b.drop(act)
		s := b.insert(b.place(event, words), text)
		s.turn = turn
		b.previews[act] = &s
		return true
	}
	have := utf8.RuneCountInString(b.text[p.start:p.end])
	if offset > have {
		return false
	}
	if known := have - offset; known > 0 { // a merged delta may begin with what is there
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

// drop removes an act's preview.
func (b *buffer) drop(act string) {
	if p := b.previews[act]; p != nil {
		delete(b.previews, act)
		end := p.end
		if p.newline {
			end++
		}
		b.replace(p.start, end, "")
	}
}

// position is an Emacs buffer position: characters before it, plus one.
func (b *buffer) position(at int) int {
	return utf8.RuneCountInString(b.text[:at]) + 1
}

var waitingHeading = regexp.MustCompile(`(?m)^\*+ TODO (?:Approve: |May I |Answer: ).*\n:PROPERTIES:\n:ID:[ \t]+(\S+)$`)

// waiting is the ids of the headings that wait for a person.
func (b *buffer) waiting() []string {
	var ids []string
	for _, m := range waitingHeading.FindAllStringSubmatch(b.text, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

// close puts a closed subtree in the place of the one that waited; of one that was changed
// only the heading and its drawer.
func (b *buffer) close(waiting, closed string) {
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
