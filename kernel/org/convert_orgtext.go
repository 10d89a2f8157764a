package org

import "strings"

// orgLine begins a line of Org text.
func (c *Converter) orgLine(l string, complete bool) (n int, ok bool) {
	if c.verbatim != "" || c.fence != nil {
		if complete {
			c.verbatimLine(l)
		}
		return 0, complete
	}
	if isBlank(l) {
		if complete {
			c.flushTable()
			c.paragraph = false
			c.blank++
		}
		return 0, complete
	}
	indent := indentation(l)
	trimmed := l[indent:]
	if trimmed[0] == '|' {
		if complete {
			if c.rows == nil {
				c.rowPrefix = l[:indent]
			}
			c.rows = append(c.rows, strings.TrimRight(trimmed, " \t"))
		}
		return 0, complete
	}
	c.flushTable()
	if c.blank > 1 {
		c.footnotes = false
	}
	switch trimmed[0] {
	case '*', '#':
		if used, decided := c.orgSpecial(l, trimmed, complete); used || !decided {
			c.paragraph = c.paragraph && !used
			return 0, decided
		}
	case '`', '~':
		kind, decided := fenceKind(trimmed, complete)
		if c.dialect != PureOrg && !decided {
			return 0, false
		}
		if kind == fenceLine && c.dialect != PureOrg {
			c.endFootnote()
			c.openFence(l, l[:indent])
			return 0, true
		}
	}
	return c.orgText(l, indent, complete)
}

// orgText opens a line of text, behind its indentation and bullet.
func (c *Converter) orgText(l string, indent int, complete bool) (n int, ok bool) {
	n, ok = c.textLine(l[:indent], l[indent:], indent, complete, c.paragraph)
	c.paragraph = c.paragraph || ok
	return n, ok
}

// orgSpecial handles headings and blocks. used says that the line was one of them.
func (c *Converter) orgSpecial(l, trimmed string, complete bool) (used, decided bool) {
	level, title, decided := c.headingLine(l, complete)
	if !decided || level > 0 && !complete {
		return false, false
	}
	if level > 0 {
		c.closeOrgBlocks()
		c.heading(level, title)
		return true, true
	}
	if trimmed[0] != '#' {
		return false, true
	}
	if len(trimmed) < 2 && !complete {
		return false, false
	}
	if !strings.HasPrefix(trimmed, "#+") {
		return false, true
	}
	if !complete {
		return false, false
	}
	begin, kind, rest, ok := blockDelimiter(trimmed)
	if !ok {
		return false, true
	}
	prefix := l[:len(l)-len(trimmed)]
	if begin {
		return c.beginOrgBlock(prefix, kind, rest), true
	}
	if len(c.open) > 0 && c.open[len(c.open)-1] == kind {
		c.open = c.open[:len(c.open)-1]
		c.beginLine(prefix + "#+end_" + kind)
		return true, true
	}
	return false, true
}

// beginOrgBlock opens a block that may stay Org, and returns false for any other.
func (c *Converter) beginOrgBlock(prefix, kind, rest string) bool {
	inVerse := len(c.open) > 0 && c.open[len(c.open)-1] == "verse"
	for _, open := range c.open {
		if open == kind {
			return false
		}
	}
	if inVerse {
		return false
	}
	first := prefix + "#+begin_" + kind
	c.verbatim, c.verbatimIn = "", ""
	switch kind {
	case "quote", "center", "verse":
		c.open = append(c.open, kind)
	case "src":
		c.verbatim, first = beginCode(languageName(rest))
		c.verbatimIn, first = kind, prefix+first
	case "example":
		c.verbatim, c.verbatimIn = kind, kind
		if language := heldLanguage(rest); language != "" {
			first += " " + zeroWidthSpace + language
		}
	default:
		return false
	}
	c.endFootnote()
	c.beginLine(first)
	return true
}

// verbatimLine copies a line of a block's body or ends the block. Text that a model escaped stays
// escaped once. What would end the conversation's section is escaped for the model.
func (c *Converter) verbatimLine(l string) {
	if c.verbatim == "" {
		c.fenceLine(l)
		return
	}
	if begin, kind, _, ok := blockDelimiter(strings.TrimRight(l, "\r")); ok && !begin && kind == c.verbatimIn {
		c.beginLine(l[:indentation(l)] + "#+end_" + c.verbatim)
		c.verbatim = ""
		return
	}
	c.beginLine("")
	indent := indentation(l)
	if rest := l[indent:]; strings.HasPrefix(rest, ",") {
		// The line is escaped already: one comma is removed before the line is escaped again.
		if escaped := strings.TrimLeft(rest, ","); strings.HasPrefix(escaped, "*") || strings.HasPrefix(escaped, "#+") {
			l = l[:indent] + rest[1:]
		}
	}
	c.out.WriteString(c.sourceLine(l, c.verbatim))
}

// closeOrgBlocks ends the blocks that are open, innermost first.
func (c *Converter) closeOrgBlocks() {
	blank := c.blank
	c.blank = 0
	if c.verbatim != "" {
		c.beginLine("#+end_" + c.verbatim)
		c.verbatim = ""
	}
	for i := len(c.open) - 1; i >= 0; i-- {
		c.beginLine("#+end_" + c.open[i])
	}
	c.open = nil
	c.blank = blank
}
