package org

import (
	"html"
	"strings"
	"unicode/utf8"
)

// escape handles a backslash in Markdown: math, a line's end, an escaped character.
func (c *inline) escape(text string, final bool) (n int, decided bool) {
	if !c.markdown {
		return 0, true
	}
	if len(text) == 1 {
		if !final {
			return 0, false
		}
		c.write(`\\`)
		return 1, true
	}
	next := text[1]
	if next == '(' || next == '[' {
		closing := `\)`
		if next == '[' {
			closing = `\]`
		}
		if n, decided = c.mathSpan(text, closing, final); n > 0 || !decided {
			return n, decided
		}
	}
	if next < '!' || next > '~' || isAlnum(next) {
		return 0, true
	}
	// The rest of the line decides how the character is written, as if it stood there without the
	// backslash.
	if len(text) == 2 && !final {
		return 0, false
	}
	c.escaped(text[1:])
	return 2, true
}

// escaped writes the first character of text so that it is never syntax.
func (c *inline) escaped(text string) {
	b := text[0]
	joins := c.prev == rune(b) || c.prev == '#' || c.prev == '%' || c.prev == '-' && b == '*'
	if joins || (b == '_' || b == ':') && c.prev < utf8.RuneSelf && isAlnum(byte(c.prev)) {
		c.write(zeroWidthSpace) // together they must not become what they would be without the backslash
	}
	switch {
	case c.prev == 0 && strings.IndexByte("-+*#|:", b) >= 0:
		c.write(zeroWidthSpace)
		if isMarker(b) {
			c.markers(text, 1, true)
			return
		}
		c.write(text[:1])
	case (b == '.' || b == ')') && c.prev >= '0' && c.prev <= '9' && !c.cell:
		c.write(zeroWidthSpace + text[:1])
	case b == '|' && c.cell:
		c.vertical()
	case isMarker(b):
		c.markers(text, 1, true)
	case strings.IndexByte("<{@%[$\\&`!^-", b) >= 0 && len(text) > 1 && strings.IndexByte(" \t.,;:!?", text[1]) < 0:
		c.write(text[:1] + zeroWidthSpace)
	default:
		c.write(text[:1])
	}
}

// vertical writes a bar inside a table cell.
func (c *inline) vertical() {
	c.write(`\vert{}`)
	c.after = false
}

// entity decodes a character reference whose character cannot become syntax.
func (c *inline) entity(text string, final bool) (n int, decided bool) {
	const longest = 32
	end := strings.IndexAny(text[1:min(len(text), longest)], "; \t&<")
	if end < 0 {
		return 0, final || len(text) >= longest
	}
	end++
	if text[end] != ';' || end < 3 || !c.markdown {
		return 0, true
	}
	decoded := html.UnescapeString(text[:end+1])
	if decoded == text[:end+1] {
		return 0, true
	}
	first, _ := utf8.DecodeRuneInString(decoded)
	switch {
	case first >= utf8.RuneSelf || decoded == "&" || decoded == "'" || decoded == `"`:
		c.write(decoded)
	case len(decoded) > 1 || first <= ' ' || first == 0x7f || isAlnum(decoded[0]):
		return 0, true
	case end+1 == len(text) && !final:
		return 0, false // the text behind it decides how it is written
	default:
		c.escaped(decoded + text[end+1:])
	}
	return end + 1, true
}
