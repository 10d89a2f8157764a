package describe

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"org-agent/kernel/text"
)

// Visible returns a text in which every character can be seen. Characters that are invisible, that
// change how their neighbours look, or that control a terminal are written like ⟨U+202E⟩. Line ends
// and tabs stay.
func Visible(text string) string {
	if hiddenIn(text) == 0 {
		return text
	}
	var out strings.Builder
	for i, c := range text {
		if hidden(text, i, c) {
			fmt.Fprintf(&out, "⟨U+%04X⟩", code(text, i, c))
		} else {
			out.WriteRune(c)
		}
	}
	return out.String()
}

func hiddenIn(text string) int {
	n := 0
	for i, c := range text {
		n += btoi(hidden(text, i, c))
	}
	return n
}

// code writes a character, or a byte that belongs to none, as ⟨U+…⟩.
func code(text string, i int, c rune) rune {
	if c == utf8.RuneError {
		if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
			return rune(text[i])
		}
	}
	return c
}

// hidden reports whether a character does not show as itself. Joiners count as hidden: some languages
// and emoji need them, but elsewhere they can mislead a reader.
func hidden(text string, i int, c rune) bool {
	switch {
	case c == '\n' || c == '\t':
		return false
	case c < 0x20 || c >= 0x7f && c < 0xa0:
		return true
	case c == utf8.RuneError:
		_, size := utf8.DecodeRuneInString(text[i:])
		return size == 1
	case c < 0x300:
		return c == 0xad
	case c == 0xfe0f || c == 0xfe0e: // how an emoji is drawn
		return false
	case c == ' ':
		return false
	case unicode.Is(unicode.Cf, c) || unicode.Is(unicode.Co, c) || unicode.Is(unicode.Zl, c) || unicode.Is(unicode.Zp, c):
		return true
	case unicode.Is(unicode.Variation_Selector, c):
		return true
	}
	switch c {
	case 0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x3164, 0xffa0, 0x2800: // letters and marks that look blank
		return true
	}
	return false
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// line returns a text on one line with every character visible.
func line(s string) string { return Visible(text.Line(s)) }
