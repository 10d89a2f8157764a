package rich

import (
	"cmp"
	"strings"
)

// Paragraphs cuts a text that grows into pieces that can be sent while it does. A piece ends at the first end of a
// paragraph by which it has Min UTF-16 code units, and never behind a heading. Where no paragraph ends within Max, it ends
// at a line, a sentence, a word or a character. A block of code, be it Markdown or Org, is in one piece if it fits, and
// otherwise is a block in each piece. White space at a cut is in neither piece. The result does not depend on how the
// text was cut by whoever wrote it, but for characters that come in parts. The zero value cuts at 200 and 2000. It belongs to
// one goroutine and serves one text.
type Paragraphs struct {
	Min, Max int // 200 and 2000 if they are 0

	pending string
}

// Write takes what the text has grown by, and returns the pieces that are whole now.
func (p *Paragraphs) Write(more string) (pieces []string) {
	p.pending += more
	for {
		piece, found := p.next(false)
		if !found {
			return pieces
		}
		if piece != "" {
			pieces = append(pieces, piece)
		}
	}
}

// Close ends the text, and returns the rest of it.
func (p *Paragraphs) Close() (pieces []string) {
	for {
		piece, found := p.next(true)
		if !found {
			break
		}
		if piece != "" {
			pieces = append(pieces, piece)
		}
	}
	if rest := strings.TrimRight(p.pending, " \t\n"); rest != "" {
		pieces = append(pieces, rest)
	}
	p.pending = ""
	return pieces
}

// next cuts off one piece.
func (p *Paragraphs) next(final bool) (piece string, found bool) {
	p.pending = p.pending[len(p.pending)-len(strings.TrimLeft(p.pending, "\n")):]
	least, most := cmp.Or(p.Min, 200), cmp.Or(p.Max, 2000)
	s := scan(p.pending, least, most, final)
	switch {
	case s.end > 0:
		return p.cut(s.end, s.next), true
	case s.shown <= most && s.units <= 2*most:
		return "", false
	}
	c := cutter{plain: p.pending, limit: most}
	for _, f := range s.fences {
		c.blocks = append(c.blocks, Span{Start: f.start, End: f.end, Style: Block})
	}
	end, next := c.cut(0)
	for _, f := range s.fences {
		switch {
		case end <= f.start || end >= f.end:
		case f.start > 0 && strings.TrimSpace(p.pending[:f.start]) != "":
			return p.cut(f.start, f.start), true
		default:
			return p.within(f, most), true
		}
	}
	return p.cut(end, next), true
}

func (p *Paragraphs) cut(end, next int) string {
	piece := strings.TrimRight(p.pending[:end], " \t\n")
	p.pending = p.pending[next:]
	return piece
}

// within cuts a block of code with which the text begins, and that does not fit. It is closed, and opened again.
func (p *Paragraphs) within(f fence, most int) string {
	opening, body, _ := strings.Cut(p.pending, "\n")
	room := max(most-Length(opening)-Length(f.closing)-2, most/4, 2)
	c := cutter{plain: body, limit: room, blocks: []Span{{Start: 0, End: len(body), Style: Block}}}
	end, next := c.cut(0)
	p.pending = opening + "\n" + body[next:]
	return opening + "\n" + body[:end] + "\n" + f.closing
}

// fence is a block of code within a text.
type fence struct {
	start, end int    // end is that of its last line, or of the text
	closing    string // the line that ends it
}

// scanned is what was found in a text.
type scanned struct {
	end, next int // of the first piece that is whole, 0 for none
	units     int // how long the text is, as far as it was read
	shown     int // without the white space at its end
	fences    []fence
}

// scan goes over the lines of a text up to a length.
func scan(text string, least, most int, final bool) (s scanned) {
	var open bool
	var opened fence
	written := 0 // where the last line that is not blank ended
	units := 0   // up to there
	heading := false
	offer := func(end, next int) bool {
		if units < least || units > most || heading || written == 0 {
			return false
		}
		s.end, s.next = end, next
		return true
	}
	for at := 0; at < len(text) && s.shown <= most && s.units <= 2*most; {
		line, _, whole := strings.Cut(text[at:], "\n")
		end := at + len(line)
		next := min(end+1, len(text))
		trimmed := strings.TrimSpace(line)
		closing := closingOf(trimmed)
		switch {
		case open && closes(trimmed, opened.closing) && (whole || final):
			opened.end, open = end, false
			s.fences = append(s.fences, opened)
			written, units, heading = end, s.units+Length(line), false
			if whole && offer(end, next) {
				return s
			}
		case open:
		case closing != "":
			if offer(at, at) {
				return s
			}
			open, opened = true, fence{start: at, end: len(text), closing: closing}
		case trimmed == "":
			if whole && offer(written, next) {
				return s
			}
		default:
			written, units, heading = end, s.units+Length(line), isTitle(line)
		}
		if trimmed != "" {
			s.shown = s.units + Length(strings.TrimRight(line, " \t"))
		}
		s.units += Length(line)
		if whole {
			s.units++
		}
		at = next
	}
	if open {
		s.fences = append(s.fences, opened)
	}
	return s
}

// closingOf returns the line that ends the block of code that a line begins, "" if it begins none.
func closingOf(line string) string {
	for _, mark := range []string{"`", "~"} {
		n := len(line) - len(strings.TrimLeft(line, mark))
		if n >= 3 && (mark == "~" || !strings.Contains(line[n:], "`")) {
			return line[:n]
		}
	}
	const begin = "#+begin_"
	if len(line) > len(begin) && strings.EqualFold(line[:len(begin)], begin) {
		name, _, _ := strings.Cut(line[len(begin):], " ")
		return "#+end_" + name
	}
	return ""
}

// closes reports whether a line ends a block of code.
func closes(line, closing string) bool {
	if closing[0] == '#' {
		return strings.EqualFold(line, closing)
	}
	return len(line) >= len(closing) && strings.Trim(line, closing[:1]) == ""
}

// isTitle reports whether a line is a heading, in either dialect.
func isTitle(line string) bool {
	for _, mark := range []string{"*", "#"} {
		if rest := strings.TrimLeft(line, mark); rest != line && strings.HasPrefix(rest, " ") {
			return true
		}
	}
	return false
}
