package text_test

import (
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"org-agent/kernel/text"
)

func TestShown(t *testing.T) {
	for got, want := range map[string]string{
		"": "", "plain\n\ttext\r\n\f": "plain\n\ttext\r\n\f", "a\x00b\x07c\x08\x1b[31md\x7f": "abc[31md",
		"a\u0085b\u009bc\u00a0d": "abc\u00a0d", "\u202eabc\u202c \u2066x\u2069\ufeff": "abc x",
		"ф\u200dя 👨\u200d👩 é 漢 \u200f": "ф\u200dя 👨\u200d👩 é 漢 \u200f", "\xff\xc2": "\xff\xc2", "…–“”": "…–“”", "\xe2\x80": "\xe2\x80",
	} {
		if shown := text.Shown(got); shown != want {
			t.Errorf("%q is shown as %q, want %q", got, shown, want)
		}
	}
}

// Whatever a text is, nothing is left that controls a screen, all else stays, and how it is cut is the same.
func TestShownPieces(t *testing.T) {
	letters := rapid.StringOf(rapid.RuneFrom([]rune("ab\n\t\r\f\x00\x1b\x7f\u0085\u009b\u00a0\u202a\u202e\u2066\u2069\u2028\u200d\ufeff漢é😀…")))
	rapid.Check(t, func(t *rapid.T) {
		s := letters.Draw(t, "text")
		want := strings.Map(func(c rune) rune {
			if strings.ContainsRune("\t\n\r\f", c) || !unicode.IsControl(c) && (c < 0x202a || c > 0x202e) && (c < 0x2066 || c > 0x2069) && c != 0xfeff {
				return c
			}
			return -1
		}, s)
		if got := text.Shown(s); got != want {
			t.Fatalf("%q is shown as %q, want %q", s, got, want)
		}
		var p text.Pieces
		var joined strings.Builder
		for rest := s; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			joined.WriteString(p.Next(rest[:n]))
			rest = rest[n:]
		}
		if joined.WriteString(p.Last()); joined.String() != want {
			t.Fatalf("%q in pieces is %q, want %q", s, joined.String(), want)
		}
	})
}
