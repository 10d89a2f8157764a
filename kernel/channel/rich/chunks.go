package rich

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Chunks cuts the text into pieces of at most limit UTF-16 code units, at the end of a paragraph, or else of a line, a
// sentence, a word or a character as people see it. White space at a cut is in neither piece. A span that is cut is a
// span in both: code stays code. A character that is longer than the limit, of which hostile texts have some, is cut
// between its code points. A text of nothing but white space has no pieces. limit is at least 2. The time is linear in
// the text.
func (t Text) Chunks(limit int) []Text {
	if strings.TrimSpace(t.Plain) == "" {
		return nil
	}
	if t.Length() <= limit {
		return []Text{t}
	}
	var chunks []Text
	spans := spansOf{rest: t.Spans}
	c := cutter{plain: t.Plain, limit: max(limit, 2)}
	for _, s := range t.Spans {
		if s.Style == Block {
			c.blocks = append(c.blocks, s)
		}
	}
	for start := 0; start < len(t.Plain); {
		end, next := c.cut(start)
		if strings.TrimSpace(t.Plain[start:end]) != "" {
			chunks = append(chunks, Text{Plain: t.Plain[start:end], Spans: spans.between(start, end)})
		}
		start = next
	}
	return chunks
}

// spansOf gives out the spans of one piece after the other.
type spansOf struct {
	open []Span // those that begin before the next piece, an outer one before what is in it
	rest []Span // those that begin later
}

// between returns the spans of a piece, measured from its beginning.
func (s *spansOf) between(start, end int) (in []Span) {
	n := 0
	for n < len(s.rest) && s.rest[n].Start < end {
		n++
	}
	s.open, s.rest = append(s.open, s.rest[:n]...), s.rest[n:]
	s.open = slices.DeleteFunc(s.open, func(o Span) bool { return o.End <= start })
	for _, o := range s.open {
		from, to := max(o.Start, start)-start, min(o.End, end)-start
		if from < to {
			in = append(in, Span{Start: from, End: to, Style: o.Style, Value: o.Value})
		}
	}
	return in
}

// boundary is where a text may be cut, from the worst to the best.
type boundary int

const (
	ofCharacter boundary = iota // as people see it
	ofIdeograph                 // in scripts that have no blanks between words
	ofWord
	ofSentence
	ofLine
	ofParagraph
	boundaries
)

// place is a cut: where the piece ends, where the next one begins, and how long the piece is.
type place struct{ end, next, units int }

// cutter finds where pieces end.
type cutter struct {
	plain  string
	limit  int
	blocks []Span

	start, at int
	units     int               // of what is between them
	last      [boundaries]place // the last of each that fits; its end is 0 where there is none
}

// cut returns the end of the piece that begins at start, and the beginning of the next one.
func (c *cutter) cut(start int) (end, next int) {
	c.start, c.at, c.units, c.last = start, start, 0, [boundaries]place{}
	for c.at < len(c.plain) {
		cluster := c.cluster(c.at)
		if isBlank(cluster) {
			c.space()
			continue
		}
		c.offer(c.within(cluster), c.at, c.at)
		n := Length(cluster)
		if c.units+n > c.limit {
			return c.best(cluster)
		}
		c.units += n
		c.at += len(cluster)
	}
	if c.units > c.limit {
		return c.best("")
	}
	return c.at, c.at
}

// cluster returns the character, as people see it, at a place.
func (c *cutter) cluster(at int) string {
	if at+1 < len(c.plain) && c.plain[at] < utf8.RuneSelf && c.plain[at+1] < utf8.RuneSelf {
		return c.plain[at : at+1] // no letter of ASCII belongs to the one before
	}
	window := at + 3*c.limit + utf8.UTFMax // more than fits, and no more of a hostile one
	for window < len(c.plain) && !utf8.RuneStart(c.plain[window]) {
		window++
	}
	cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(c.plain[at:min(window, len(c.plain))], -1)
	return cluster
}

// isBlank reports whether a character is white space at which a text may be cut.
func isBlank(cluster string) bool {
	r, size := utf8.DecodeRuneInString(cluster)
	return size == len(cluster) && unicode.IsSpace(r) && r != '\u00a0' && r != '\u2007' && r != '\u202f'
}

// space goes over white space, and offers the cut at it.
func (c *cutter) space() {
	from, units, lines, line := c.at, 0, 0, 0
	for c.at < len(c.plain) {
		cluster := c.cluster(c.at)
		if !isBlank(cluster) {
			break
		}
		c.at += len(cluster)
		units += Length(cluster)
		if cluster == "\n" {
			lines, line = lines+1, c.at
		}
	}
	switch code, ends := c.inBlock(from), c.endsBlock(from); {
	case lines > 1 && !code || lines > 0 && (ends || c.beginsBlock(line)):
		c.offer(ofParagraph, from, line)
	case lines > 0:
		c.offer(ofLine, from, line)
	case endsSentence(c.plain[c.start:from]):
		c.offer(ofSentence, from, c.at)
	default:
		c.offer(ofWord, from, c.at)
	}
	c.units += units
}

// offer notes a cut if the piece fits.
func (c *cutter) offer(b boundary, end, next int) {
	if end > c.start && c.units <= c.limit {
		c.last[b] = place{end, next, c.units}
	}
}

// within returns what a cut is before a character that no white space precedes.
func (c *cutter) within(cluster string) boundary {
	before, _ := utf8.DecodeLastRuneInString(c.plain[c.start:c.at])
	after, _ := utf8.DecodeRuneInString(cluster)
	switch {
	case strings.ContainsRune("。！？｡", before) && !unicode.IsPunct(after):
		return ofSentence
	case (isIdeograph(before) || isIdeograph(after)) && !unicode.IsPunct(after) && !unicode.Is(unicode.Ps, before):
		return ofIdeograph
	}
	return ofCharacter
}

func isIdeograph(r rune) bool {
	return r >= 0x2e80 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// endsSentence reports whether a text ends as sentences do, with or without what closes a quotation.
func endsSentence(text string) bool {
	for text != "" {
		r, size := utf8.DecodeLastRuneInString(text)
		if strings.ContainsRune(".!?…。！？｡؟।", r) {
			return true
		}
		if !unicode.In(r, unicode.Pe, unicode.Pf) && r != '"' && r != '\'' {
			return false
		}
		text = text[:len(text)-size]
	}
	return false
}

// best returns the best cut for a piece before a character that does not fit any more. A cut that leaves much of the
// limit unused is worse than one within a paragraph.
func (c *cutter) best(cluster string) (end, next int) {
	for b := ofParagraph; b >= ofIdeograph; b-- {
		least := c.limit / 2
		if b == ofParagraph {
			least = c.limit / 4
		}
		if p := c.last[b]; p.end > 0 && p.units >= least {
			return p.end, p.next
		}
	}
	for b := ofParagraph; b >= ofCharacter; b-- {
		if p := c.last[b]; p.end > 0 {
			return p.end, p.next
		}
	}
	if c.at > c.start {
		return c.start, c.at // white space that is longer than the limit
	}
	units := 0
	for i, r := range cluster {
		if units += Length(string(r)); units > c.limit {
			return c.at + i, c.at + i
		}
	}
	return c.at + len(cluster), c.at + len(cluster)
}

// block returns the last block that begins at a place or before.
func (c *cutter) block(place int) Span {
	i, found := slices.BinarySearchFunc(c.blocks, place, func(s Span, place int) int { return cmp.Compare(s.Start, place) })
	if found {
		return c.blocks[i]
	}
	if i == 0 {
		return Span{Start: -1, End: -1}
	}
	return c.blocks[i-1]
}

func (c *cutter) inBlock(place int) bool     { return c.block(place).End > place }
func (c *cutter) endsBlock(place int) bool   { return c.block(place).End == place }
func (c *cutter) beginsBlock(place int) bool { return c.block(place).Start == place }
