package text

import (
	"strings"
	"unicode/utf8"
)

// Shown returns a text of several lines as people may be shown it, on a screen and in a file: without what
// controls a terminal, and without marks that have it read in another order than it is written. Tabs, the
// ends of lines and of pages, and joiners stay.
func Shown(s string) string {
	at := controlAt(s)
	if at < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for at >= 0 {
		_, size := utf8.DecodeRuneInString(s[at:])
		b.WriteString(s[:at])
		s = s[at+size:]
		at = controlAt(s)
	}
	b.WriteString(s)
	return b.String()
}

// controlAt returns the index of the first character that [Shown] leaves out, or -1. It looks at bytes,
// because nearly every text has none.
func controlAt(s string) int {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c >= 0x20 && c < 0x7f, c == '\t', c == '\n', c == '\r', c == '\f':
		case c < 0x20, c == 0x7f:
			return i
		case c == 0xc2 && i+1 < len(s) && s[i+1] < 0xa0:
			return i // the second half of the controls
		case (c == 0xe2 || c == 0xef) && isDirection(s[i:]):
			return i
		}
	}
	return -1
}

// isDirection reports whether a text begins with a mark that changes the direction of writing, or with
// that of the byte order.
func isDirection(s string) bool {
	c, _ := utf8.DecodeRuneInString(s)
	return c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069 || c == 0xfeff
}

// Pieces is [Shown] for a text that comes in pieces, which may end within a character. The zero value is
// ready for one text. The joined results do not depend on how the text was cut.
type Pieces struct{ rest string }

// Next returns what may be shown with the next piece.
func (p *Pieces) Next(piece string) string {
	if p.rest != "" {
		piece, p.rest = p.rest+piece, ""
	}
	for back := 1; back <= min(utf8.UTFMax-1, len(piece)); back++ {
		if c := piece[len(piece)-back]; utf8.RuneStart(c) {
			if c >= utf8.RuneSelf && !utf8.FullRuneInString(piece[len(piece)-back:]) {
				piece, p.rest = piece[:len(piece)-back], piece[len(piece)-back:]
			}
			break
		}
	}
	return Shown(piece)
}

// Last returns what is left at the end of the text.
func (p *Pieces) Last() string {
	rest := p.rest
	p.rest = ""
	return Shown(rest)
}
