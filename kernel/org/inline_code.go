package org

import (
	"strings"
	"unicode/utf8"
)

// closingTicks returns the length of the code span at the start of text, which begins with n
// backticks. It is 0 if no run of exactly n closes the span.
func closingTicks(text string, n int) int {
	for i := n; i < len(text); {
		tick := strings.IndexByte(text[i:], '`')
		if tick < 0 {
			return 0
		}
		i += tick
		run := runLength(text[i:], '`')
		if run == n {
			return i + run
		}
		i += run
	}
	return 0
}

func (c *inline) codeSpan(text string, final bool) (n int, decided bool) {
	run := runLength(text, '`')
	if run == len(text) {
		return 0, final
	}
	limited := text[:min(len(text), spanLimit)]
	end := closingTicks(limited, run)
	if end == 0 {
		return 0, final || len(text) >= spanLimit
	}
	// A run at the end of the text may still become longer.
	if end == len(text) && !final {
		return 0, false
	}
	content := limited[run : end-run]
	if strings.HasPrefix(content, " ") && strings.HasSuffix(content, " ") && strings.TrimLeft(content, " ") != "" {
		content = content[1 : len(content)-1]
	}
	c.code(content)
	return end, true
}

// code writes verbatim text as ~x~, or as =x= where the content or the text around it would end ~x~
// early. If neither works it is written as plain text.
func (c *inline) code(content string) {
	content = blankControls(content)
	first, _ := utf8.DecodeRuneInString(content)
	last, _ := utf8.DecodeLastRuneInString(content)
	if c.cell && strings.IndexByte(content, '|') >= 0 {
		c.codeInCell(content)
		return
	}
	if content != "" && !isSpace(first) && !isSpace(last) {
		for _, marker := range []byte("~=") {
			if c.verbatimFits(content, marker) {
				if marker == '=' && c.cell && c.prev == 0 {
					c.write(zeroWidthSpace)
				}
				c.mark(content, marker)
				return
			}
		}
	}
	c.plain(content)
}

// codeInCell writes code that contains bars. In a table verbatim text cannot have any.
func (c *inline) codeInCell(content string) {
	for i, part := range strings.Split(content, "|") {
		if i > 0 {
			c.after = false
			c.vertical()
		}
		if part = strings.TrimSuffix(part, `\`); part != "" {
			c.code(part)
		}
	}
}

func (c *inline) verbatimFits(content string, marker byte) bool {
	if c.blocked(marker) || strings.IndexByte(c.active, marker) >= 0 {
		return false
	}
	span := string(marker) + content + string(marker)
	end, _ := verbatimEnd(span, marker, true)
	return end == len(span)
}

// plain writes a text and converts nothing in it.
func (c *inline) plain(content string) {
	literal := inline{cell: c.cell, prev: c.prev, literals: true, begun: true}
	literal.run(content, true)
	text := literal.out.String()
	for i := range len(text) {
		if isMarker(text[i]) {
			*c.opened.of(text[i]) = c.line + 1
		}
	}
	c.writePlain(text)
}

// blankControls replaces the controls that end a line with blanks. Bytes that are no valid text stay.
func blankControls(text string) string {
	at := 0
	for at < len(text) && !endsLine(text[at]) {
		at++
	}
	if at == len(text) {
		return text
	}
	out := []byte(text)
	for i := at; i < len(out); i++ {
		if endsLine(out[i]) {
			out[i] = ' '
		}
	}
	return string(out)
}

// endsLine reports whether a byte is a control that some program takes for the end of a line.
func endsLine(b byte) bool { return b == '\n' || b == '\v' || b == '\f' || b == '\r' }
