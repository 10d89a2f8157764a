package org

import "strings"

// A Block is "#+begin_KIND … #+end_KIND".
type Block struct {
	Kind      string // in lower case: "src", "example", "quote", …
	Language  string // of a src block, as written
	Switches  string // of a src block: -n, -r, -l "…", …
	Arguments string // what follows on the first line, trimmed
	Name      string // from #+name:
	// Body is the text without common indentation, comma escapes and final line end.
	// It is "" for blocks that hold structure (quote, center, special blocks).
	Body     string
	Indent   int      // bytes before "#+begin"
	Heading  *Heading // the heading it stands under, or nil
	Line     int      // of "#+begin"
	BodyLine int      // of the first line of the body
	Start    int      // offset of the line "#+begin", or of the first line affiliated to it
	End      int      // offset behind the line "#+end"

	lines   []bodyLine
	headers []affiliatedLine
	doc     *Document
}

// A bodyLine is a line of a body and where it came from.
type bodyLine struct {
	text   string
	line   int
	column int // column in the note of the byte text[skip]
	skip   int // bytes of indentation of text
}

// isVerbatim reports whether the content of such a block is not structure.
func isVerbatim(kind string) bool {
	switch kind {
	case "src", "example", "export", "comment", "verse":
		return true
	}
	return false
}

func (s *scanner) beginBlock(l line, kind, rest string) {
	b := &Block{
		Kind: kind, Name: s.attached.name, headers: s.attached.headers, doc: s.doc,
		Arguments: trimBlanks(rest), Indent: indentation(l.text),
		Line: l.number, BodyLine: l.number + 1, Start: l.start,
	}
	if s.attached.name != "" || s.attached.headers != nil {
		b.Start = s.attached.first
	}
	if len(s.open) > 0 {
		b.Heading = s.open[len(s.open)-1]
	}
	if kind == "src" {
		b.Language, b.Switches, b.Arguments = cutSourceLine(rest)
	}
	if !isVerbatim(kind) {
		if len(s.inside) == maxNesting {
			s.doc.report(l.number, b.Indent+1, Error, "blocks are nested deeper than %d", maxNesting)
			return
		}
		s.inside = append(s.inside, b)
		s.doc.blocks = append(s.doc.blocks, b)
		return
	}
	end := s.findEnd(kind)
	if end < 0 {
		s.doc.report(l.number, b.Indent+1, Error, "#+begin_%s without #+end_%s before the next heading", kind, kind)
		return
	}
	b.setBody(s.lines[s.next:end])
	s.next = end + 1
	b.End = s.lines[end].end
	s.doc.blocks = append(s.doc.blocks, b)
}

// findEnd returns the index of the line that ends a verbatim block beginning above the
// next line, or -1: a heading ends the search, as in Org.
func (s *scanner) findEnd(kind string) int {
	if s.next < s.noEnd[kind] {
		return -1
	}
	for i := s.next; i < len(s.lines); i++ {
		text := s.lines[i].text
		if headingLevel(text) > 0 {
			s.noEnd[kind] = i
			return -1
		}
		if begin, found, _, ok := blockDelimiter(text); ok && !begin && found == kind {
			return i
		}
	}
	s.noEnd[kind] = len(s.lines)
	return -1
}

func (s *scanner) endBlock(l line, kind string) {
	for i := len(s.inside) - 1; i >= 0; i-- {
		if s.inside[i].Kind != kind {
			continue
		}
		for _, b := range s.inside[i+1:] {
			s.unterminated(b)
		}
		s.inside[i].End = l.end
		s.inside = s.inside[:i]
		return
	}
	s.doc.report(l.number, indentation(l.text)+1, Warning, "#+end_%s without #+begin_%s", kind, kind)
}

// closeContainers drops the quote-like blocks that are still open at a heading or the end.
func (s *scanner) closeContainers() {
	for _, b := range s.inside {
		s.unterminated(b)
	}
	s.inside = nil
}

func (s *scanner) unterminated(b *Block) {
	s.doc.report(b.Line, b.Indent+1, Error, "#+begin_%s without #+end_%s before the next heading", b.Kind, b.Kind)
}

// cutSourceLine splits what follows "#+begin_src" into language, switches and header arguments.
func cutSourceLine(rest string) (language, switches, arguments string) {
	rest = trimBlanks(rest)
	language = rest
	if i := strings.IndexAny(rest, " \t"); i >= 0 {
		language, rest = rest[:i], trimBlanks(rest[i:])
	} else {
		rest = ""
	}
	start := rest
	for {
		n := switchLength(rest)
		if n == 0 {
			break
		}
		rest = trimBlanks(rest[n:])
	}
	return language, trimBlanks(start[:len(start)-len(rest)]), rest
}

// switchLength returns the length of a switch at the start of text: -i -r -k, -n or +n with
// a number, -l "format"; 0 if there is none.
func switchLength(text string) int {
	if len(text) < 2 || (text[0] != '-' && text[0] != '+') {
		return 0
	}
	n := 2
	switch {
	case text[1] == 'n':
		i := n + indentation(text[n:])
		digits := i
		for digits < len(text) && text[digits] >= '0' && text[digits] <= '9' {
			digits++
		}
		if digits > i {
			n = digits
		}
	case text[0] == '+':
		return 0
	case text[1] == 'l':
		if !strings.HasPrefix(text, `-l "`) {
			return 0
		}
		closing := strings.IndexByte(text[4:], '"')
		if closing < 1 {
			return 0
		}
		n = 4 + closing + 1
	case text[1] != 'i' && text[1] != 'r' && text[1] != 'k':
		return 0
	}
	if n < len(text) && text[n] != ' ' && text[n] != '\t' {
		return 0
	}
	return n
}

// tabWidth is Emacs's default, by which Org measures common indentation.
const tabWidth = 8

// columnOf returns the display column behind the indentation of text.
func columnOf(text string) int {
	column := 0
	for i := range indentation(text) {
		if text[i] == '\t' {
			column += tabWidth - column%tabWidth
		} else {
			column++
		}
	}
	return column
}

// setBody unescapes the lines, removes their common indentation as Org does, and
// remembers where each came from.
func (b *Block) setBody(lines []line) {
	common := -1
	for _, l := range lines {
		if !isBlank(l.text) {
			if column := columnOf(l.text); common < 0 || column < common {
				common = column
			}
		}
	}
	b.lines = make([]bodyLine, 0, len(lines))
	var body strings.Builder
	for i, l := range lines {
		text := l.text
		indent := indentation(text)
		column := indent + 1
		if rest := text[indent:]; isEscaped(rest) {
			text, column = text[:indent]+rest[1:], column+1
		}
		if common > 0 {
			text = shiftLeft(text, common)
		}
		b.lines = append(b.lines, bodyLine{text, l.number, column, indentation(text)})
		if i > 0 {
			body.WriteByte('\n')
		}
		body.WriteString(text)
	}
	b.Body = body.String()
}

// isEscaped reports whether a line (without indentation) begins with a comma that
// Org's escaping put there.
func isEscaped(text string) bool {
	if text == "" || text[0] != ',' {
		return false
	}
	text = strings.TrimLeft(text, ",")
	return strings.HasPrefix(text, "*") || strings.HasPrefix(text, "#+")
}

// shiftLeft removes columns of indentation. A tab that straddles the new edge becomes
// blanks; a line of blanks becomes empty.
func shiftLeft(text string, columns int) string {
	indent := indentation(text)
	if indent == len(text) {
		return ""
	}
	target := columnOf(text) - columns
	column, kept := 0, 0
	for kept < indent {
		next := column + 1
		if text[kept] == '\t' {
			next = column + tabWidth - column%tabWidth
		}
		if next > target {
			break
		}
		column = next
		kept++
	}
	return text[:kept] + strings.Repeat(" ", target-column) + text[indent:]
}
