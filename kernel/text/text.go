// Package text makes text from outside fit to be shown to a person: on one line, of a bounded
// length, and with nothing in it that a screen would obey. It is the one place that does so.
//
// The functions keep nothing and may be called from many goroutines. Lengths are in characters,
// which are Unicode code points, unless a function says bytes. Invalid UTF-8 becomes U+FFFD.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line is the text on one line: every run of white space is one blank, and none is at either end.
func Line(s string) string { return strings.Join(strings.Fields(s), " ") }

// Clip is the text in at most limit characters. The last of them is an ellipsis where something
// was cut off.
func Clip(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s
	}
	left := max(limit-1, 0)
	for i := range s {
		if left == 0 {
			return strings.TrimRight(s[:i], " ") + "…"
		}
		left--
	}
	return s
}

// The joiners are part of how some languages and many emoji are written.
const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// PlainLine is a stranger's text for a line of ours: on one line, with blanks for control
// characters, without marks that turn the direction of writing and whatever else prints nothing
// but joiners, in at most limit characters.
func PlainLine(s string, limit int) string {
	if most := 16 * limit; len(s) > most { // what is cut off anyway is not looked at
		s = Prefix(s, most)
	}
	s = strings.Map(func(c rune) rune {
		switch {
		case unicode.IsSpace(c), unicode.IsControl(c):
			return ' '
		case c == zeroWidthJoiner || c == zeroWidthNonJoiner:
			return c
		case !unicode.IsPrint(c):
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, "\uFFFD"))
	return Clip(Line(s), limit)
}

// Prefix is at most limit bytes of the text, cut between two characters. It says nothing of what
// it cut off.
func Prefix(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}
