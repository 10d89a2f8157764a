// Package text prepares text from outside for display to people: on one line, with a bounded
// length, and without anything that controls a screen. No other package does this.
//
// The functions have no state and are safe for many goroutines. Lengths are in Unicode code points
// unless a function says bytes. Invalid UTF-8 becomes U+FFFD.
package text

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Line returns the text on one line: runs of white space become one blank, and the ends are
// trimmed.
func Line(s string) string {
	if isLine(s) { // nearly all are
		return s
	}
	return strings.Join(strings.Fields(s), " ")
}

// isLine reports whether a text of ASCII is as Line would return it.
func isLine(s string) bool {
	blank := true // before the first character
	for i := range len(s) {
		switch c := s[i]; {
		case c == ' ' && blank, '\t' <= c && c <= '\r', c >= utf8.RuneSelf:
			return false
		default:
			blank = c == ' '
		}
	}
	return !blank || s == ""
}

// Clip returns at most limit characters of the text. If it cuts something off, the last character
// is an ellipsis.
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

// Some languages and many emoji need these joiners.
const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// PlainLine returns a stranger's text for use in a line: on one line, in at most limit characters,
// with blanks for control characters, and without direction marks and other invisible characters
// except joiners.
func PlainLine(s string, limit int) string {
	if most := 16 * limit; len(s) > most { // the rest would be cut off anyway
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

// Prefix returns the first bytes of the text, at most limit, without splitting a character. Nothing
// marks the cut.
func Prefix(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// Suffix returns the last bytes of the text, at most limit, without splitting a character. Nothing
// marks the cut.
func Suffix(s string, limit int) string {
	from := max(len(s)-limit, 0)
	for from > 0 && from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	return s[from:]
}

// Abridge returns at most limit bytes of the text, without splitting a character, followed by the
// number of missing bytes. A text that fits is unchanged.
func Abridge(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	head := Prefix(s, limit)
	if len(head) == len(s) {
		return s
	}
	return fmt.Sprintf("%s… [%d bytes more]", head, len(s)-len(head))
}
