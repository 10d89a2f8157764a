package plist

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

type class uint8

const (
	blank     class = 1 << iota // white space
	word                        // may stand in a data token
	delimiter                   // ends a token in both modes
	plain                       // may stand in a token of Lisp mode, and means itself
)

// classes are the classes of the ASCII characters. They do not change after the package is loaded.
var classes = func() (c [256]class) {
	for _, b := range []byte(" \t\n\r\f\v") {
		c[b] = blank | delimiter
	}
	for _, b := range []byte(`()"';`) {
		c[b] = delimiter
	}
	for b := byte('0'); b <= '9'; b++ {
		c[b] = word
	}
	for b := byte('a'); b <= 'z'; b++ {
		c[b], c[b-'a'+'A'] = word, word
	}
	for _, b := range []byte("+-*/<>=!$%&_.:@^~?") {
		c[b] = word
	}
	for b := range byte(utf8.RuneSelf) {
		if c[b]&delimiter == 0 && strings.IndexByte("\\|`,", b) < 0 {
			c[b] |= plain
		}
	}
	return c
}()

// isASCII reports whether s has only ASCII characters.
func isASCII(s string) bool {
	for ; len(s) >= 8; s = s[8:] {
		if s[0]|s[1]|s[2]|s[3]|s[4]|s[5]|s[6]|s[7] >= utf8.RuneSelf {
			return false
		}
	}
	for i := 0; i < len(s); i++ {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// blankRune returns the length of the non-ASCII white space at the start of s, or 0.
func blankRune(s string) int {
	if c, n := utf8.DecodeRuneInString(s); c >= utf8.RuneSelf && unicode.IsSpace(c) {
		return n
	}
	return 0
}

// wordRune reports whether a non-ASCII character may stand in a token: letters, and the marks with
// which many scripts write their vowels.
func wordRune(c rune) bool { return unicode.IsLetter(c) || unicode.IsMark(c) }

func unescape(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	}
	return c
}

// validText replaces each byte that is not UTF-8 with U+FFFD.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + len(s)/8)
	for _, c := range s { // ranging yields U+FFFD for each bad byte
		b.WriteRune(c)
	}
	return b.String()
}

// fold converts only ASCII letters to lower case.
func fold(s string) string {
	for i := 0; i < len(s); i++ {
		if 'A' <= s[i] && s[i] <= 'Z' {
			b := []byte(s)
			for ; i < len(b); i++ {
				if 'A' <= b[i] && b[i] <= 'Z' {
					b[i] += 'a' - 'A'
				}
			}
			return string(b)
		}
	}
	return s
}

// dataToken reads a token of Data mode.
func (r *Reader[V]) dataToken() (v V, made bool, err error) {
	start := r.pos
	i := start
	for i < r.end {
		c := r.src[i]
		if classes[c]&word != 0 {
			i++
			continue
		}
		if classes[c]&delimiter != 0 {
			break
		}
		n, err := r.dataRune(i)
		if err != nil {
			return v, false, err
		}
		if n == 0 {
			break
		}
		i += n
	}
	r.pos = i
	if i == r.end {
		if err := r.cut(); err != nil {
			return v, false, err
		}
	}
	text := r.src[start:i]
	if text[0] == '?' || strings.HasPrefix(text, ".?") {
		return v, false, r.fail(start, BadToken, "a token may not begin with ?; put it in a string")
	}
	return r.token(start, text, false)
}

// dataRune returns the length of the non-ASCII token character at i, 0 for white space, or an
// error.
func (r *Reader[V]) dataRune(i int) (int, error) {
	c, n := utf8.DecodeRuneInString(r.src[i:])
	switch {
	case c >= utf8.RuneSelf && unicode.IsSpace(c):
		return 0, nil
	case c >= utf8.RuneSelf && wordRune(c):
		return n, nil
	}
	r.pos = i
	if c == '[' || c == ']' || c == '{' || c == '}' {
		return 0, r.fail(i, BadToken, "%c is not allowed outside a string; lists are written with ( )", c)
	}
	return 0, r.fail(i, BadToken, "%q is not allowed outside a string; put it in a string", c)
}

// NumberKind is the kind of number that a token is in Common Lisp's syntax.
type NumberKind int

const (
	NotNumber NumberKind = iota
	Integer              // 12 -7 +3 12.
	Ratio                // 1/2
	Decimal              // 1.5 .5 1e3 1.d0
)

// NumberSyntax returns the kind of number that text is in base ten. The exponent marker of a
// Decimal is one of e s f d l in either case.
func NumberSyntax(text string) NumberKind {
	i := 0
	if i < len(text) && (text[i] == '+' || text[i] == '-') {
		i++
	}
	whole := digits(text, i)
	end := i + whole
	if whole > 0 && end == len(text) {
		return Integer
	}
	if whole > 0 && text[end] == '/' {
		if n := digits(text, end+1); n > 0 && end+1+n == len(text) {
			return Ratio
		}
		return NotNumber
	}
	fraction := 0
	if end < len(text) && text[end] == '.' {
		if whole > 0 && end+1 == len(text) {
			return Integer
		}
		fraction = digits(text, end+1)
		end += 1 + fraction
		if fraction > 0 && end == len(text) {
			return Decimal
		}
	}
	if whole+fraction == 0 || end >= len(text) || !strings.ContainsRune("eEsSfFdDlL", rune(text[end])) {
		return NotNumber
	}
	end++
	if end < len(text) && (text[end] == '+' || text[end] == '-') {
		end++
	}
	if n := digits(text, end); n > 0 && end+n == len(text) {
		return Decimal
	}
	return NotNumber
}

// digits counts the decimal digits of text from i on.
func digits(text string, i int) int {
	n := 0
	for i+n < len(text) && '0' <= text[i+n] && text[i+n] <= '9' {
		n++
	}
	return n
}
