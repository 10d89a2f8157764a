package org

import (
	"strings"
)

// A container is a block quote or a list item that is open.
type container struct {
	quote  bool
	need   int  // columns by which an item's further lines must be indented; models count badly
	offset int  // columns an item's text is indented by
	width  int  // columns of Org indentation it adds
	ended  bool // a quote behind an empty line, which the next line does not continue
}

// markdownLine begins a line of Markdown.
func (c *Converter) markdownLine(l string, complete bool) (n int, ok bool) {
	if c.copies() {
		if complete {
			c.copyLine(l)
		}
		return 0, complete
	}
	if c.holding || c.underline {
		if used, decided := c.heldLine(l, complete); used || !decided {
			return 0, decided
		}
	}
	rest, matched := c.match(l)
	if isBlank(rest) {
		if complete {
			c.blankLine(matched)
		}
		return 0, complete
	}
	if used, decided := c.markdownElement(rest, matched, complete); used || !decided {
		return 0, decided
	}
	// The line may have to be looked at again when more of it has come, and must then be read alike.
	if rest[indentation(rest)] != '|' {
		c.flushTable()
	}
	kind, decided := c.surrounding(matched).kindOf(rest, complete)
	if !decided {
		return 0, false
	}
	if kind == tableLine {
		if matched < len(c.containers) {
			c.closeBlocks(matched)
		}
		c.endFootnote()
		c.addRow(rest)
		return 0, true
	}
	c.flushTable()
	lazy := kind == textLine && c.paragraph && c.bullet == ""
	if matched < len(c.containers) && !lazy {
		sibling := kind == itemLine && !c.containers[matched].quote
		c.closeBlocks(matched)
		return c.blockLine(kind, l, rest, complete, sibling)
	}
	return c.blockLine(kind, l, rest, complete, false)
}

// markdownElement copies a line that is Org and not Markdown. In a quote there is none, because it
// could end the quote.
func (c *Converter) markdownElement(l string, matched int, complete bool) (used, decided bool) {
	trimmed := l[indentation(l):]
	if c.inQuote(matched) || markdownColumn(l) >= tabStop {
		return false, true
	}
	used, decided = c.isElement(trimmed, complete)
	if used && decided {
		c.flushTable()
		c.closeBlocks(matched)
		c.endIndented()
		c.element(l, trimmed)
	}
	if decided {
		c.drawer = c.drawer && used
	}
	return used, decided
}

// blockLine writes a line whose kind is known and whose containers are open.
func (c *Converter) blockLine(kind lineKind, l, rest string, complete, sibling bool) (n int, ok bool) {
	if c.indented && kind != codeLine {
		c.endIndented()
	}
	if c.footnotes && kind != footnoteLine && (kind != textLine || c.blank > 0 && indentation(rest) == 0) {
		c.endFootnote()
	}
	c.defining = kind == definitionLine
	if kind != textLine {
		c.flushCarried()
	}
	trimmed := rest[indentation(rest):]
	switch kind {
	case quoteLine:
		c.openQuote()
		inner := strings.TrimPrefix(trimmed[1:], " ")
		if isBlank(inner) {
			return len(l), complete
		}
		return c.within(l, inner, complete)
	case itemLine:
		inner := c.openItem(rest, sibling)
		if isBlank(inner) {
			return len(l), complete
		}
		return c.within(l, inner, complete)
	case headingLine:
		level, title, _ := atxHeading(trimmed, true)
		c.anyHeading(level, title)
	case ruleLine:
		c.flushBullet()
		c.beginLine(c.indent() + "-----")
		c.paragraph = false
	case fenceLine:
		c.openFence(rest, c.indent())
	case codeLine:
		c.indentedLine(rest)
	case footnoteLine:
		return c.footnoteLine(l, trimmed, complete)
	case definitionLine:
		c.define(trimmed)
		return c.paragraphLine(l, trimmed, complete)
	case textLine:
		return c.paragraphLine(l, trimmed, complete)
	}
	return 0, true
}

// within continues with the text after the marker of a quote or an item on the same line. The
// marker is used in any case, so the text must be decidable.
func (c *Converter) within(l, rest string, complete bool) (n int, ok bool) {
	kind, _ := c.surrounding(len(c.containers)).kindOf(rest, complete)
	if kind == tableLine {
		c.flushBullet()
		c.addRow(rest)
		return len(l), true
	}
	return c.blockLine(kind, l, rest, complete, false)
}

func (c *Converter) blankLine(matched int) {
	c.flushTable()
	c.flushCarried()
	for i := matched; i < len(c.containers); i++ {
		c.containers[i].ended = c.containers[i].ended || c.containers[i].quote
	}
	c.flushBullet()
	c.paragraph = false
	c.blank++
	if len(c.containers) > 0 && !c.indented {
		c.blank = 1 // two empty lines would end a list in Org
	}
}

// match removes from a line the marks and the indentation of the open containers, as far as they
// match.
func (c *Converter) match(l string) (rest string, matched int) {
	c.column = 0
	for i, k := range c.containers {
		if k.quote {
			trimmed := strings.TrimLeft(l, " ")
			if k.ended || len(l)-len(trimmed) > 3 || !strings.HasPrefix(trimmed, ">") {
				return l, i
			}
			l = strings.TrimPrefix(trimmed[1:], " ")
			c.column = 0
			continue
		}
		if isBlank(l) {
			return l, len(c.containers)
		}
		column := markdownColumn(l)
		if column < k.need || column < k.offset && continuesNumbering(l) {
			return l, i
		}
		c.column += min(column, k.offset)
		l = takeIndent(l, k.offset)
	}
	return l, len(c.containers)
}

// continuesNumbering reports whether an item is not the first of its list. If it stands too far to
// the left for a list within an item, it belongs to the list around that item.
func continuesNumbering(l string) bool {
	l = l[indentation(l):]
	marker := itemMarker(l)
	return marker > 2 && strings.TrimLeft(l[:marker-2], "0") != "1"
}

// indent returns the indentation in Org for the open containers.
func (c *Converter) indent() string {
	width := 0
	for _, k := range c.containers {
		width += k.width
	}
	return strings.Repeat(" ", width)
}

// quoteMark marks a quote within a quote, because Org's blocks cannot be nested.
func (c *Converter) quoteMark() string { return strings.Repeat("> ", max(c.quotes()-1, 0)) }

func (c *Converter) quotes() int {
	depth := 0
	for _, k := range c.containers {
		if k.quote {
			depth++
		}
	}
	return depth
}

// inQuote reports whether a line that continues the outermost containers, as many as matched, stands
// in a quote: in one of these, or in one whose paragraph it continues without a mark. A quote that a
// blank line ended is still open, but the line is not in it.
func (c *Converter) inQuote(matched int) bool {
	for i, k := range c.containers {
		if k.quote && (i < matched || c.paragraph && !k.ended) {
			return true
		}
	}
	return false
}

func (c *Converter) openQuote() {
	c.flushBullet()
	if c.quotes() == 0 {
		c.beginLine(c.indent() + "#+begin_quote")
	}
	c.containers = append(c.containers, container{quote: true})
	c.paragraph, c.column = false, 0
}

// openItem opens a list item and returns the text behind its marker.
func (c *Converter) openItem(rest string, sibling bool) string {
	c.flushBullet()
	column := markdownColumn(rest)
	trimmed := rest[indentation(rest):]
	number := 0
	for number < len(trimmed) && trimmed[number] >= '0' && trimmed[number] <= '9' {
		number++
	}
	bullet, inner := "- ", trimmed[1:]
	if number > 0 {
		bullet, inner = trimmed[:number+1]+" ", trimmed[number+1:]
	}
	prefix := c.indent()
	blanks := markdownColumn(inner)
	if blanks > 4 || isBlank(inner) {
		blanks = 1 // the text is indented code, or stands on the next line
	}
	offset := column + len(bullet) - 1 + blanks
	c.containers = append(c.containers, container{need: min(column+2, offset), offset: offset, width: len(bullet)})
	c.column += offset
	if number > 0 && !sibling && strings.TrimLeft(trimmed[:number], "0") != "1" {
		bullet += "[@" + trimmed[:number] + "] "
	}
	if done, after, ok := checkbox(strings.TrimLeft(inner, " ")); ok {
		bullet += done + " "
		inner = after
	}
	c.bullet = prefix + bullet
	c.paragraph = false
	return strings.TrimLeft(inner, " \t")
}

// checkbox recognises "[ ] " and "[x] ".
func checkbox(l string) (box, rest string, ok bool) {
	if len(l) < 4 || l[0] != '[' || l[2] != ']' || l[3] != ' ' {
		return "", "", false
	}
	switch l[1] {
	case ' ':
		return "[ ]", l[4:], true
	case 'x', 'X':
		return "[X]", l[4:], true
	}
	return "", "", false
}

// flushBullet writes the marker of an item whose first line holds no text.
func (c *Converter) flushBullet() {
	if c.bullet != "" {
		bullet := strings.TrimRight(c.bullet, " ")
		c.bullet = ""
		c.beginLine(bullet)
	}
}

// closeBlocks closes containers until so many remain. Due empty lines are written behind them.
func (c *Converter) closeBlocks(keep int) {
	c.flushTable()
	c.flushCarried()
	c.flushBullet()
	blank := c.blank
	c.blank = 0
	c.endFence()
	c.endIndented()
	for len(c.containers) > keep {
		last := c.containers[len(c.containers)-1]
		c.containers = c.containers[:len(c.containers)-1]
		if last.quote && c.quotes() == 0 {
			c.beginLine(c.indent() + "#+end_quote")
		}
	}
	c.paragraph = false
	c.blank = blank
}

// anyHeading writes a heading. In a list or a quote, where Org has no headings, it is written as
// bold text.
func (c *Converter) anyHeading(level int, title string) {
	if len(c.containers) == 0 {
		c.heading(level, title)
		return
	}
	if title = strings.TrimRight(title, " \t\\"); title == "" {
		return
	}
	prefix := c.indent() + c.quoteMark()
	if c.bullet != "" {
		prefix, c.bullet = c.bullet, ""
	}
	if c.paragraph || c.apart {
		c.blank = max(c.blank, 1)
	}
	c.beginText(prefix, false)
	c.text.emphasize(title, '*')
	c.runText("", true)
	c.paragraph, c.apart = false, true
}

// footnoteLine writes "[^id]: text" as "[fn:id] text".
func (c *Converter) footnoteLine(l, trimmed string, complete bool) (n int, ok bool) {
	label, text, _ := strings.Cut(trimmed[2:], "]:")
	label, _ = footnoteLabel(label)
	c.beginText("[fn:"+label+"] ", false)
	c.paragraph, c.footnotes = true, true
	return len(l) - len(strings.TrimLeft(text, " \t")), true
}

// endFootnote ends a footnote definition with two empty lines. A block in a definition would end at
// its first two empty lines, and the text behind them would be Org.
func (c *Converter) endFootnote() {
	if c.footnotes {
		c.blank, c.footnotes = max(c.blank, 2), false
	}
}

// maxDefinitions bounds how many reference definitions are stored.
const maxDefinitions = 10_000

// define stores "[label]: url" for references behind it.
func (c *Converter) define(trimmed string) {
	label, rest, _ := strings.Cut(trimmed[1:], "]:")
	destination := strings.Trim(firstField(rest), "<>")
	if destination != "" && len(c.text.links) < maxDefinitions && len(label) < spanLimit {
		c.text.links[foldLabel(label)] = destination
	}
}

func firstField(text string) string {
	text = strings.TrimSpace(text)
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		return text[:i]
	}
	return text
}
