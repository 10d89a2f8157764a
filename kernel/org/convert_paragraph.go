package org

import (
	"strings"
	"unicode/utf8"
)

// paragraphLine opens a line of text, or holds it while it may be a heading.
func (c *Converter) paragraphLine(l, trimmed string, complete bool) (n int, ok bool) {
	if !c.paragraph && len(c.containers) == 0 && !c.footnotes {
		if utf8.RuneCountInString(l) <= titleLimit {
			if complete {
				c.held, c.holding = l, true
			}
			return 0, complete
		}
	}
	return c.openParagraph(l, trimmed, complete)
}

func (c *Converter) openParagraph(l, trimmed string, complete bool) (n int, ok bool) {
	used := len(l) - len(trimmed)
	continues := c.paragraph
	if c.bullet != "" {
		prefix := c.bullet
		c.bullet = ""
		c.beginText(prefix, false)
		c.paragraph = true
		return used, true
	}
	if continues && c.carried != "" {
		if n, ok = c.continueText(trimmed, complete); n > 0 || !ok {
			return used + n, ok
		}
	}
	if c.apart {
		c.blank = max(c.blank, 1)
	}
	n, ok = c.textLine(c.indent()+c.quoteMark(), trimmed, used, complete, continues)
	c.paragraph = c.paragraph || ok
	return n, ok
}

// heldLine decides by the next line whether the held line is a heading. used says that the next
// line was its underline.
func (c *Converter) heldLine(l string, complete bool) (used, decided bool) {
	trimmed := strings.TrimRight(l, " \t")
	under := strings.TrimLeft(trimmed, " ")
	level := 0
	switch {
	case under == "" && !complete:
		return false, false
	case under != "" && strings.Trim(under, "=") == "":
		level = 1
	case under != "" && strings.Trim(under, "-") == "":
		level = 2
	}
	if level > 0 && !complete {
		return false, false
	}
	if level > 0 && len(trimmed)-len(under) > 3 {
		level = 0
	}
	if c.underline {
		c.underline = false
		if level > 0 {
			c.own = level
		}
		return level > 0, true
	}
	if level == 0 {
		c.flushHeld()
		return false, true
	}
	c.holding = false
	c.heading(level, strings.TrimSpace(c.held))
	return true, true
}

// flushHeld writes the held line as a paragraph, and a held table.
func (c *Converter) flushHeld() {
	if c.holding {
		c.holding = false
		n, _ := c.openParagraph(c.held, c.held[indentation(c.held):], true)
		c.runText(c.held[n:], true)
	}
	c.flushTable()
}

// maxCarried is how many lines a construct may be carried over, so that an opening without an end
// does not hold the text back for long.
const maxCarried = 8

// endLine converts the end of a line's text. A construct that the paragraph's next line may close,
// such as an emphasis, is carried over to it, unless the line ends in a line break.
func (c *Converter) endLine(rest string) {
	for rest != "" {
		n := c.text.step(rest, false)
		if n == 0 && c.paragraph && c.dialect == Markdown && !endsInBreak(rest) && maySpanLines(rest) {
			c.carried = strings.TrimRight(rest, " \t")
			return
		}
		if n == 0 {
			n = c.text.step(rest, true)
		}
		rest = rest[n:]
	}
}

func endsInBreak(l string) bool { return strings.HasSuffix(l, "  ") || strings.HasSuffix(l, `\`) }

// maySpanLines reports whether a text begins a construct that it does not end, and that may end on
// another line.
func maySpanLines(text string) bool {
	switch text[0] {
	case '*', '_', '~':
		return runLength(text, text[0]) < len(text)
	case '`':
		return true
	case '[':
		return strings.IndexByte(text, ']') < 0
	case '!':
		return strings.HasPrefix(text, "![") && strings.IndexByte(text, ']') < 0
	}
	return strings.HasPrefix(text, "$$") || strings.HasPrefix(text, `\(`) || strings.HasPrefix(text, `\[`)
}

// continueText reads the next line of a paragraph together with the text that was carried over. It returns
// how many bytes of the line it used, 0 if the line does not belong to the paragraph.
func (c *Converter) continueText(l string, complete bool) (n int, decided bool) {
	next := " " + l[:min(len(l), spanLimit)]
	for c.carried != "" {
		n = c.carriedToken(next, false)
		switch {
		case n > len(c.carried):
			n -= len(c.carried) + 1
			c.carried, c.midLine = "", true
			c.takeText()
			return n, true
		case n > 0:
			c.carried = c.carried[n:]
		case !complete:
			c.takeText()
			return 0, false
		case endsInBreak(l):
			c.flushCarried()
		case strings.Count(c.carried, "\n")+1 == maxCarried:
			c.carried = c.carried[c.carriedToken("", true):]
		default:
			c.takeText()
			c.carried += "\n" + strings.TrimRight(l, " \t")
			return len(l), true
		}
	}
	c.takeText()
	return 0, true
}

// flushCarried writes the text that was carried over, because nothing that follows could close it.
func (c *Converter) flushCarried() {
	for c.carried != "" {
		n := c.carriedToken("", true)
		c.carried = c.carried[n:]
	}
	c.takeText()
}

// carriedToken writes the next token of the carried lines and returns its length. next is the text
// behind them. A line end within the token becomes a blank.
func (c *Converter) carriedToken(next string, final bool) int {
	line, rest, _ := strings.Cut(c.carried, "\n")
	switch {
	case line == "":
		return c.beginCarried(rest)
	case maySpanLines(line):
		return c.text.step(strings.ReplaceAll(c.carried, "\n", " ")+next, final)
	}
	n := c.text.step(line, false)
	if n == 0 {
		n = c.text.step(line, true)
	}
	return n
}

// beginCarried begins the next of the carried lines.
func (c *Converter) beginCarried(lines string) int {
	line, _, _ := strings.Cut(lines, "\n")
	c.takeText()
	c.carried = ""
	n, _ := c.textLine(c.indent()+c.quoteMark(), line, 0, true, true)
	c.midLine = false
	c.carried = "\n" + lines
	return 1 + n
}
