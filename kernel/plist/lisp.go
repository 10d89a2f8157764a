package plist

import (
	"strings"
	"unicode/utf8"
)

// lispStep does the same as step for the syntax of Lisp mode.
func (r *Reader[V]) lispStep(c byte) (v V, made bool, err error) {
	switch c {
	case '`':
		return v, false, r.open(frame{kind: prefixFrame, prefix: PrefixBackquote}, 1)
	case ',':
		if next := r.peek(1); next == '@' || next == '.' {
			return v, false, r.open(frame{kind: prefixFrame, prefix: PrefixCommaAt}, 2)
		}
		return v, false, r.open(frame{kind: prefixFrame, prefix: PrefixComma}, 1)
	case '#':
		return r.dispatch()
	case '\b', 127:
		return v, false, r.fail(r.pos, BadToken, "%q is not allowed outside a string", c)
	}
	start := r.pos
	text, escaped, err := r.lispToken(start)
	if err != nil {
		return v, false, err
	}
	return r.token(start, text, escaped)
}

// peek returns the byte n after the current one, or 0.
func (r *Reader[V]) peek(n int) byte {
	if r.pos+n < r.end {
		return r.src[r.pos+n]
	}
	return 0
}

// dispatch reads the syntax after a #.
func (r *Reader[V]) dispatch() (v V, made bool, err error) {
	start := r.pos
	n := digits(r.src[:r.end], r.pos+1)
	c := r.peek(1 + n)
	if r.suppressed > 0 {
		if made, known, err := r.skipDispatch(n, c); known {
			return v, made, err
		}
	}
	if v, made, known, err := r.extended(n, c); known {
		return v, made, err
	}
	if n > 0 && c != 0 && c != 'r' && c != 'R' {
		return v, false, r.fail(start, BadToken, "#%s%c is not supported", r.src[start+1:start+1+n], c)
	}
	switch c {
	case '\'':
		return v, false, r.open(frame{kind: prefixFrame, prefix: PrefixFunction}, 2)
	case '(':
		return v, false, r.open(frame{kind: vectorFrame}, 2)
	case '\\':
		v, err = r.char(2)
		return v, true, err
	case ':':
		v, err = r.uninterned()
		return v, true, err
	case '+', '-':
		return v, false, r.feature(c == '+')
	case 'p', 'P':
		return v, false, r.open(frame{kind: prefixFrame, prefix: PrefixPathname}, 2)
	case 'b', 'B':
		v, err = r.radix(2, 2)
	case 'o', 'O':
		v, err = r.radix(8, 2)
	case 'x', 'X':
		v, err = r.radix(16, 2)
	case 'r', 'R':
		base := smallNumber(r.src[start+1 : start+1+n])
		if base < 2 || base > 36 {
			return v, false, r.fail(start, BadToken, "#NNr wants a radix from 2 to 36")
		}
		v, err = r.radix(base, n+2)
	case '.':
		if r.pos+2 >= r.end {
			return v, false, r.open2end(start, "a form is missing after #.")
		}
		return v, false, r.fail(start, BadToken, "#. runs code while reading and is never allowed; compute the value in a function")
	case 0:
		return v, false, r.open2end(start, "something is missing after this #")
	default:
		c, _ := utf8.DecodeRuneInString(r.src[start+1:])
		return v, false, r.fail(start, BadToken, "#%c is not supported", c)
	}
	return v, true, err
}

// smallNumber parses digits. A number above a million becomes a million.
func smallNumber(digits string) int {
	n := 0
	for _, d := range digits {
		n = min(n*10+int(d-'0'), 1_000_000)
	}
	return n
}

// extended reads # syntax for a [Dispatcher]. The number after the # has n digits.
func (r *Reader[V]) extended(n int, c byte) (v V, made, known bool, err error) {
	dispatcher, ok := r.maker.(Dispatcher[V])
	if !ok {
		return v, false, false, nil
	}
	start, number := r.pos, -1
	if n > 0 {
		number = smallNumber(r.src[start+1 : start+1+n])
	}
	if 'a' <= c && c <= 'z' {
		c -= 'a' - 'A'
	}
	switch {
	case c == '*':
		text, escaped, err := r.lispToken(start + n + 2)
		if err == nil && (escaped || strings.Trim(text, "01") != "") {
			err = r.fail(start, BadToken, "#* wants the digits 0 and 1")
		}
		if err != nil || r.suppressed > 0 {
			return v, true, true, err
		}
		at := r.place(start)
		v, err = dispatcher.Bits(at, number, text)
		return v, true, true, r.wrapError(at, err)
	case c == '#' && n > 0:
		r.pos += n + 2
		if r.suppressed > 0 {
			return v, true, true, nil
		}
		at := r.place(start)
		v, err = dispatcher.Reference(at, number)
		return v, true, true, r.wrapError(at, err)
	case c == '=' && n > 0:
		if r.suppressed == 0 {
			at := r.place(start)
			if err := r.wrapError(at, dispatcher.Label(at, number)); err != nil {
				return v, false, true, err
			}
		}
	case c == '(' && n > 0: // the vector is read as a list
		return v, false, true, r.open(frame{kind: dispatchFrame, char: c, number: number}, n+1)
	case (c == 'C' || c == 'S') && n == 0, c == 'A':
	default:
		return v, false, false, nil
	}
	return v, false, true, r.open(frame{kind: dispatchFrame, char: c, number: number}, n+2)
}

// lispToken reads a token from start. text contains its | and \ as written.
func (r *Reader[V]) lispToken(start int) (text string, escaped bool, err error) {
	i := start
	for {
		for i < r.end && classes[r.src[i]]&plain != 0 {
			i++
		}
		if i == r.end {
			break
		}
		c := r.src[i]
		if c == '\\' {
			escaped = true
			if i+1 >= r.end {
				return "", false, r.open2end(i, "a character is missing after this \\")
			}
			_, n := utf8.DecodeRuneInString(r.src[i+1 : r.end])
			i += 1 + n
			continue
		}
		if c == '|' {
			escaped = true
			n := r.bar(i + 1)
			if n < 0 {
				return "", false, r.open2end(i, "this | is not closed; add its second |")
			}
			i = n
			continue
		}
		if c < utf8.RuneSelf || blankRune(r.src[i:]) > 0 {
			break
		}
		i++
	}
	r.pos = i
	if i == r.end {
		if err := r.cut(); err != nil {
			return "", false, err
		}
	}
	text = r.src[start:i]
	if !r.valid {
		text = validText(text)
	}
	if len(text) > 1 && text[0] == '.' && !escaped && strings.Trim(text, ".") == "" && r.suppressed == 0 {
		return "", false, r.fail(start, BadToken, "a token of dots only is not a symbol")
	}
	if text != "" && text[len(text)-1] == ':' && !escaped && r.suppressed == 0 {
		if i == r.end {
			return "", false, r.open2end(start, "a name is missing after this :")
		}
		return "", false, r.fail(start, BadToken, "a name is missing after %.40q", text)
	}
	return text, escaped, nil
}

// bar returns the end of the |name| whose content begins at i, or -1.
func (r *Reader[V]) bar(i int) int {
	for ; i < r.end; i++ {
		switch r.src[i] {
		case '\\':
			i++
		case '|':
			return i + 1
		}
	}
	return -1
}

// open2end returns the error for a construct that was opened at offset and never closed.
func (r *Reader[V]) open2end(offset int, message string) error {
	r.pos = r.end
	if err := r.cut(); err != nil {
		return err
	}
	return r.fail(offset, UnclosedString, "%s", message)
}

// blockComment skips a #| comment |#, which can be nested.
func (r *Reader[V]) blockComment() error {
	start, depth := r.pos, 0
	for i := r.pos; i+1 < r.end; {
		switch {
		case r.src[i] == '#' && r.src[i+1] == '|':
			depth++
			i += 2
		case r.src[i] == '|' && r.src[i+1] == '#':
			depth--
			i += 2
			if depth == 0 {
				r.pos = i
				return nil
			}
		default:
			i++
		}
	}
	return r.open2end(start, "this #| comment is not closed; add |#")
}

// char reads #\x after an introduction of that width: at least one character, and more if it begins
// a name.
func (r *Reader[V]) char(width int) (v V, err error) {
	start := r.pos
	if err := r.count(start); err != nil {
		return v, err
	}
	if r.pos+width >= r.end {
		return v, r.open2end(start, "a character is missing after #\\")
	}
	_, n := utf8.DecodeRuneInString(r.src[start+width : r.end])
	i := start + width + n
	for i < r.end && classes[r.src[i]]&delimiter == 0 && r.src[i] != '`' && r.src[i] != ',' &&
		(r.src[i] < utf8.RuneSelf || blankRune(r.src[i:]) == 0) {
		i++
	}
	r.pos = i
	if r.suppressed > 0 {
		return v, nil
	}
	at := r.place(start)
	v, err = r.maker.Char(at, validText(r.src[start+width:i]))
	return v, r.wrapError(at, err)
}

func (r *Reader[V]) uninterned() (v V, err error) {
	start := r.pos
	if err := r.count(start); err != nil {
		return v, err
	}
	text, escaped, err := r.lispToken(start + 2)
	if err != nil {
		return v, err
	}
	if !escaped && strings.IndexByte(text, ':') >= 0 {
		return v, r.fail(start, BadToken, "a name after #: has no package")
	}
	if r.suppressed > 0 {
		return v, nil
	}
	at := r.place(start)
	v, err = r.maker.Uninterned(at, text, escaped)
	return v, r.wrapError(at, err)
}

// radix reads the digits of #b #o #x #NNr after an introduction of that width.
func (r *Reader[V]) radix(base, width int) (v V, err error) {
	start := r.pos
	if err := r.count(start); err != nil {
		return v, err
	}
	text, escaped, err := r.lispToken(start + width)
	if err != nil {
		return v, err
	}
	if text == "" && r.pos == r.end {
		return v, r.open2end(start, "digits are missing at the end")
	}
	if escaped || !RadixNumber(text, base) {
		return v, r.fail(start, BadToken, "%.40q is not a number in base %d", text, base)
	}
	if r.suppressed > 0 {
		return v, nil
	}
	at := r.place(start)
	v, err = r.maker.Radix(at, base, text)
	return v, r.wrapError(at, err)
}

// RadixNumber reports whether text is an integer or ratio in base.
func RadixNumber(text string, base int) bool {
	text = strings.TrimLeft(text[:min(1, len(text))], "+-") + text[min(1, len(text)):]
	whole, below, ratio := strings.Cut(text, "/")
	return radixDigits(whole, base) && (!ratio || radixDigits(below, base))
}

func radixDigits(text string, base int) bool {
	for _, c := range []byte(fold(text)) {
		d := int(c) - '0'
		if 'a' <= c && c <= 'z' {
			d = int(c) - 'a' + 10
		} else if d > 9 {
			return false
		}
		if d < 0 || d >= base {
			return false
		}
	}
	return text != ""
}

// feature reads the test of #+ or #-. If the test excludes the next form, it is skipped.
func (r *Reader[V]) feature(want bool) error {
	start := r.pos
	r.pos += 2
	holds, err := r.featureTest(0)
	if err != nil {
		return err
	}
	if holds == want {
		return nil
	}
	r.pos-- // open counts a width of one
	if err := r.open(frame{kind: skipFrame}, 1); err != nil {
		return err
	}
	r.frames[len(r.frames)-1].at = Position{Offset: start}
	r.suppressed++
	return nil
}

// featureTest evaluates a name, (not x), (and x…) or (or x…).
func (r *Reader[V]) featureTest(depth int) (bool, error) {
	if depth > r.limits.Depth {
		return false, r.fail(r.pos, LimitExceeded, "a feature test nested deeper than %d levels", r.limits.Depth)
	}
	if err := r.blanks(); err != nil {
		return false, err
	}
	if r.pos >= r.end {
		return false, r.open2end(r.pos, "a feature name is missing at the end")
	}
	start := r.pos
	if r.src[r.pos] != '(' {
		text, _, err := r.lispToken(r.pos)
		if err != nil {
			return false, err
		}
		if text == "" {
			return false, r.fail(start, BadToken, "this is not a feature name")
		}
		return r.maker.Feature(fold(strings.TrimLeft(text, ":"))), nil
	}
	r.pos++
	if err := r.blanks(); err != nil {
		return false, err
	}
	operator, _, err := r.lispToken(r.pos)
	if err != nil {
		return false, err
	}
	operator = fold(strings.TrimLeft(operator, ":"))
	result := operator != "or"
	for n := 0; ; n++ {
		if err := r.blanks(); err != nil {
			return false, err
		}
		if r.pos < r.end && r.src[r.pos] == ')' {
			r.pos++
			if operator == "and" || operator == "or" || operator == "not" && n == 1 {
				return result, nil
			}
			return false, r.fail(start, BadToken, "a feature test is a name, (not x), (and x ...) or (or x ...)")
		}
		x, err := r.featureTest(depth + 1)
		if err != nil {
			return false, err
		}
		switch operator {
		case "or":
			result = result || x
		case "not":
			result = !x
		default:
			result = result && x
		}
	}
}

// SymbolParts splits a token of Lisp mode into the package before the marker, the number of colons
// of the marker (0, 1 or 2; a keyword has 1 and no package), and the name. Letters are in upper
// case, as Common Lisp's reader folds them, except those after \ or between | |. Only ASCII letters
// are folded.
func SymbolParts(text string, escaped bool) (pkg string, colons int, name string) {
	if !escaped {
		text = upper(text)
		if i := strings.IndexByte(text, ':'); i >= 0 {
			n := 1
			if strings.HasPrefix(text[i+1:], ":") {
				n = 2
			}
			return text[:i], n, text[i+n:]
		}
		return "", 0, text
	}
	var b strings.Builder
	bar := false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\' && i+1 < len(text):
			i++
			b.WriteByte(text[i])
		case c == '|':
			bar = !bar
		case bar:
			b.WriteByte(c)
		case c == ':' && colons == 0:
			pkg, colons = b.String(), 1
			b.Reset()
			if i+1 < len(text) && text[i+1] == ':' {
				colons, i = 2, i+1
			}
		case 'a' <= c && c <= 'z':
			b.WriteByte(c - 'a' + 'A')
		default:
			b.WriteByte(c)
		}
	}
	return pkg, colons, b.String()
}

// upper converts only ASCII letters to upper case.
func upper(s string) string {
	for i := 0; i < len(s); i++ {
		if 'a' <= s[i] && s[i] <= 'z' {
			return string(AppendUpper(make([]byte, 0, len(s)), s))
		}
	}
	return s
}

// AppendUpper appends s to b with its ASCII letters in upper case, as in the names of Lisp symbols.
func AppendUpper(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if 'a' <= c && c <= 'z' {
			c -= 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}
