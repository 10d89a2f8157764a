package org

import "strings"

// A fence is an open fenced block.
type fence struct {
	b       byte
	n       int    // length of the opening run
	columns int    // columns to remove from each line, behind the mark of the innermost quote
	kind    string // "src" or "example"
	prefix  string // indentation of its first and last line in Org
}

// openFence writes the first line of a block. A fence without a language becomes an example. In a list the body of a block is not indented: Org would take
// the indentation for code, and would turn tabs into blanks when it removes it.
func (c *Converter) openFence(l, prefix string) {
	c.flushBullet()
	columns := c.column + markdownColumn(l)
	l = l[indentation(l):]
	f := &fence{b: l[0], n: runLength(l, l[0]), columns: columns, prefix: prefix}
	kind, first := beginCode(languageName(l[f.n:]))
	f.kind = kind
	c.beginLine(f.prefix + first)
	c.fence = f
	c.paragraph = false
}

// fenceLine copies a line of a fenced block, or ends the block. In a list a line may be indented
// less than the list requires. In a quote it must have the quote's mark.
func (c *Converter) fenceLine(l string) {
	f := c.fence
	columns := 0
	for i, k := range c.containers {
		if !k.quote {
			columns += k.offset
			continue
		}
		l = takeIndent(l, columns)
		columns = 0
		trimmed := strings.TrimLeft(l, " ")
		if !strings.HasPrefix(trimmed, ">") {
			c.closeBlocks(i)
			c.fence = nil
			c.reread(l)
			return
		}
		l = strings.TrimPrefix(trimmed[1:], " ")
	}
	l = takeIndent(l, f.columns)
	trimmed := trimBlanks(strings.TrimRight(l, "\r"))
	if run := runLength(trimmed, f.b); run >= f.n && run == len(trimmed) && markdownColumn(l) < 4 {
		c.endFence()
		return
	}
	c.beginLine("")
	c.out.WriteString(escapedLine(l))
}

// reread reads a line that does not belong to a block like any other line.
func (c *Converter) reread(l string) {
	l = textOf(l)
	read := c.orgLine
	if c.dialect == Markdown {
		read = c.markdownLine
	}
	if n, _ := read(l, true); c.midLine {
		c.runText(l[n:], true)
	}
}

func (c *Converter) endFence() {
	if c.fence != nil {
		c.beginLine(c.fence.prefix + "#+end_" + c.fence.kind)
		c.fence = nil
	}
}

// escapedLine escapes a line of a block, so that Org finds the line as it came.
func escapedLine(l string) string {
	indent := indentation(l)
	rest := strings.TrimLeft(l[indent:], ",")
	if strings.HasPrefix(rest, "*") || strings.HasPrefix(rest, "#+") {
		return l[:indent] + "," + l[indent:]
	}
	return l
}

// indentedLine copies a line of code that is indented by four columns.
func (c *Converter) indentedLine(l string) {
	if !c.indented {
		c.flushBullet()
		c.beginLine(c.indent() + "#+begin_example")
		c.indented = true
		c.paragraph = false
	}
	c.beginLine("")
	c.out.WriteString(escapedLine(takeIndent(l, 4)))
}

func (c *Converter) endIndented() {
	if c.indented {
		c.indented = false
		blank := c.blank
		c.blank = 0
		c.beginLine(c.indent() + "#+end_example")
		if c.blank = blank; len(c.containers) > 0 {
			c.blank = min(blank, 1)
		}
	}
}
