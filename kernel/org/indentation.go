package org

import (
	"strings"
	"unicode/utf8"
)

// tabWidth is Emacs's default. Org measures common indentation by it.
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

// removeIndentation removes the common indentation from lines, as Org does. Org measures columns
// and empties lines of blanks. It changes nothing if a line has no indentation or cannot be
// shortened by that much.
func removeIndentation(lines []bodyLine) {
	common := -1
	for _, l := range lines {
		indent := indentation(l.text)
		if indent == len(l.text) || isEmacsSpace(l.text[indent:]) {
			continue
		}
		column := columnOf(l.text)
		if column == 0 {
			return
		}
		if common < 0 || column < common {
			common = column
		}
	}
	common = min(common, sizeOf(lines, common))
	for _, l := range lines {
		if !isBlank(l.text) && columnOf(l.text) < common {
			return
		}
	}
	for i := range lines {
		l := &lines[i]
		switch {
		case isBlank(l.text):
			l.text = ""
		case common > 0:
			l.text = shiftLeft(l.text, common)
		}
		l.skip = indentation(l.text)
	}
}

// sizeOf returns one more than the number of characters of lines, or any number above enough. Org
// never removes more columns than that, so that a short text keeps some of its tabs.
func sizeOf(lines []bodyLine, enough int) int {
	size := 1
	for i, l := range lines {
		size += utf8.RuneCountInString(l.text)
		if i > 0 {
			size++
		}
		if size > enough {
			break
		}
	}
	return size
}

// isEmacsSpace reports whether a line's first character counts as white space for Emacs although it
// is no blank. The first character behind such a run is the line's first visible one.
func isEmacsSpace(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return r == '\r' || r == '\f' || r == 0xA0 || (r >= 0x2000 && r <= 0x200B) || r == 0x3000
}

// shiftLeft removes columns of indentation. A tab across the new edge becomes blanks.
func shiftLeft(text string, columns int) string {
	indent := indentation(text)
	target := columnOf(text) - columns
	column, used := 0, 0
	for used < indent {
		next := column + 1
		if text[used] == '\t' {
			next = column + tabWidth - column%tabWidth
		}
		if next > target {
			break
		}
		column = next
		used++
	}
	return text[:used] + strings.Repeat(" ", target-column) + text[indent:]
}
