package org

import (
	"sort"
	"strings"
)

// Org looks for src blocks in two ways: a regular expression finds text from "#+begin_src LANGUAGE"
// to the next "#+end_src", and the parser finds blocks. They differ in examples, in blocks without
// an end, and where "#+end_src" is followed by more on its line.

// A sourceMatch is text that the regular expression finds, by the indexes of its lines.
type sourceMatch struct{ begin, end int }

// A sourceIndex is what the regular expression finds in a note.
type sourceIndex struct {
	doc     *Document
	sources []*Block               // the parser's src blocks
	found   []sourceMatch          // in order; none lies in another
	named   map[string]sourceMatch // by name in lower case, below its first line "#+name:"
}

func newSourceIndex(d *Document) *sourceIndex {
	x := &sourceIndex{doc: d, named: map[string]sourceMatch{}}
	for _, b := range d.blocks {
		if b.Kind == "src" {
			x.sources = append(x.sources, b)
		}
	}
	ends := sourceEnds(d.lines)
	behind := 0 // the first line behind the last match
	for i, l := range d.lines {
		if ends[i] < 0 || !beginsSource(l.text) {
			continue
		}
		match := sourceMatch{i, ends[i]}
		x.name(match)
		if i >= behind {
			x.found = append(x.found, match)
			behind = match.end + 1
		}
	}
	return x
}

// name remembers the names in the keyword lines above a match.
func (x *sourceIndex) name(match sourceMatch) {
	for k := match.begin - 1; k >= 0; k-- {
		key, value, ok := keywordLine(x.doc.lines[k].text)
		if !ok {
			return
		}
		name := strings.ToLower(value)
		if before, known := x.named[name]; strings.EqualFold(key, "name") && (!known || before == match) {
			x.named[name] = match
		}
	}
}

// sourceEnds returns for each line the first line below it that ends a src block, or -1. The
// regular expression does not match across a NUL.
func sourceEnds(lines []line) []int {
	ends := make([]int, len(lines))
	next := -1
	for i := len(lines) - 1; i >= 0; i-- {
		text := lines[i].text
		ends[i] = next
		if hasFoldPrefix(text[indentation(text):], "#+end_src") {
			next = i
		} else if strings.IndexByte(text, 0) >= 0 {
			next = -1
		}
	}
	return ends
}

// beginsSource reports whether a line is "#+begin_src LANGUAGE…".
func beginsSource(text string) bool {
	text = text[indentation(text):]
	if !hasFoldPrefix(text, "#+begin_src") {
		return false
	}
	rest := text[len("#+begin_src"):]
	blanks := indentation(rest)
	return blanks > 0 && blanks < len(rest) && strings.IndexByte("\f\r\v", rest[blanks]) < 0
}

func hasFoldPrefix(text, prefix string) bool {
	return len(text) >= len(prefix) && strings.EqualFold(text[:len(prefix)], prefix)
}

// blockAt returns the src block to which the line with that index belongs, or nil.
func (x *sourceIndex) blockAt(index int) *Block {
	i := sort.Search(len(x.sources), func(i int) bool { return x.sources[i].last >= index })
	if i < len(x.sources) && x.sources[i].Line-1 <= index {
		return x.sources[i]
	}
	return nil
}

// headingAt returns the heading above the line with that index, or nil.
func (x *sourceIndex) headingAt(index int) *Heading {
	headings := x.doc.Headings
	i := sort.Search(len(headings), func(i int) bool { return headings[i].Line-1 > index })
	if i == 0 {
		return nil
	}
	return headings[i-1]
}

// commented reports whether the heading or one above it is COMMENTed.
func (h *Heading) commented() bool {
	for ; h != nil; h = h.Parent {
		if h.Commented {
			return true
		}
	}
	return false
}
