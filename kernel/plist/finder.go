package plist

import (
	"strings"
	"unicode/utf8"
)

// candidateKind is the notation of a candidate.
type candidateKind int

const (
	plainCandidate      candidateKind = iota // (:type …)
	quoteCandidate                           // '(:type …) or (quote (:type …))
	listCandidate                            // (list :type …)
	bareCandidate                            // (type request …)
	quotedBareCandidate                      // '(type request …) or (quote (type request …))
	jsonCandidate                            // {"type": …}
)

// quoted reports whether the plist stands after a quote or in a list.
func (k candidateKind) quoted() bool {
	return k == quoteCandidate || k == listCandidate || k == quotedBareCandidate
}

// bare reports whether the keys of the plist have no colons.
func (k candidateKind) bare() bool { return k == bareCandidate || k == quotedBareCandidate }

// candidate is a place in a model's text where a proposal may begin.
type candidate struct {
	kind   candidateKind
	start  int  // of the form, including its quote
	open   int  // of its ( or {
	end    int  // after its closer; -1 if it is not closed
	first  bool // only white space, comments and thoughts stand before it
	fenced bool // it is the first thing inside a fence
	fence  fence
}

// fence is an open code fence.
type fence struct {
	mark   byte // ` or ~, 0 for none
	count  int
	first  int  // offset of the first form or text inside; -1: none yet
	formed bool // it is a form, which ends before the closing line
}

// finder goes through a model's text once from the left and stops at candidates. It recognizes
// thoughts, fences, quoted strings and forms that are not candidates. The text may grow while it
// works (Stream). Then it looks again at the part that it could not decide, whose size is bounded.
type finder struct {
	text  string
	final bool // the text is complete

	pos       int
	first     int  // offset of the first text outside of thoughts; -1: none yet
	lineBlank bool // only blanks since the line began
	comment   bool // inside a ; comment
	info      bool // inside a fence's info string
	depth     int  // open parentheses of forms that are no candidates
	bare      bool // nothing but blanks since the first of them
	blocked   bool // inside a candidate that is not closed
	fence     fence
	look      int // how far the end of the construct at pos was searched
	floor     int // after the last fence mark or tag, which are not quotes

	thinking  string // the expected closing tag
	thought   bool   // thoughts were removed, which happens once
	thinkFrom int
	thinkTo   int

	count int         // candidates
	found []candidate // the first candidate, and the first at the start of a fence
}

func newFinder() *finder {
	return &finder{first: -1, lineBlank: true, bare: true, fence: fence{first: -1}}
}

// lookahead limits the blanks at the beginning of a candidate and the length of a fence's info
// word. It bounds the part of a growing text that is examined again.
const lookahead = 1024

// next returns the next candidate, or false if the text ends first. The caller continues with skip
// or block.
func (f *finder) next() (candidate, bool) {
	for f.pos < len(f.text) {
		switch {
		case f.thinking != "":
			f.think()
			if f.thinking != "" {
				return candidate{}, false
			}
			continue
		case f.info:
			if f.infoString() {
				return candidate{}, false
			}
			continue
		case f.comment:
			f.restOfLine()
			continue
		}
		c := f.text[f.pos]
		if f.lineBlank && (c == '`' || c == '~') && f.outside() {
			took, more := f.fenceLine()
			if more {
				return candidate{}, false
			}
			if took {
				continue
			}
		}
		took, more := false, false
		switch c {
		case '(', '{':
			found, ok, wait := f.open()
			if wait {
				return candidate{}, false
			}
			if ok {
				return found, true
			}
			continue
		case ')':
			f.close()
			continue
		case '<':
			took, more = f.tag()
		case '"':
			took, more = f.quoted()
		case ';':
			if f.first < 0 || f.fence.mark != 0 && (f.fence.first < 0 || f.fence.formed) {
				f.comment, took = true, true
			}
		}
		if more {
			return candidate{}, false
		}
		if !took {
			f.pass(c)
		}
	}
	return candidate{}, false
}

// outside reports whether a fence line may stand here.
func (f *finder) outside() bool {
	return !f.blocked && (f.depth == 0 || f.fence.mark != 0 && !f.fence.formed)
}

// pass processes one ordinary character.
func (f *finder) pass(c byte) {
	switch {
	case c == '\n':
		f.lineBlank = true
		f.pos++
	case classes[c]&blank != 0 || c == 0:
		f.pos++
	case c >= utf8.RuneSelf && isTrim(runeAt(f.text, f.pos)):
		f.pos += utf8.RuneLen(runeAt(f.text, f.pos))
	default:
		f.something(f.pos)
		f.pos++
	}
}

func runeAt(text string, i int) rune {
	c, _ := utf8.DecodeRuneInString(text[i:])
	return c
}

// something records that the text at offset i is neither blank nor a comment.
func (f *finder) something(i int) {
	f.lineBlank = false
	if f.first < 0 {
		f.first = i
	}
	if f.fence.mark != 0 && f.fence.first < 0 {
		f.fence.first = i
	}
	if f.depth > 0 {
		f.bare = false
	}
}

// skip continues after a form or string that ends at end.
func (f *finder) skip(start, end int) {
	f.something(start)
	f.pos = end
}

// note records a candidate.
func (f *finder) note(c candidate) {
	f.count++
	if len(f.found) == 0 || c.fenced && len(f.found) == 1 && !f.found[0].fenced {
		f.found = append(f.found, c)
	}
}

// after continues after a candidate. In a list of plists the next one may follow.
func (f *finder) after(c candidate) {
	bare := f.bare
	f.skip(c.start, c.end)
	f.bare = bare
}

// block continues inside a candidate that is not closed. It ignores everything there except a
// closing tag, which shows that the candidate was part of a thought.
func (f *finder) block(c candidate) {
	f.skip(c.start, c.open+1)
	f.blocked = true
}

// restOfLine skips a comment.
func (f *finder) restOfLine() {
	n := strings.IndexByte(f.text[f.pos:], '\n')
	if n < 0 {
		f.pos = len(f.text)
		return
	}
	f.pos += n
	f.comment = false
}

// infoString skips the rest of the line that opens a fence. If the fence consists of ` and the line
// contains another `, it was inline code and is read as prose.
func (f *finder) infoString() (more bool) {
	from := max(f.pos, f.look)
	n := strings.IndexAny(f.text[from:], "`\n")
	if f.fence.mark != '`' {
		n = strings.IndexByte(f.text[from:], '\n')
	}
	switch {
	case n < 0 && !f.final:
		f.look = len(f.text)
		return true
	case n < 0:
		f.pos = len(f.text)
		return false
	}
	f.info = false
	if f.text[from+n] == '`' {
		f.fence = fence{first: -1}
		f.look = 0
		return false
	}
	f.pos = from + n
	return false
}

// fenceLine processes a line that opens or closes a fence.
func (f *finder) fenceLine() (took, more bool) {
	mark, i := f.text[f.pos], f.pos
	for i < len(f.text) && f.text[i] == mark && i-f.pos < lookahead {
		i++
	}
	count := i - f.pos
	if i == len(f.text) && !f.final {
		return false, true
	}
	if count < 3 {
		return false, false
	}
	if f.fence.mark != 0 {
		if mark != f.fence.mark || count < f.fence.count {
			return false, false
		}
		for i < len(f.text) && (f.text[i] == ' ' || f.text[i] == '\t' || f.text[i] == '\r') && i-f.pos < lookahead {
			i++
		}
		switch {
		case i < len(f.text) && f.text[i] != '\n':
			return false, false
		case i == len(f.text) && !f.final:
			return false, true
		}
		f.something(f.pos)
		f.fence, f.depth, f.bare = fence{first: -1}, 0, true
		f.pos = i
		return true, false
	}
	for i < len(f.text) && infoWord(f.text[i]) && i-f.pos < lookahead {
		i++
	}
	for i < len(f.text) && (f.text[i] == ' ' || f.text[i] == '\t') && i-f.pos < lookahead {
		i++
	}
	if i+1 >= len(f.text) && !f.final && (i == len(f.text) || f.text[i] == '{') {
		return false, true
	}
	f.something(f.pos)
	f.fence = fence{mark: mark, count: count, first: -1}
	f.pos, f.floor = i, i
	f.info = infoBegins(f.text[i:])
	return true, false
}

// infoBegins reports whether rest, the text after a fence's mark and name, continues the info
// string ("{.lisp}", "title=x"). Otherwise it is the line's end or a form on the same line.
func infoBegins(rest string) bool {
	if rest == "" {
		return false
	}
	switch rest[0] {
	case '\n', '\r', '(', '\'':
		return false
	case '{':
		return len(rest) > 1 && rest[1] != '"' && rest[1] != '}' && classes[rest[1]]&blank == 0
	}
	return true
}

func infoWord(c byte) bool {
	return alphanumeric(c) || strings.IndexByte("_+.#-", c) >= 0
}

// open processes a ( or {, which may begin a candidate.
func (f *finder) open() (c candidate, ok, more bool) {
	i := f.pos
	kind, is, more := plainCandidate, false, false
	if !f.blocked && (f.depth == 0 || f.bare) {
		kind, is, more = f.begins(i)
	}
	if more && !f.final {
		return c, false, true
	}
	if is {
		c = candidate{kind: kind, start: i, open: i, end: -1, fence: f.fence}
		if i > f.floor && kind != jsonCandidate && (f.text[i-1] == '\'' || f.text[i-1] == '`') {
			c.start--
			switch kind {
			case plainCandidate:
				c.kind = quoteCandidate
			case bareCandidate:
				c.kind = quotedBareCandidate
			}
		}
		c.first = f.first < 0 || f.first == c.start
		c.fenced = f.fence.mark != 0 && (f.fence.first < 0 || f.fence.first == c.start)
		if kind != jsonCandidate || !f.final {
			return c, true, false
		}
		end, state := scanJSON(f.text, i)
		switch state {
		case jsonAction:
			c.end = end
			return c, true, false
		case jsonUnclosedAction:
			return c, true, false
		case jsonOther, jsonInvalid:
			f.skip(i, end)
		case jsonUnclosed:
			f.skip(i, i+1)
			f.blocked = true
		}
		return c, false, false
	}
	if f.text[i] == '{' {
		f.skip(i, i+1)
		return c, false, false
	}
	if i+face >= len(f.text) && !f.final {
		return c, false, true
	}
	if f.fence.mark != 0 && f.fence.first < 0 {
		f.fence.formed = true
	}
	bare := f.depth == 0 || f.bare
	f.skip(i, i+1)
	if !f.emoticon(i) {
		f.depth++
		f.bare = bare
	}
	return c, false, false
}

// face is how many characters after a ( decide whether it is an emoticon.
const face = 3

// emoticon reports whether the ( at i belongs to an emoticon and opens nothing: ":(" ":-(" "(:".
func (f *finder) emoticon(i int) bool {
	ends := func(j int) bool {
		return j >= len(f.text) || classes[f.text[j]]&blank != 0 || strings.IndexByte(".,!?", f.text[j]) >= 0
	}
	eyes := func(j int) bool {
		return j >= 0 && j < len(f.text) && strings.IndexByte(":;=", f.text[j]) >= 0
	}
	nose := func(j int) bool { return j >= 0 && j < len(f.text) && strings.IndexByte("-'", f.text[j]) >= 0 }
	switch {
	case ends(i + 1):
		return eyes(i-1) || nose(i-1) && eyes(i-2)
	case eyes(i + 1):
		return ends(i + 2)
	case nose(i + 1):
		return eyes(i+2) && ends(i+3)
	}
	return false
}

func (f *finder) close() {
	i := f.pos
	f.skip(i, i+1)
	if f.depth > 0 {
		f.depth--
	}
	if f.depth == 0 {
		f.bare = true
	}
}

// begins reports whether a candidate begins with the ( or { at i. more is true if the text ends
// before that is decided.
func (f *finder) begins(i int) (kind candidateKind, is, more bool) {
	j := blanksAfter(f.text, i+1)
	if j >= len(f.text) {
		return kind, false, j-i < lookahead
	}
	if f.text[i] == '{' {
		return jsonCandidate, f.text[j] == '"', false
	}
	word := tokenAt(f.text, j)
	if j+len(word) >= len(f.text) && len(word) < lookahead && !f.final {
		return kind, false, true
	}
	switch strings.ToLower(word) {
	case ":type", ":target", ":action":
		return plainCandidate, true, false
	case "list":
		kind = listCandidate
	case "quote":
		kind = quoteCandidate
	case "type":
		kind = bareCandidate
	default:
		return kind, false, false
	}
	j = blanksAfter(f.text, j+len(word))
	next := tokenAt(f.text, j)
	if j+len(next) >= len(f.text) && j-i < lookahead && len(next) < lookahead && !f.final {
		return kind, false, true
	}
	switch kind {
	case bareCandidate:
		switch strings.TrimPrefix(strings.ToLower(next), ":") {
		case "request", "response", "log", "event":
			return kind, true, false
		}
	case listCandidate:
		switch strings.ToLower(next) {
		case ":type", ":target", ":action":
			return kind, true, false
		}
	case quoteCandidate:
		if j < len(f.text) && f.text[j] == '(' && j-i < lookahead {
			return f.quotes(j)
		}
	}
	return kind, false, false
}

// quotes does the same as begins for the ( at i after (quote.
func (f *finder) quotes(i int) (kind candidateKind, is, more bool) {
	switch strings.ToLower(tokenAt(f.text, blanksAfter(f.text, i+1))) {
	case "quote", "list":
		return kind, false, false
	}
	kind, is, more = f.begins(i)
	if kind == bareCandidate {
		return quotedBareCandidate, is, more
	}
	return quoteCandidate, is, more
}

// blanksAfter returns the offset after the ASCII blanks at i, of which it skips at most lookahead.
func blanksAfter(text string, i int) int {
	end := min(len(text), i+lookahead)
	for i < end && classes[text[i]]&blank != 0 {
		i++
	}
	return i
}

// tokenAt returns the ASCII token at i, cut after lookahead.
func tokenAt(text string, i int) string {
	i = min(i, len(text))
	j := i
	for j < len(text) && j-i < lookahead && classes[text[j]]&word != 0 {
		j++
	}
	return text[i:j]
}

// quoted skips a string in prose: from a quote that follows no letter or digit to the next quote in
// the same paragraph.
func (f *finder) quoted() (took, more bool) {
	i := f.pos
	if f.blocked || i > 0 && (f.text[i-1] == '\\' || alphanumeric(f.text[i-1])) {
		return false, false
	}
	j := max(i+1, f.look)
	for j < len(f.text) {
		switch f.text[j] {
		case '\\':
			if j+1 == len(f.text) && !f.final {
				f.look = j
				return false, true
			}
			j++
		case '"':
			f.skip(i, j+1)
			return true, false
		case '\n':
			k := j + 1
			for k < len(f.text) && k-j < lookahead && (f.text[k] == '\r' || f.text[k] == ' ' || f.text[k] == '\t') {
				k++
			}
			if k == len(f.text) && !f.final {
				f.look = j
				return false, true
			}
			if k < len(f.text) && f.text[k] == '\n' {
				f.look = 0 // no quote is left in the paragraph to look for again
				return false, false
			}
		}
		j++
	}
	f.look = j
	return false, !f.final
}

func alphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

// tags are the tags that models write around their thoughts.
var tags = [...]string{"think", "thinking", "reasoning"}

// tag processes an opening tag, or a closing tag that was never opened.
func (f *finder) tag() (took, more bool) {
	if f.thought || f.pos > 0 && f.text[f.pos-1] == '`' {
		return false, false
	}
	rest := f.text[f.pos+1:]
	closing := strings.HasPrefix(rest, "/")
	rest = strings.TrimPrefix(rest, "/")
	for _, name := range tags {
		if len(rest) <= len(name) && !f.final && strings.EqualFold(rest, name[:len(rest)]) {
			return false, true
		}
		if len(rest) <= len(name) || rest[len(name)] != '>' || !strings.EqualFold(rest[:len(name)], name) {
			continue
		}
		switch {
		case !closing && !f.blocked && (f.fence.mark == 0 || f.fence.first < 0):
			f.thinkFrom = f.pos
			f.thinking = "</" + name + ">"
			f.pos += len(name) + 2
			f.thinkTo = f.pos
			f.think()
			return true, false
		case closing && (len(f.found) == 0 || !f.found[0].first || f.found[0].end >= 0):
			end := f.pos + len(name) + 3
			*f = finder{text: f.text, final: f.final, pos: end, first: -1, lineBlank: true, bare: true,
				fence: fence{first: -1}, thought: true, thinkTo: end, floor: end}
			return true, false
		}
	}
	return false, false
}

// think looks for the closing tag. Without one, the rest of the text is a thought.
func (f *finder) think() {
	for f.pos < len(f.text) {
		n := strings.IndexByte(f.text[f.pos:], '<')
		if n < 0 {
			f.pos = len(f.text)
			break
		}
		f.pos += n
		rest := f.text[f.pos:]
		if len(rest) < len(f.thinking) && !f.final {
			if strings.EqualFold(rest, f.thinking[:len(rest)]) {
				return
			}
		} else if len(rest) >= len(f.thinking) && strings.EqualFold(rest[:len(f.thinking)], f.thinking) {
			f.pos += len(f.thinking)
			f.thinking, f.thought, f.thinkTo, f.lineBlank, f.floor = "", true, f.pos, true, f.pos
			return
		}
		f.pos++
	}
	if f.final {
		f.thinking, f.thought, f.thinkTo = "", true, len(f.text)
	}
}
