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

	named   bool // it has a line #+name:, which may be empty
	number  int  // among all blocks, from 0
	last    int  // index of the line "#+end"
	lines   []bodyLine
	headers []affiliatedLine
	doc     *Document
}

// A bodyLine is a line of a body, with its place in the note.
type bodyLine struct {
	text   string
	line   int
	column int // column in the note of the character behind skip
	skip   int // characters of text that stand elsewhere in the note, or are indentation
}

// isVerbatim reports whether a block of that kind holds plain text and no structure.
func isVerbatim(kind string) bool {
	switch kind {
	case "src", "example", "export", "comment", "verse":
		return true
	}
	return false
}

func (s *scanner) beginBlock(l line, kind, rest string) {
	b := &Block{
		Kind: kind, number: len(s.doc.blocks), Name: s.attached.name, named: s.attached.named, headers: s.attached.headers, doc: s.doc,
		Arguments: trimBlanks(rest), Indent: indentation(l.text),
		Line: l.number, BodyLine: l.number + 1, Start: l.start,
	}
	if s.attached.named || s.attached.headers != nil {
		b.Start = s.attached.first
	}
	if len(s.open) > 0 {
		b.Heading = s.open[len(s.open)-1]
	}
	if kind == "src" {
		b.Language, b.Switches, b.Arguments = cutSourceLine(rest)
	}
	end := s.findEnd(kind)
	switch {
	case end < 0:
		s.doc.report(l.number, b.Indent+1, Error, "#+begin_%s without #+end_%s before the next heading", kind, kind)
	case isVerbatim(kind):
		b.last = end
		b.setBody(s.lines[s.next:end])
		s.next = end + 1
		b.End = s.lines[end].end
		s.doc.blocks = append(s.doc.blocks, b)
	case len(s.inside) == maxNesting:
		s.doc.report(l.number, b.Indent+1, Error, "blocks are nested deeper than %d", maxNesting)
	default:
		b.End = s.lines[end].end
		s.enterLines(end, end+1)
		s.doc.blocks = append(s.doc.blocks, b)
	}
}

// setBody unescapes the lines, removes their common indentation unless the switch -i
// keeps it, and remembers where each came from.
func (b *Block) setBody(lines []line) {
	b.lines = make([]bodyLine, 0, len(lines))
	for _, l := range lines {
		text := l.text
		indent := indentation(text)
		column := indent + 1
		if rest := text[indent:]; isEscaped(rest) {
			// Org's escaping added the comma directly before the star.
			at := indent + strings.IndexAny(rest, "*#") - 1
			text, column = text[:at]+text[at+1:], column+1
		}
		b.lines = append(b.lines, bodyLine{text, l.number, column, indent})
	}
	if !keepsIndentation(b.Switches) {
		removeIndentation(b.lines)
	}
	b.Body = joinLines(b.lines)
}

// isEscaped reports whether a line (without its indentation) begins with a comma that Org's
// escaping added.
func isEscaped(text string) bool {
	if text == "" || text[0] != ',' {
		return false
	}
	text = strings.TrimLeft(text, ",")
	return strings.HasPrefix(text, "*") || strings.HasPrefix(text, "#+")
}
