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
		if n, ok = c.goOn(trimmed, complete); n > 0 || !ok {
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

// heldLine decides, by the next line, whether the line before was a heading. used says
// that the next line was its underline.
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

// flushHeld writes the held line as the paragraph it was, and a held table.
func (c *Converter) flushHeld() {
	if c.holding {
		c.holding = false
		n, _ := c.openParagraph(c.held, c.held[indentation(c.held):], true)
		c.runText(c.held[n:], true)
	}
	c.flushTable()
}

// maxCarried is how many lines may be carried over: a text that only seems to begin
// something must not wait for long.
const maxCarried = 8

// endLine converts the end of a line's text. What a paragraph's next line may close, an
// emphasis say, is carried over to it, unless the line ends in a line break.
func (c *Converter) endLine(rest string) {
	for rest != "" {
		n := c.text.step(rest, false)
		if n == 0 && c.paragraph && c.dialect == Markdown && !endsInBreak(rest) && mayGoOn(rest) {
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

// mayGoOn tells the beginnings of what may end on another line, if text does not end it.
func mayGoOn(text string) bool {
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

// goOn reads the next line of a paragraph together with what was carried over to it. It
// returns how much of the line that used up: 0 if it is a line of its own.
func (c *Converter) goOn(l string, complete bool) (n int, decided bool) {
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

// flushCarried writes what was carried over: nothing follows that could close it.
func (c *Converter) flushCarried() {
	for c.carried != "" {
		n := c.carriedToken("", true)
		c.carried = c.carried[n:]
	}
	c.takeText()
}

// carriedToken writes the next token of the lines that were carried over, where next comes
// behind them, and returns its length; a line end within it is a blank.
func (c *Converter) carriedToken(next string, final bool) int {
	line, rest, _ := strings.Cut(c.carried, "\n")
	switch {
	case line == "":
		return c.beginCarried(rest)
	case mayGoOn(line):
		return c.text.step(strings.ReplaceAll(c.carried, "\n", " ")+next, final)
	}
	n := c.text.step(line, false)
	if n == 0 {
		n = c.text.step(line, true)
	}
	return n
}

// beginCarried begins a line that was carried over and turned out to be one of its own.
func (c *Converter) beginCarried(lines string) int {
	line, _, _ := strings.Cut(lines, "\n")
	c.takeText()
	c.carried = ""
	n, _ := c.textLine(c.indent()+c.quoteMark(), line, 0, true, true)
	c.midLine = false
	c.carried = "\n" + lines
	return 1 + n
}
