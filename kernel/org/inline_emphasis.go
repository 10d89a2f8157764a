package org

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// isMarker reports whether a byte is one of Org's emphasis markers.
func isMarker(b byte) bool {
	return b == '*' || b == '/' || b == '_' || b == '+' || b == '=' || b == '~'
}

// openings has for each of Org's markers the line number+1 of a plain character that Org may take for an
// opening, 0 for none.
type openings [len(orgMarkers)]int

const orgMarkers = "*/_+=~"

func (o *openings) of(marker byte) *int { return &o[strings.IndexByte(orgMarkers, marker)] }

// literal writes one special character that begins no construct.
func (c *inline) literal(text string, final bool) int {
	b := text[0]
	switch {
	case b == '|' && c.cell:
		c.vertical()
	case b == '\\' && c.cell && len(text) > 1 && text[1] == '|':
		c.vertical()
		return 2
	case b == '`':
		n := len(text) - len(strings.TrimLeft(text, "`"))
		c.write(text[:n])
		return n
	case isMarker(b) && c.markdown && !c.inURL:
		n := runLength(text, b)
		if !final && !utf8.FullRuneInString(text[n:]) {
			return 0
		}
		c.markers(text, n, false)
		return n
	default:
		if b == '*' || b == '<' || b == '|' {
			c.inURL = false
		}
		c.write(text[:1])
	}
	return 1
}

// markers writes the run of n emphasis markers at the start of text as plain characters. The run is
// broken up where Org would take it for the end of an emphasis, or where an emphasis may begin. If
// it was escaped on purpose, it is kept from being a beginning at once.
func (c *inline) markers(text string, n int, escaped bool) {
	if c.after {
		c.write(zeroWidthSpace)
	}
	b := text[0]
	next, _ := utf8.DecodeRuneInString(text[n:])
	atEnd := len(text) == n
	ends := c.mayEnd(b) && (atEnd || mayFollowEmphasis(next))
	switch {
	case n > 1 && (ends || mayPrecedeEmphasis(c.prev)):
		c.breakRun(b, n-1)
		n = 1
	case ends && !isSpace(c.prev):
		c.write(zeroWidthSpace)
	}
	opens := mayPrecedeEmphasis(c.prev) && !atEnd && !isSpace(next)
	c.write(strings.Repeat(text[:1], n))
	switch {
	case opens && escaped:
		c.write(zeroWidthSpace)
	case opens:
		*c.opened.of(b) = c.line + 1
	}
}

// breakRun writes n markers with zero-width spaces between, so that none begins or ends an
// emphasis.
func (c *inline) breakRun(marker byte, n int) {
	if c.mayEnd(marker) && !isSpace(c.prev) {
		c.write(zeroWidthSpace)
	}
	c.write(strings.Repeat(string(marker)+zeroWidthSpace, n))
}

// mayEnd reports whether Org may be within an emphasis that this marker would end.
func (c *inline) mayEnd(marker byte) bool {
	return c.prev != 0 && (c.blocked(marker) || strings.IndexByte(c.active, marker) >= 0)
}

// blocked reports whether Org would read an emphasis together with a plain character before it.
func (c *inline) blocked(marker byte) bool {
	opened := *c.opened.of(marker)
	return c.markdown && opened > 0 && c.line+1-opened <= 1
}

// emphasis handles *x*, **x**, _x_, __x__ and ~~x~~.
func (c *inline) emphasis(text string, final bool) (n int, decided bool) {
	b := text[0]
	length := runLength(text, b)
	if length == len(text) && !final || !final && !utf8.FullRuneInString(text[length:]) {
		return 0, false
	}
	if !c.markdown && (b == '_' || length < 2) || b == '~' && length != 2 {
		return c.plainRun(text, length)
	}
	opens, _ := flanking(c.source, text, 0, length)
	if !opens {
		return c.plainRun(text, length)
	}
	if left, ok := c.noCloser[b]; ok && len(text) <= left {
		return c.plainRun(text, length)
	}
	match, closers, decided := findCloser(text, c.source, length, final)
	if !decided {
		return 0, false
	}
	if match.use == 0 {
		if !closers && final {
			if c.noCloser == nil {
				c.noCloser = map[byte]int{}
			}
			c.noCloser[b] = len(text)
		}
		if match.used > 0 && c.markdown {
			// The rest of the run begins an inner emphasis, and this part must not begin one.
			n = length - match.used
			c.breakRun(b, n)
			return n, true
		}
		if b == '*' && match.bold && c.markdown && mayPrecedeEmphasis(c.prev) {
			c.breakRun(b, length)
			return length, true
		}
		return c.plainRun(text, length)
	}
	c.emphasize(text[match.use:match.end-match.use], orgMarker(b, match.use))
	return match.end, true
}

// plainRun writes a run of delimiters as text.
func (c *inline) plainRun(text string, length int) (int, bool) {
	if c.markdown {
		c.markers(text, length, false)
	} else {
		c.write(text[:length])
	}
	return length, true
}

func orgMarker(b byte, use int) byte {
	switch {
	case b == '~':
		return '+'
	case use == 2:
		return '*'
	}
	return '/'
}

// emphasize writes content between markers if Org reads them as markers there, and else without.
func (c *inline) emphasize(content string, marker byte) {
	inner := inline{
		markdown: c.markdown, cell: c.cell, inLink: c.inLink, begun: true, links: c.links,
		active: c.active + string(marker), opened: c.opened, line: c.line,
	}
	plain := strings.IndexByte(c.active, marker) >= 0 || c.blocked(marker)
	if plain {
		inner.active, inner.prev = c.active, c.prev
	}
	inner.run(content, true)
	rendered := inner.out.String()
	c.opened = inner.opened
	first, _ := utf8.DecodeRuneInString(rendered)
	last, _ := utf8.DecodeLastRuneInString(rendered)
	if plain || rendered == "" || isSpace(first) || isSpace(last) {
		c.writePlain(rendered)
		return
	}
	c.mark(rendered, marker)
}

// mark writes converted text between two markers, separated from letters around it.
func (c *inline) mark(rendered string, marker byte) {
	start := c.prev == 0 && c.active != "" // the content of the outer emphasis begins here
	if !start && !mayPrecedeEmphasis(c.prev) || c.after || c.prev == '-' {
		c.after = false
		c.write(zeroWidthSpace)
	}
	c.write(string(marker) + rendered + string(marker))
	c.after = true
}

func runLength(text string, b byte) int {
	n := 0
	for n < len(text) && text[n] == b {
		n++
	}
	return n
}

// flanking reports whether the run text[i:i+n] may open and close emphasis by CommonMark's rules.
// before is the character in front of text.
func flanking(before rune, text string, i, n int) (opens, closes bool) {
	if i > 0 {
		before, _ = utf8.DecodeLastRuneInString(text[:i])
	}
	after := rune(0)
	if i+n < len(text) {
		after, _ = utf8.DecodeRuneInString(text[i+n:])
	}
	spaceBefore, spaceAfter := before == 0 || isSpace(before), after == 0 || isSpace(after)
	markBefore, markAfter := isPunctuation(before), isPunctuation(after)
	left := !spaceAfter && (!markAfter || spaceBefore || markBefore)
	right := !spaceBefore && (!markBefore || spaceAfter || markAfter)
	// By CommonMark's rule emphasis beside CJK punctuation is plain text. Models mean emphasis
	// there.
	if !left && !right && !spaceBefore && !spaceAfter {
		left, right = markAfter, markBefore
	}
	if text[i] == '_' {
		return left && (!right || markBefore), right && (!left || markAfter)
	}
	return left, right
}

func isPunctuation(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

// A closerMatch is the outermost emphasis that begins at the start of a text.
type closerMatch struct {
	use  int  // delimiters on each side, 0 if no emphasis begins there
	end  int  // length of the whole
	used int  // delimiters of the opening run that belong to inner emphasis
	bold bool // an emphasis that Org writes with the same marker may follow directly
}

// maxDelimiters bounds the delimiters and code spans within an emphasis. With more of them it is
// plain text.
const maxDelimiters = 24

type delimiterRun struct {
	b    byte
	left int
	size int
	both bool
}

// findCloser matches the opening run of length n at the start of text by CommonMark's delimiter
// stack, until the run is used up. closers says whether there was any closing run of its kind.
func findCloser(text string, before rune, n int, final bool) (match closerMatch, closers, decided bool) {
	opens, closes := flanking(before, text, 0, n)
	stack := []delimiterRun{{text[0], n, n, opens && closes}}
	limit := min(len(text), spanLimit)
	seen := 0
	for i := n; i < limit; {
		if seen == maxDelimiters {
			return closerMatch{bold: true}, true, true
		}
		skip, known := skipOpaque(text[i:limit], final || len(text) >= spanLimit)
		if !known {
			return closerMatch{}, false, false
		}
		if skip > 0 {
			i += skip
			seen++
			continue
		}
		b := text[i]
		if b != '*' && b != '_' && b != '~' {
			i++
			continue
		}
		seen++
		length := runLength(text[i:], b)
		match.bold = match.bold || length > 1 && b != '~'
		if !final && (i+length == len(text) || !utf8.FullRuneInString(text[i+length:])) {
			return match, false, len(text) >= spanLimit
		}
		opens, closes := flanking(before, text, i, length)
		if b == '~' {
			opens, closes = opens && length == 2, closes && length == 2
		}
		run := delimiterRun{b, length, length, opens && closes}
		closers = closers || closes && b == text[0]
		if closes {
			var done bool
			if stack, done = closeRuns(stack, &run, &match, i, length); done {
				return match, true, true
			}
		}
		if opens && run.left > 0 {
			stack = append(stack, run)
		}
		i += length
	}
	match.use = 0
	return match, closers, final || len(text) >= spanLimit
}

// closeRuns matches a closing run at offset i with the openings on the stack. done is true when the
// bottom of the stack is used up.
func closeRuns(stack []delimiterRun, run *delimiterRun, match *closerMatch, i, length int) ([]delimiterRun, bool) {
	for run.left > 0 {
		k := len(stack) - 1
		for k >= 0 && !matches(stack[k], *run) {
			k--
		}
		if k < 0 {
			break
		}
		use := 1
		if stack[k].left >= 2 && run.left >= 2 {
			use = 2
		}
		stack[k].left -= use
		run.left -= use
		stack = stack[:k+1]
		if k == 0 {
			match.used += use
		}
		if stack[k].left > 0 {
			continue
		}
		if k == 0 {
			match.use, match.end = use, i+length-run.left
			return stack, true
		}
		stack = stack[:k]
	}
	return stack, false
}

func matches(open, closing delimiterRun) bool {
	if open.b != closing.b {
		return false
	}
	if (open.both || closing.both) && (open.size+closing.size)%3 == 0 {
		return open.size%3 == 0 && closing.size%3 == 0
	}
	return true
}

// skipOpaque returns the length of a construct in which delimiters do not count: an escape, a code
// span, a link's destination, an autolink.
func skipOpaque(text string, final bool) (n int, known bool) {
	switch text[0] {
	case '\\':
		if len(text) > 1 {
			_, size := utf8.DecodeRuneInString(text[1:])
			return 1 + size, true
		}
		return 1, final
	case '`':
		run := runLength(text, '`')
		if end := closingTicks(text, run); end > 0 {
			return end, true
		}
		return run, final
	case '[':
		return skipLink(text, final)
	case '<':
		if n := htmlTag(text); n > 0 {
			return n, true
		}
		if end := strings.IndexByte(text, '>'); end > 0 && !strings.ContainsAny(text[:end], " \t") {
			return end + 1, true
		}
		if final || strings.ContainsAny(text, " \t") {
			return 1, true
		}
		return 0, false
	}
	return 0, true
}

// skipLink returns the length of the inline link at the start of text, because links bind tighter
// than emphasis. If there is no link it returns the length of the bracket.
func skipLink(text string, final bool) (n int, known bool) {
	closing, known := closingBracket(text, final)
	switch {
	case !known:
		return 0, false
	case closing == 0:
		return 1, true
	case closing == len(text):
		return 1, final
	case text[closing] != '(':
		return 1, true
	}
	if end := destinationEnd(text[closing:]); end > 0 {
		return closing + end, true
	}
	return 1, final
}
