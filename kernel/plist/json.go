package plist

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/chewxy/sexp"
)

// jsonState is the result of scanJSON.
type jsonState int

const (
	jsonOther          jsonState = iota // an object that is not an action
	jsonAction                          // an object with a key type, target or action
	jsonUnclosed                        // the text ends inside an object
	jsonUnclosedAction                  // the text ends inside an object that has such a key
	jsonInvalid                         // not JSON; the offset is that of the error
)

// scanJSON skips the object at i without building it. It returns the offset after the object, or
// the one that jsonInvalid defines, which is then after i. A text that has a key of an action and
// stops being JSON later is a broken action, which is not shown.
func scanJSON(text string, i int) (end int, state jsonState) {
	var open []byte
	action := false
	key := false  // a key or } is wanted
	value := true // a value is wanted
	for i < len(text) {
		c := text[i]
		if classes[c]&blank != 0 {
			i++
			continue
		}
		start := i
		switch {
		case (c == '{' || c == '[') && value:
			open = append(open, c)
			key, value = c == '{', c == '['
			i++
		case (c == '}' || c == ']') && len(open) > 0 && open[len(open)-1] == c-2:
			open = open[:len(open)-1]
			if i++; len(open) == 0 {
				if action {
					return i, jsonAction
				}
				return i, jsonOther
			}
			key, value = false, false
		case c == ',' && len(open) > 0 && !key && !value:
			key = open[len(open)-1] == '{'
			value = !key
			i++
		case c == '"' && (key || value):
			if i = jsonStringEnd(text, i); i < 0 {
				return len(text), unclosedJSON(action)
			}
			if key {
				action = action || len(open) == 1 && actionKey(text[start+1:i-1])
				for i < len(text) && classes[text[i]]&blank != 0 {
					i++
				}
				if i == len(text) {
					return i, unclosedJSON(action)
				}
				if text[i] != ':' {
					return brokenJSON(text, i, len(open), action)
				}
				i++
			}
			key, value = false, key
		case value && jsonWord(c):
			for i < len(text) && jsonWord(text[i]) {
				i++
			}
			value = false
		default:
			return brokenJSON(text, i, len(open), action)
		}
	}
	return i, unclosedJSON(action)
}

// brokenJSON returns the result of scanJSON for an object that stops being JSON at i, where depth
// brackets are open. It finds the end of a broken action by its brackets and strings.
func brokenJSON(text string, i, depth int, action bool) (int, jsonState) {
	if !action {
		return i, jsonInvalid
	}
	for ; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1, jsonAction
			}
		case '"':
			if i = jsonStringEnd(text, i) - 1; i < 0 {
				return len(text), jsonUnclosedAction
			}
		}
	}
	return i, jsonUnclosedAction
}

func unclosedJSON(action bool) jsonState {
	if action {
		return jsonUnclosedAction
	}
	return jsonUnclosed
}

// jsonStringEnd returns the offset after the string that begins at i, or -1.
func jsonStringEnd(text string, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// jsonWord reports whether c can stand in a number, in true, false or null, or in a word that is
// confused with these.
func jsonWord(c byte) bool { return alphanumeric(c) || c == '+' || c == '-' || c == '.' || c == '_' }

func actionKey(key string) bool {
	switch strings.ToLower(strings.TrimPrefix(key, ":")) {
	case "type", "target", "action":
		return true
	}
	return false
}

// enumKey reports whether the values of key are keywords in an action.
func enumKey(key Keyword) bool {
	switch key {
	case "type", "target", "action", "sensor", "channel", "act":
		return true
	}
	return false
}

// jsonReader reads one JSON object as a plist. Keys and the strings under enum keys become
// keywords, but under args strings stay strings. Arrays become lists, true becomes t, and false,
// null, {} and [] become nil.
type jsonReader struct {
	src    string
	pos    int
	limits Limits
	atoms  int
	open   []byte // the expected closers, outermost first
}

func (r *jsonReader) object(inArgs bool) (sexp.Sexp, error) {
	start := r.pos
	var list sexp.List
	err := r.elements('}', func() error {
		key, err := r.key(start)
		if err != nil {
			return err
		}
		value, err := r.value(start, inArgs || key == "args")
		if err != nil {
			return err
		}
		if s, ok := value.(String); ok && !inArgs && enumKey(key) {
			if enum := strings.TrimPrefix(string(s), ":"); ValidName(":" + enum) {
				value = Keyword(fold(enum))
			}
		}
		list = append(list, key, value)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// key reads a key of an object and skips the colon.
func (r *jsonReader) key(start int) (Keyword, error) {
	if r.src[r.pos] != '"' {
		return "", r.fail(r.pos, BadToken, "a key in double quotes should be here")
	}
	at := r.pos
	name, err := r.str()
	if err != nil {
		return "", err
	}
	name = strings.TrimPrefix(name, ":")
	if !ValidName(":" + name) {
		return "", r.fail(at, BadToken, "%.40q cannot be a key; use letters, digits and -", name)
	}
	if err := r.count(at); err != nil {
		return "", err
	}
	c, err := r.next(start)
	if err != nil {
		return "", err
	}
	if c != ':' {
		return "", r.fail(r.pos, BadToken, "a colon should be here")
	}
	r.pos++
	return Keyword(fold(name)), nil
}

func (r *jsonReader) array(inArgs bool) (sexp.Sexp, error) {
	start := r.pos
	var list sexp.List
	err := r.elements(']', func() error {
		value, err := r.value(start, inArgs)
		list = append(list, value)
		return err
	})
	if err != nil {
		return nil, err
	}
	return list, nil
}

// elements reads an object or array and calls element at the beginning of each element. An empty
// one counts as one atom, as in a plist.
func (r *jsonReader) elements(closer byte, element func() error) error {
	start := r.pos
	if len(r.open) >= r.limits.Depth {
		return r.fail(start, LimitExceeded, "nested deeper than %d levels; make it flatter", r.limits.Depth)
	}
	r.open = append(r.open, closer)
	r.pos++
	c, err := r.next(start)
	if err != nil {
		return err
	}
	if c == closer {
		err = r.count(start)
	}
	for more := c != closer; more && err == nil; {
		if err = element(); err == nil {
			more, err = r.comma(closer, start)
		}
	}
	if err != nil {
		return err
	}
	r.open = r.open[:len(r.open)-1]
	r.pos++
	return nil
}

// next returns the character after the white space.
func (r *jsonReader) next(start int) (byte, error) {
	for r.pos < len(r.src) && classes[r.src[r.pos]]&blank != 0 {
		r.pos++
	}
	if r.pos == len(r.src) {
		return 0, r.fail(start, UnclosedList, "this is not closed: %d closing brackets missing at the end", len(r.open))
	}
	return r.src[r.pos], nil
}

// comma moves to the next element, after a comma. It returns false at the closer and does not skip
// it.
func (r *jsonReader) comma(closer byte, start int) (bool, error) {
	c, err := r.next(start)
	if err != nil {
		return false, err
	}
	if c == closer {
		return false, nil
	}
	if c != ',' {
		return false, r.fail(r.pos, BadToken, "a comma or %c should be here", closer)
	}
	r.pos++
	_, err = r.next(start)
	return err == nil, err
}

func (r *jsonReader) value(start int, inArgs bool) (sexp.Sexp, error) {
	c, err := r.next(start)
	if err != nil {
		return nil, err
	}
	switch c {
	case '{':
		return r.object(inArgs)
	case '[':
		return r.array(inArgs)
	}
	if err := r.count(r.pos); err != nil {
		return nil, err
	}
	if c == '"' {
		s, err := r.str()
		return String(s), err
	}
	at := r.pos
	for r.pos < len(r.src) && jsonWord(r.src[r.pos]) {
		r.pos++
	}
	text := r.src[at:r.pos]
	switch text {
	case "true":
		return T, nil
	case "false", "null":
		return sexp.List(nil), nil
	case "":
		return nil, r.fail(at, BadToken, "a value should be here")
	}
	switch dataNumber(text) {
	case Integer:
		return integer(text), nil
	case Decimal:
		if f, err := strconv.ParseFloat(text, 64); err == nil && !math.IsInf(f, 0) {
			return Float(f), nil
		}
		return nil, r.fail(at, BadToken, "the number %.40s is out of range; write a smaller one", text)
	}
	return nil, r.fail(at, BadToken, "%.40q is not a value; put it in double quotes", text)
}

// count subtracts one atom from the object's limit. An empty object or array is nil and counts as
// one.
func (r *jsonReader) count(at int) error {
	if r.atoms++; r.atoms > r.limits.Atoms {
		return r.fail(at, LimitExceeded, "more than %d atoms in one form; split it", r.limits.Atoms)
	}
	return nil
}

// str reads a string with JSON's escapes. Raw control characters stay.
func (r *jsonReader) str() (string, error) {
	start := r.pos
	end := jsonStringEnd(r.src, start)
	if end < 0 {
		return "", r.fail(start, UnclosedString, "this string is not closed; add its closing quote")
	}
	r.pos = end
	return jsonText(r.src[start+1 : end-1]), nil
}

// jsonText returns the content of a string with its escapes decoded.
func jsonText(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c != '\\' || i+1 == len(s) {
			b.WriteByte(c)
			continue
		}
		i++
		switch c = s[i]; c {
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'u':
			unit, ok := hex4(s, i+1)
			if !ok {
				b.WriteByte(c)
				continue
			}
			i += 4
			if low, ok := hex4(s, i+3); ok && utf16.IsSurrogate(unit) && strings.HasPrefix(s[i+1:], `\u`) {
				if pair := utf16.DecodeRune(unit, low); pair != utf8.RuneError {
					unit = pair
					i += 6
				}
			}
			b.WriteRune(unit) // a lone surrogate is written as U+FFFD
		default:
			b.WriteByte(unescape(c))
		}
	}
	return b.String()
}

func hex4(s string, i int) (rune, bool) {
	if i+4 > len(s) {
		return 0, false
	}
	n, err := strconv.ParseUint(s[i:i+4], 16, 16)
	return rune(n), err == nil
}

func (r *jsonReader) fail(at int, kind ErrorKind, format string, args ...any) error {
	return &SyntaxError{Position: Position{Line: 1, Column: 1}.advance(r.src, at, false), Kind: kind, Message: fmt.Sprintf(format, args...)}
}
