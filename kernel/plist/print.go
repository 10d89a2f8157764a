package plist

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/chewxy/sexp"
)

// Print returns the canonical form of x. It is one line: a newline in a string is \n. Names are in
// lower case, strings escape only \" \\ \n \t \r, pairs are (a . b), floats are printed as Emacs
// prints them, and one blank separates elements. [Read] and Emacs read x back.
//
// A name that cannot be a token, which occurs only in trees made by hand, prints as a string, so
// that the output always has the shape of the tree. A nil Sexp prints as nil. Because escapes are
// longer than their characters, the output can exceed the reader's byte limit even if the input did
// not.
func Print(x sexp.Sexp) string { return string(AppendPrint(nil, x)) }

// AppendPrint appends the canonical form of x to dst.
func AppendPrint(dst []byte, x sexp.Sexp) []byte {
	switch x := x.(type) {
	case nil:
		return append(dst, "nil"...)
	case sexp.List:
		if len(x) == 0 {
			return append(dst, "nil"...)
		}
		for i, item := range x {
			if i == 0 {
				dst = append(dst, '(')
			} else {
				dst = append(dst, ' ')
			}
			dst = AppendPrint(dst, item)
		}
		return append(dst, ')')
	case *Pair:
		return appendPair(dst, x)
	case Keyword:
		return appendName(dst, ":", string(x))
	case sexp.Symbol:
		return appendName(dst, "", string(x))
	case String:
		return appendString(dst, string(x))
	case Int:
		return strconv.AppendInt(dst, int64(x), 10)
	case BigInt:
		if NumberSyntax(string(x)) != Integer {
			return appendString(dst, string(x))
		}
		return append(dst, x...)
	case Float:
		return appendFloat(dst, float64(x))
	}
	return appendString(dst, "unknown kind of data")
}

func appendPair(dst []byte, p *Pair) []byte {
	dst = append(dst, '(')
	for {
		dst = AppendPrint(dst, p.Car)
		next, ok := p.Cdr.(*Pair)
		if !ok {
			break
		}
		dst = append(dst, ' ')
		p = next
	}
	if list, ok := p.Cdr.(sexp.List); ok {
		for _, item := range list {
			dst = append(dst, ' ')
			dst = AppendPrint(dst, item)
		}
		return append(dst, ')')
	}
	dst = append(dst, " . "...)
	dst = AppendPrint(dst, p.Cdr)
	return append(dst, ')')
}

// appendName writes a symbol or keyword; sigil is "" or ":".
func appendName(dst []byte, sigil, name string) []byte {
	if !ValidName(sigil + name) {
		return appendString(dst, sigil+name)
	}
	dst = append(dst, sigil...)
	for _, c := range []byte(name) {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}

// ValidName reports whether name is one token that reads as a symbol, or as a keyword if it begins
// with a colon. Letters may have either case.
func ValidName(name string) bool {
	if name == "" || name[0] == '?' || name == "." || strings.HasPrefix(name, ".?") {
		return false
	}
	ascii := true
	for _, c := range []byte(name) {
		if classes[c]&word == 0 {
			ascii = false
			break
		}
	}
	if !ascii {
		for _, c := range name {
			if c == utf8.RuneError || c < utf8.RuneSelf && classes[c]&word == 0 || c >= utf8.RuneSelf && !wordRune(c) {
				return false
			}
		}
	}
	return dataNumber(name) == NotNumber
}

func appendString(dst []byte, s string) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, s[start:i]...), "\uFFFD"...)
				start = i + 1
			}
			i += n
			continue
		}
		escape := byte(0)
		switch c {
		case '"', '\\':
			escape = c
		case '\n':
			escape = 'n'
		case '\t':
			escape = 't'
		case '\r':
			escape = 'r'
		}
		if escape != 0 {
			dst = append(append(dst, s[start:i]...), '\\', escape)
			start = i + 1
		}
		i++
	}
	return append(append(dst, s[start:]...), '"')
}

// appendFloat writes the first of %.15g %.16g %.17g that reads back. For subnormal numbers, which
// have fewer than 15 digits, it begins with %.1g, as Emacs does.
func appendFloat(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, "0.0e+NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "1.0e+INF"...)
	case math.IsInf(f, -1):
		return append(dst, "-1.0e+INF"...)
	}
	precision := 15
	if math.Abs(f) < 0x1p-1022 {
		precision = 1
	}
	for ; ; precision++ {
		text := formatG(f, precision)
		if back, err := strconv.ParseFloat(text, 64); precision == 17 || err == nil && back == f {
			dst = append(dst, text...)
			if !strings.ContainsAny(text, ".e") {
				dst = append(dst, ".0"...)
			}
			return dst
		}
	}
}

// formatG formats as C's %.<precision>g, which differs from strconv's 'g'.
func formatG(f float64, precision int) string {
	scientific := strconv.FormatFloat(f, 'e', precision-1, 64)
	mantissa, exponent, _ := strings.Cut(scientific, "e")
	x, _ := strconv.Atoi(exponent) // FormatFloat wrote a valid exponent
	if x < -4 || x >= precision {
		return trimZeros(mantissa) + "e" + exponent
	}
	return trimZeros(strconv.FormatFloat(f, 'f', precision-1-x, 64))
}

// trimZeros removes the zeros at the end of a fraction, and its point if no digit remains.
func trimZeros(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}
