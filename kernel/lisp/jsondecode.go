package lisp

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"org-agent/kernel/plist"
)

// jsonDecoder reads one JSON value.
type jsonDecoder struct {
	call  *Call
	chars []rune
	pos   int
	// How the note wants it: a function for names, for keys and for each kind of token,
	// nil for those that are as at first.
	names, keys, booleans, integers, reals Value
	arrayType                              Value
	lenient                                bool
}

// jsonDecoder prepares reading, as the variables of cl-json say.
func (c *Call) jsonDecoder(chars []rune) *jsonDecoder {
	l := c.environment.language
	changed := func(name string) Value {
		v := c.jsonVariable(name)
		if v == l.variables[l.symbol("JSON:"+name)].value {
			return nil
		}
		return v
	}
	return &jsonDecoder{
		call: c, chars: chars, names: changed("*JSON-IDENTIFIER-NAME-TO-LISP*"), keys: changed("*IDENTIFIER-NAME-TO-KEY*"),
		booleans: changed("*BOOLEAN-HANDLER*"), integers: changed("*INTEGER-HANDLER*"), reals: changed("*REAL-HANDLER*"),
		arrayType: changed("*JSON-ARRAY-TYPE*"), lenient: c.jsonVariable("*USE-STRICT-JSON-RULES*") == Nil,
	}
}

// token is what a function of the note makes of a token.
func (d *jsonDecoder) token(function Value, text string) Value {
	return single(d.call.funcall(function, []Value{d.call.text(text)}))
}

// maximumJSONDepth bounds nested arrays and objects.
const maximumJSONDepth = 1000

func (d *jsonDecoder) fail(format string, args ...any) {
	d.call.libraryError("JSON:JSON-SYNTAX-ERROR", fmt.Sprintf(format, args...)+fmt.Sprintf(" [in JSON, at character %d]", d.pos))
}

func (d *jsonDecoder) blanks() {
	start := d.pos
	for d.pos < len(d.chars) && strings.ContainsRune(" \t\r\n\f", d.chars[d.pos]) {
		d.pos++
	}
	d.call.work(d.pos - start)
}

// next is the next character that is not blank; there must be one.
func (d *jsonDecoder) next() rune {
	if d.blanks(); d.pos >= len(d.chars) {
		d.ended("the JSON text ends too early")
	}
	return d.chars[d.pos]
}

func (d *jsonDecoder) ended(message string) {
	d.call.signalError(d.call.newCondition(endOfFile, message, "STREAM", newInput(nil)))
}

func (d *jsonDecoder) value(depth int) Value {
	c := d.call
	c.step()
	if depth > maximumJSONDepth {
		d.fail("nested deeper than %d levels", maximumJSONDepth)
	}
	switch r := d.next(); {
	case r == '{':
		return d.object(depth)
	case r == '[':
		return d.array(depth)
	case r == '"':
		return runesString(d.str())
	case r == '-' || r >= '0' && r <= '9':
		return d.number()
	case unicode.IsLetter(r):
		return d.word()
	default:
		d.fail("unexpected character %q", r)
	}
	return nil
}

func (d *jsonDecoder) word() Value {
	start := d.pos
	for d.pos < len(d.chars) && unicode.IsLetter(d.chars[d.pos]) {
		d.pos++
	}
	word := string(d.chars[start:min(d.pos, start+20)])
	switch {
	case word != "true" && word != "false" && word != "null":
		d.pos = start
		d.fail("unexpected word %q", word)
	case d.booleans != nil:
		return d.token(d.booleans, word)
	}
	return Boolean(word == "true")
}

func (d *jsonDecoder) array(depth int) Value {
	d.pos++
	var list builder
	if d.next() == ']' {
		d.pos++
	} else {
		for ended := false; !ended; ended = d.separator(']') {
			d.call.charge(consBytes)
			list.add(d.value(depth + 1))
		}
	}
	if d.arrayType == nil {
		return list.list()
	}
	return single(d.call.funcall(symCoerce, []Value{list.list(), d.arrayType}))
}

// separator passes a comma, or the end, which it reports.
func (d *jsonDecoder) separator(end rune) bool {
	switch d.next() {
	case ',':
		d.pos++
		return false
	case end:
		d.pos++
		return true
	}
	d.fail("a comma or %c is missing", end)
	return true
}

func (d *jsonDecoder) object(depth int) Value {
	d.pos++
	c := d.call
	var list builder
	if d.next() == '}' {
		d.pos++
		return Nil
	}
	for {
		if d.next() != '"' {
			d.fail("the name of a field is missing")
		}
		key := d.key(d.str())
		c.charge(2 * consBytes)
		if d.next() != ':' {
			d.fail("a colon is missing behind the name of a field")
		}
		d.pos++
		list.add(&Cons{Car: key, Cdr: d.value(depth + 1)})
		if d.separator('}') {
			return list.list()
		}
	}
}

// key is what stands for a field.
func (d *jsonDecoder) key(name []rune) Value {
	c := d.call
	named := Value(nil)
	if d.names != nil {
		named = single(c.funcall(d.names, []Value{c.newString(name)}))
	} else {
		c.work(len(name))
		named = c.text(lispName(string(name)))
	}
	if d.keys != nil {
		return single(c.funcall(d.keys, []Value{named}))
	}
	return c.jsonSymbol(c.name(named))
}

// jsonPackage is where the symbols of keys are.
func (c *Call) jsonPackage() *Package {
	if p := c.jsonVariable("*JSON-SYMBOLS-PACKAGE*"); p != Nil {
		return c.pkg(p)
	}
	return c.currentPackage()
}

// jsonSymbol makes the symbol of a key. Those that the note does not have yet go when
// nothing refers to them any more.
func (c *Call) jsonSymbol(name string) *Symbol {
	c.charge(entryBytes + 2*len(name))
	symbol, _ := c.jsonPackage().intern(name, false)
	return symbol
}

func (d *jsonDecoder) str() []rune {
	d.pos++
	var out []rune
	for {
		start := d.pos
		for d.pos < len(d.chars) && d.chars[d.pos] != '"' && d.chars[d.pos] != '\\' {
			d.pos++
		}
		d.call.chargeMany(d.pos-start+1, 2*runeBytes)
		out = append(out, d.chars[start:d.pos]...)
		if d.pos >= len(d.chars) {
			d.ended("the JSON text ends inside a string")
		}
		d.pos++
		if d.chars[d.pos-1] == '"' {
			return out
		}
		out = append(out, d.escape())
	}
}

// escape reads what stands behind a backslash.
func (d *jsonDecoder) escape() rune {
	if d.pos >= len(d.chars) {
		d.ended("the JSON text ends inside a string")
	}
	r := d.chars[d.pos]
	d.pos++
	switch r {
	case 'n':
		return '\n'
	case 't':
		return '\t'
	case 'r':
		return '\r'
	case 'b':
		return '\b'
	case 'f':
		return '\f'
	case 'u':
		first := d.hexadecimal()
		if utf16.IsSurrogate(first) && d.pos+1 < len(d.chars) && d.chars[d.pos] == '\\' && d.chars[d.pos+1] == 'u' {
			d.pos += 2
			return utf16.DecodeRune(first, d.hexadecimal())
		}
		return first
	case '"', '\\', '/':
		return r
	}
	if !d.lenient {
		d.fail("\\%c is no escape in a string", r)
	}
	return r
}

func (d *jsonDecoder) hexadecimal() rune {
	if d.pos+4 > len(d.chars) {
		d.fail("\\u wants four digits")
	}
	n, err := strconv.ParseUint(string(d.chars[d.pos:d.pos+4]), 16, 32)
	if err != nil {
		d.fail("\\u wants four digits")
	}
	d.pos += 4
	return rune(n)
}

// number reads a number: digits, which do not begin with a zero, and those behind a point
// and an exponent.
func (d *jsonDecoder) number() Value {
	start, kind := d.pos, d.integers
	d.accept("-")
	if !d.accept("0") {
		d.digits()
	}
	real := d.accept(".")
	if real {
		d.digits()
	}
	if d.accept("eE") {
		real = true
		d.accept("+-")
		d.digits()
	}
	if d.pos-start > maximumDigits {
		d.fail("a number has more than %d digits", maximumDigits)
	}
	if real {
		kind = d.reals
	}
	text := string(d.chars[start:d.pos])
	if kind != nil {
		return d.token(kind, text)
	}
	return d.call.jsonNumber(text)
}

func (d *jsonDecoder) accept(any string) bool {
	if d.pos < len(d.chars) && strings.ContainsRune(any, d.chars[d.pos]) {
		d.pos++
		return true
	}
	return false
}

func (d *jsonDecoder) digits() {
	start := d.pos
	for d.pos < len(d.chars) && d.chars[d.pos] >= '0' && d.chars[d.pos] <= '9' {
		d.pos++
	}
	d.call.work(d.pos - start)
	if d.pos == start {
		d.fail("a digit is missing in a number")
	}
}

// jsonNumber is the number that a token names: an integer, or a float of the format
// that numbers are read in.
func (c *Call) jsonNumber(text string) Value {
	c.chargeMany(len(text), 2)
	c.work(len(text) * len(text) / 64)
	if !strings.ContainsAny(text, ".eE") {
		if v, ok := parseNumber(plist.Integer, text, false); ok && len(text) <= maximumDigits {
			return v
		}
		c.libraryError("JSON:JSON-SYNTAX-ERROR", sketchText(text, 40)+" is no number, or too large")
	}
	bits := 32
	if c.doubleFormat() {
		bits = 64
	}
	v, err := strconv.ParseFloat(text, bits)
	if errors.Is(err, strconv.ErrRange) {
		c.fail("FLOATING-POINT-OVERFLOW", "the number %s is too large for a float", sketchText(text, 40))
	}
	if err != nil {
		c.libraryError("JSON:JSON-SYNTAX-ERROR", sketchText(text, 40)+" is no number")
	}
	if bits == 32 {
		return float32(v)
	}
	return v
}
