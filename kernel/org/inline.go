package org

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// zeroWidthSpace turns live syntax into plain text. Org counts it as a blank, so it also separates
// emphasis from letters.
const zeroWidthSpace = "\u200b"

// spanLimit is how far an inline construct may reach, in bytes. An opening without an end within
// this length is plain text, so a stray delimiter costs bounded time.
const spanLimit = 2048

// wordLimit bounds the words that are read as a whole (link types, src_…, call_…).
const wordLimit = 64

// inline converts the text within a line. It gets a line in pieces. A token without its end stays
// undecided, so the output never depends on where the pieces were cut.
type inline struct {
	out      bytes.Buffer
	markdown bool
	literals bool   // nothing is converted: the text is neither Markdown nor Org
	cell     bool   // in a table cell
	inLink   bool   // in a link's description
	inURL    bool   // behind "https:", until a blank
	active   string // emphasis markers around the text
	prev     rune   // last rune written on this line, 0 at its start
	source   rune   // last rune read on this line, 0 at its start
	begun    bool   // something was written on this line
	after    bool   // an emphasis just ended
	apart    bool   // a construct that was written as plain text just ended
	opened   openings
	line     int               // counts lines of the paragraph
	links    map[string]string // reference definitions seen, by lower-case label
	noCloser map[byte]int      // delimiter -> bytes left of the line when none was found
}

// startLine resets the state of a line, startParagraph that of a paragraph.
func (c *inline) startLine() {
	c.line++
	c.prev, c.source, c.after, c.apart, c.inURL, c.begun = 0, 0, false, false, false, false
	c.noCloser = nil
}

func (c *inline) startParagraph() {
	c.opened = openings{}
	c.line = 0
}

// run converts what is decided of text, the rest of a line, and returns its length. With final the
// text is the whole rest, and all of it is converted.
func (c *inline) run(text string, final bool) int {
	i := 0
	for i < len(text) {
		n := c.step(text[i:], final)
		if n == 0 {
			break
		}
		i += n
	}
	return i
}

// step converts the first token of text and returns its length, 0 if more text is needed.
func (c *inline) step(text string, final bool) int {
	n := c.token(text, final)
	if n > 0 {
		c.source = lastRune(text[:n])
	}
	return n
}

// lastRune returns the last character of text. A NUL counts as no text, because it means that there
// is no character.
func lastRune(text string) rune {
	r, _ := utf8.DecodeLastRuneInString(text)
	if r == 0 {
		return utf8.RuneError
	}
	return r
}

// isSpecial reports whether an ASCII byte may begin a construct.
func isSpecial(b byte) bool {
	switch b {
	case '\\', '*', '_', '/', '+', '=', '~', '`', '[', '!', '<', '{', '@', '$', '%', '&', '-', '^', '|', ' ', '\t', '\r', '\f', '\v':
		return true
	}
	return false
}

func isAlnum(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9'
}

// token converts one token of text and returns its length, 0 if more text is needed.
func (c *inline) token(text string, final bool) int {
	b := text[0]
	switch {
	case isAlnum(b):
		if n := plainWords(text); n > 0 {
			c.inURL = false
			c.write(text[:n])
			return n
		}
		return c.word(text, final)
	case b >= utf8.RuneSelf:
		return c.runes(text, final)
	case !isSpecial(b):
		if b == '>' || b == '"' || b == ')' || b == ']' {
			c.inURL = false
		}
		c.write(text[:1])
		return 1
	case b == ' ' || b == '\t' || b == '\r' || b == '\f' || b == '\v':
		return c.blanks(text, final)
	}
	if n, decided := c.orgLink(text, final); !decided || n > 0 {
		return n
	}
	before, begun := c.out.Len(), c.begun
	if n, decided := c.construct(text, final); !decided || n > 0 {
		if n > 0 && !begun {
			c.guardStart(before)
		}
		return n
	}
	return c.literal(text, final)
}

// guardStart breaks up the output from an offset on, which a construct wrote at the start of a
// line, if it would be read as the start of another element. An example is the text of something
// that turned out not to be a link.
func (c *inline) guardStart(from int) {
	written := c.out.String()
	if text := strings.TrimLeft(written[from:], " "); text != "" {
		b := text[0]
		if isLetter(b) && strings.IndexByte("sdcSDC", b) < 0 {
			return // no planning line begins like this
		}
		if b >= utf8.RuneSelf || strings.IndexByte("*/~=[$\\<", b) >= 0 || b == '+' && !strings.HasPrefix(text, "+-") {
			return
		}
	}
	c.begun = true
	if from == len(written) {
		c.write(zeroWidthSpace)
		return
	}
	c.out.Reset()
	c.out.WriteString(written[:from] + zeroWidthSpace + written[from:])
}

// writePlain appends the text of a construct that is dropped, separated from the text beside it:
// together they could be live syntax.
func (c *inline) writePlain(text string) {
	if text == "" {
		return
	}
	if c.prev != 0 && !isSpace(c.prev) && strings.IndexByte("(\"'", byte(min(c.prev, utf8.RuneSelf))) < 0 {
		text = zeroWidthSpace + text
	}
	c.write(text)
	c.apart = true
}

// write appends text that is neither blank nor special.
func (c *inline) write(text string) {
	if text == "" {
		return
	}
	if c.apart {
		c.apart = false
		if !strings.ContainsRune(".,;!?)\"'", rune(text[0])) {
			c.out.WriteString(zeroWidthSpace)
		}
	}
	if c.after {
		c.after = false
		if first, _ := utf8.DecodeRuneInString(text); !mayFollowEmphasis(first) {
			c.out.WriteString(zeroWidthSpace)
		}
	}
	c.out.WriteString(text)
	c.begun = true
	c.prev = lastRune(text)
}

func mayPrecedeEmphasis(r rune) bool {
	return r == 0 || r == '-' || r == '(' || r == '\'' || r == '"' || r == '{' || isSpace(r)
}

func mayFollowEmphasis(r rune) bool {
	return strings.ContainsRune("-.,:!?;'\")}\\[", r) || isSpace(r)
}

// isSpace follows Emacs's syntax for white space: Unicode blanks and the zero-width space.
func isSpace(r rune) bool { return unicode.IsSpace(r) || r == '\u200b' }

func (c *inline) runes(text string, final bool) int {
	n := 0
	for n < len(text) && text[n] >= utf8.RuneSelf {
		if !final && !utf8.FullRuneInString(text[n:]) {
			break
		}
		_, size := utf8.DecodeRuneInString(text[n:])
		n += size
	}
	c.write(text[:n])
	return n
}

// blanks holds blanks back until text follows them, because a line must not end in blanks.
func (c *inline) blanks(text string, final bool) int {
	n := 0
	for n < len(text) && (text[n] == ' ' || text[n] == '\t' || endsLine(text[n])) {
		n++
	}
	if n == len(text) && !final {
		return 0
	}
	c.inURL = false
	if n == len(text) {
		return n
	}
	c.after, c.apart = false, false
	c.out.WriteString(blankControls(text[:n]))
	c.prev = ' '
	return n
}

// plainWords returns the length of the words at the start of text that consist only of letters and
// digits, each with one blank behind it. Most texts consist mainly of them. The last word of text
// is not counted, because more of it may follow.
func plainWords(text string) int {
	end, start := 0, 0
	for i := range len(text) {
		switch b := text[i]; {
		case b == ' ':
			if i == start || i+1 == len(text) || !isAlnum(text[i+1]) {
				return end
			}
			start, end = i+1, i+1
		case !isAlnum(b) || i-start == wordLimit-1:
			return end
		}
	}
	return end
}

// word handles a run of letters and digits, with single "-" and "+" inside.
func (c *inline) word(text string, final bool) int {
	n := 1
	for n < len(text) && n < wordLimit {
		if !isAlnum(text[n]) {
			if text[n] != '-' && text[n] != '+' {
				break
			}
			if n+1 == len(text) && !final {
				return 0
			}
			if n+1 >= len(text) || !isAlnum(text[n+1]) {
				break
			}
		}
		n++
	}
	if n < wordLimit && n == len(text) && !final {
		return 0
	}
	if n < len(text) && text[n] == ':' {
		if n+1 == len(text) && !final {
			return 0
		}
		kind := strings.ToLower(text[strings.LastIndexAny(text[:n], "-+")+1 : n])
		if isHarmlessLink(kind) && n+1 < len(text) && strings.IndexByte(" \t\r", text[n+1]) < 0 {
			c.inURL = true
		}
	}
	c.write(text[:n])
	return n
}

// construct handles the constructs of Markdown that Org does not have. It returns the length of
// what it wrote, 0 if the text begins none.
func (c *inline) construct(text string, final bool) (n int, decided bool) {
	if !c.markdown {
		if n, decided = c.orgConstruct(text, final); n > 0 || !decided {
			return n, decided
		}
	}
	if c.literals || c.inURL && text[0] != '*' && text[0] != '`' {
		return 0, true
	}
	switch text[0] {
	case '\\':
		return c.escape(text, final)
	case '`':
		return c.codeSpan(text, final)
	case '*', '_', '~':
		return c.emphasis(text, final)
	case '[':
		return c.bracket(text, final)
	case '!':
		return c.image(text, final)
	case '<':
		return c.angle(text, final)
	case '&':
		return c.entity(text, final)
	case '$':
		return c.dollars(text, final)
	}
	return 0, true
}

// orgConstruct keeps Org's own verbatim spans whole in Org text.
func (c *inline) orgConstruct(text string, final bool) (n int, decided bool) {
	b := text[0]
	if b != '=' && b != '~' || !mayPrecedeEmphasis(c.prev) || strings.HasPrefix(text, "~~") {
		return 0, true
	}
	end, decided := verbatimEnd(text, b, final)
	if end == 0 || !decided {
		return 0, decided
	}
	c.write(text[:end])
	return end, true
}

// verbatimEnd returns the length of the verbatim span at the start of text, as Org's regular
// expression finds it.
func verbatimEnd(text string, marker byte, final bool) (end int, decided bool) {
	limit := min(len(text), spanLimit)
	for i := 2; i < limit; i++ {
		if text[i] != marker {
			continue
		}
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		first, _ := utf8.DecodeRuneInString(text[1:])
		if isSpace(first) {
			return 0, true
		}
		if isSpace(before) {
			continue
		}
		if i+1 == len(text) {
			if final {
				return i + 1, true
			}
			return 0, false
		}
		if !final && !utf8.FullRuneInString(text[i+1:]) {
			return 0, false
		}
		if r, _ := utf8.DecodeRuneInString(text[i+1:]); mayFollowEmphasis(r) {
			return i + 1, true
		}
	}
	return 0, final || len(text) >= spanLimit
}
