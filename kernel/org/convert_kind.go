package org

import "strings"

// A lineKind is what a line of Markdown is.
type lineKind int

const (
	textLine lineKind = iota
	headingLine
	quoteLine
	itemLine
	ruleLine
	fenceLine
	codeLine
	tableLine
	footnoteLine
	definitionLine
	elementLine // of Org
)

// A surrounding is what decides, in addition to the text of a Markdown line, how the line is read.
type surrounding struct {
	depth     int  // containers around it
	item      bool // the innermost is an item
	paragraph bool // a paragraph is open
	continues bool // the line continues the open containers, so that some constructs do not end the paragraph
	defining  bool // that paragraph consists of reference definitions
	indented  bool // an indented code block is open
	footnote  bool // a footnote's definition is open
}

// surrounding returns the surrounding of a line that continues the outermost containers, as many as
// given.
func (c *Converter) surrounding(containers int) surrounding {
	return surrounding{
		depth: containers, item: containers > 0 && !c.containers[containers-1].quote,
		paragraph: c.paragraph, continues: c.paragraph && containers == len(c.containers), defining: c.defining, indented: c.indented, footnote: c.footnotes,
	}
}

// kindOf decides the kind of a line without its containers. Lines that are converted as a whole
// (headings, rules, fences, tables, definitions) are decided when they are complete.
func (s surrounding) kindOf(l string, complete bool) (kind lineKind, decided bool) {
	trimmed := l[indentation(l):]
	if trimmed == "" {
		return textLine, complete
	}
	if s.isIndentedCode(l, trimmed) {
		return codeLine, complete
	}
	switch b := trimmed[0]; b {
	case '#':
		level, _, decided := atxHeading(trimmed, complete)
		if !decided || level > 0 && !complete {
			return headingLine, false
		}
		if level > 0 && !s.tooDeep(l) {
			return headingLine, true
		}
	case '>':
		return s.marked(quoteLine, trimmed[1:], complete)
	case '-', '*', '+', '_':
		kind, decided = s.markerKind(trimmed, complete)
		if kind == ruleLine && decided && s.tooDeep(l) {
			kind = textLine
		}
		return kind, decided
	case '`', '~':
		return fenceKind(trimmed, complete)
	case '|':
		return tableLine, complete
	case '[':
		return s.definitionKind(trimmed, complete)
	}
	if trimmed[0] >= '0' && trimmed[0] <= '9' {
		return s.numberKind(trimmed, complete)
	}
	return textLine, true
}

// tooDeep reports whether a line's indentation makes it continue the paragraph, whatever it begins
// with. Items and fences are recognised all the same, because models indent them by mistake.
func (s surrounding) tooDeep(l string) bool { return s.continues && markdownColumn(l) >= 4 }

// isIndentedCode reports whether a line is code because it is indented by four columns or more. A
// line that continues a paragraph, belongs to a footnote or is an item of a list is no code.
func (s surrounding) isIndentedCode(l, trimmed string) bool {
	if markdownColumn(l) < 4 || s.paragraph || s.footnote {
		return false
	}
	if s.indented || !s.item {
		return true
	}
	return itemMarker(trimmed) == 0 &&
		!strings.HasPrefix(trimmed, "```") && !strings.HasPrefix(trimmed, "~~~") && !strings.HasPrefix(trimmed, "|")
}

// marked waits until the text after the marker of a quote or an item is decided too, because both
// are written together. Beyond maxNesting a marker is text.
func (s surrounding) marked(kind lineKind, rest string, complete bool) (lineKind, bool) {
	if s.depth >= maxNesting {
		return textLine, true
	}
	if complete {
		return kind, true
	}
	if kind == quoteLine && (markdownColumn(rest) > 4 || markdownColumn(strings.TrimPrefix(rest, " ")) >= 4) {
		return kind, false // indented code, which is read as a whole line
	}
	rest = strings.TrimLeft(rest, " \t")
	if _, after, ok := checkbox(rest); ok {
		rest = strings.TrimLeft(after, " \t")
	} else if len(rest) < 4 && strings.HasPrefix(rest, "[") {
		return kind, false
	}
	if rest == "" {
		return kind, false
	}
	if kind == quoteLine {
		// The text of a quote begins a line of Org, so its guard must be decided too.
		if _, _, decided := guard(rest, false); !decided {
			return kind, false
		}
	}
	inner, decided := surrounding{depth: s.depth + 1, item: kind == itemLine}.kindOf(rest, false)
	return kind, decided && (inner == textLine || inner == quoteLine || inner == itemLine)
}

// markerKind decides whether a line that begins with - * + or _ is a rule, an item or text.
func (s surrounding) markerKind(l string, complete bool) (kind lineKind, decided bool) {
	if isRun(l) {
		if !complete {
			return ruleLine, false
		}
		if isRule(l) {
			return ruleLine, true
		}
	}
	if l[0] == '_' {
		return textLine, true
	}
	if len(l) == 1 {
		if s.continues {
			return textLine, true
		}
		return itemLine, true
	}
	if l[1] != ' ' && l[1] != '\t' {
		return textLine, true
	}
	return s.marked(itemLine, l[1:], complete)
}

// isRule reports whether a line is three or more - * or _, with blanks between them.
func isRule(l string) bool {
	l = trimBlanks(l)
	if l == "" || strings.IndexByte("-*_", l[0]) < 0 || !isRun(l) {
		return false
	}
	return strings.Count(l, l[:1]) >= 3
}

// isRun reports whether a line has nothing but its first character and blanks.
func isRun(l string) bool {
	for i := range len(l) {
		if l[i] != l[0] && l[i] != ' ' && l[i] != '\t' {
			return false
		}
	}
	return true
}

func (s surrounding) numberKind(l string, complete bool) (kind lineKind, decided bool) {
	n := 0
	for n < len(l) && n < 10 && l[n] >= '0' && l[n] <= '9' {
		n++
	}
	if n == 10 {
		return textLine, true
	}
	if n == len(l) {
		return textLine, complete
	}
	if l[n] != '.' && l[n] != ')' {
		return textLine, true
	}
	if n+1 == len(l) {
		if s.continues {
			return textLine, complete
		}
		return itemLine, complete
	}
	if l[n+1] != ' ' && l[n+1] != '\t' {
		return textLine, true
	}
	// Only a list that begins at 1 may interrupt a paragraph: consider "in\n1986. A year".
	if s.continues && strings.TrimLeft(l[:n], "0") != "1" {
		return textLine, true
	}
	return s.marked(itemLine, l[n+1:], complete)
}

func fenceKind(l string, complete bool) (kind lineKind, decided bool) {
	n := runLength(l, l[0])
	if n == len(l) && !complete {
		return fenceLine, false
	}
	if n < 3 {
		return textLine, true
	}
	if l[0] == '`' && strings.IndexByte(l[n:], '`') >= 0 {
		return textLine, true
	}
	return fenceLine, complete
}

// definitionKind decides whether a line is "[^id]: text", "[label]: url" or text.
func (s surrounding) definitionKind(l string, complete bool) (kind lineKind, decided bool) {
	closing := strings.IndexByte(l, ']')
	if closing < 0 {
		return textLine, complete || len(l) > spanLimit
	}
	if closing+1 == len(l) && !complete {
		return textLine, false
	}
	note := strings.HasPrefix(l, "[^")
	if closing+1 >= len(l) || l[closing+1] != ':' || closing > spanLimit || s.depth > 0 || s.continues && !s.defining && !note {
		return textLine, true
	}
	if !complete {
		return definitionLine, false
	}
	if note {
		if closing == 2 || closing > wordLimit {
			return textLine, true
		}
		return footnoteLine, true
	}
	return definitionLine, true
}
