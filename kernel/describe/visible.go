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
//
// A long run of blanks or of empty lines is written as its length, like ⟨6000 blanks⟩, so that nothing
// stands behind it unseen.
func Visible(text string) string {
	text, _ = withoutRuns(text)
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
		return c == 0xad || c == 0xa0
	case unicode.Is(unicode.Variation_Selector, c):
		return !drawn(text, i, c)
	case unicode.Is(unicode.Other_Default_Ignorable_Code_Point, c):
		return true
	case c == ' ', c == 0x3000: // of text that is written so wide
		return false
	case unicode.Is(unicode.Zs, c):
		return true
	case unicode.Is(unicode.Mn, c) || unicode.Is(unicode.Me, c):
		return misplaced(text, i, c)
	case unicode.Is(unicode.Cf, c) || unicode.Is(unicode.Co, c) || unicode.Is(unicode.Zl, c) || unicode.Is(unicode.Zp, c):
		return true
	}
	return c == 0x2800 || c == 0x1d159 // a pattern and a note that look blank
}

// drawn reports whether what says how a sign is drawn stands behind one that has several forms. Behind another
// character nobody sees it.
func drawn(text string, i int, c rune) bool {
	sign, _ := utf8.DecodeLastRuneInString(text[:i])
	switch {
	case sign == utf8.RuneError:
		return false
	case sign < 0x80:
		return strings.ContainsRune("0123456789#*", sign) && strings.HasPrefix(text[i+utf8.RuneLen(c):], "\u20e3") // a key
	}
	return unicode.In(sign, unicode.S, unicode.Po, unicode.Han, unicode.Mongolian) || sign == '〰' || sign == 'ℹ'
}

// misplaced reports whether a combining mark changes a sign to which none belongs, strikes a letter
// through, or is one of many.
func misplaced(text string, i int, c rune) bool {
	if c >= 0x334 && c <= 0x338 || c >= 0x20d0 && c <= 0x20ea && c != 0x20e3 {
		return true
	}
	marks := 0
	for before := text[:i]; ; marks++ {
		base, size := utf8.DecodeLastRuneInString(before)
		before = before[:len(before)-size]
		switch {
		case size == 0:
			return true
		case !unicode.Is(unicode.M, base) && base != 0xfe0f:
			return marks > 1 || base < 0x80 && !unicode.IsLetter(base) && c != 0x20e3
		}
	}
}

// The longest runs that are shown as they are.
const (
	blankRun = 60
	emptyRun = 15 // lines
)

// withoutRuns returns a text with the lengths of long runs of blanks and of empty lines in their place,
// and how many there are.
func withoutRuns(text string) (shown string, runs int) {
	if !strings.Contains(text, "          ") && !strings.ContainsAny(text, "\t\n") {
		return text, 0
	}
	var out strings.Builder
	for at := 0; at < len(text); {
		end, lines := at, 0
		for end < len(text) && strings.IndexByte(" \t\n", text[end]) >= 0 {
			lines += btoi(text[end] == '\n')
			end++
		}
		switch {
		case end == at:
			next := strings.IndexAny(text[at:], " \t\n")
			if next < 0 {
				next = len(text) - at
			}
			end = at + next
			out.WriteString(text[at:end])
		case lines > emptyRun:
			runs++
			last := strings.LastIndexByte(text[at:end], '\n')
			fmt.Fprintf(&out, "\n⟨%d empty lines⟩\n", lines-1)
			rest, _ := blanks(text[at+last+1 : end])
			out.WriteString(rest)
		default:
			for i, line := range strings.Split(text[at:end], "\n") {
				if i > 0 {
					out.WriteByte('\n')
				}
				line, long := blanks(line)
				runs += btoi(long)
				out.WriteString(line)
			}
		}
		at = end
	}
	return out.String(), runs
}

// blanks returns a run of blanks, or its length if it is long.
func blanks(run string) (shown string, long bool) {
	if len(run) <= blankRun {
		return run, false
	}
	return fmt.Sprintf("⟨%d blanks⟩", len(run)), true
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// line returns a text on one line with every character visible.
func line(s string) string { return Visible(text.Line(s)) }
