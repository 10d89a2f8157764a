package json

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"

	"org-agent/kernel/lisp"
)

// valueReader reads one JSON value.
type valueReader struct {
	call  *lisp.Call
	chars []rune
	pos   int
	// How the note wants it: a function for names, for keys and for each kind of token,
	// nil for those that are as at first.
	names, keys, booleans, integers, reals lisp.Value
	arrayType                              lisp.Value
	lenient                                bool
}

// newValueReader prepares reading, as the variables of cl-json say.
func newValueReader(c *lisp.Call, chars []rune) *valueReader {
	changed := func(name string) lisp.Value {
		v := customVariable(c, name)
		if v == c.InitialValue(c.Lookup("JSON:"+name)) {
			return nil
		}
		return v
	}
	return &valueReader{
		call: c, chars: chars, names: changed("*JSON-IDENTIFIER-NAME-TO-LISP*"), keys: changed("*IDENTIFIER-NAME-TO-KEY*"),
		booleans: changed("*BOOLEAN-HANDLER*"), integers: changed("*INTEGER-HANDLER*"), reals: changed("*REAL-HANDLER*"),
		arrayType: changed("*JSON-ARRAY-TYPE*"), lenient: customVariable(c, "*USE-STRICT-JSON-RULES*") == lisp.Nil,
	}
}

// token is what a function of the note makes of a token.
func (d *valueReader) token(function lisp.Value, text string) lisp.Value {
	return lisp.Single(d.call.Funcall(function, d.call.Text(text)))
}

// maximumJSONDepth bounds nested arrays and objects.
const maximumJSONDepth = 1000

func (d *valueReader) fail(format string, args ...any) {
	d.call.Signal("JSON:JSON-SYNTAX-ERROR", fmt.Sprintf(format, args...)+fmt.Sprintf(" [in JSON, at character %d]", d.pos))
}

func (d *valueReader) blanks() {
	start := d.pos
	for d.pos < len(d.chars) && strings.ContainsRune(" \t\r\n\f", d.chars[d.pos]) {
		d.pos++
	}
	d.call.Work(d.pos - start)
}

// next is the next character that is not blank; there must be one.
func (d *valueReader) next() rune {
	if d.blanks(); d.pos >= len(d.chars) {
		d.ended("the JSON text ends too early")
	}
	return d.chars[d.pos]
}

func (d *valueReader) ended(message string) {
	d.call.Signal(lisp.EndOfFile, message, "STREAM", d.call.NewInput(nil))
}

func (d *valueReader) value(depth int) lisp.Value {
	c := d.call
	c.Step()
	if depth > maximumJSONDepth {
		d.fail("nested deeper than %d levels", maximumJSONDepth)
	}
	switch r := d.next(); {
	case r == '{':
		return d.object(depth)
	case r == '[':
		return d.array(depth)
	case r == '"':
		return d.call.StringOf(d.str())
	case r == '-' || r >= '0' && r <= '9':
		return d.number()
	case unicode.IsLetter(r):
		return d.word()
	default:
		d.fail("unexpected character %q", r)
	}
	return nil
}

func (d *valueReader) word() lisp.Value {
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
	return lisp.Boolean(word == "true")
}

func (d *valueReader) array(depth int) lisp.Value {
	d.pos++
	list := lisp.NewListBuilder(d.call)
	if d.next() == ']' {
		d.pos++
	} else {
		for ended := false; !ended; ended = d.separator(']') {
			list.Add(d.value(depth + 1))
		}
	}
	if d.arrayType == nil {
		return list.List()
	}
	return lisp.Single(d.call.Funcall(lisp.CL("COERCE"), list.List(), d.arrayType))
}

// separator passes a comma, or the end, which it reports.
func (d *valueReader) separator(end rune) bool {
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

func (d *valueReader) object(depth int) lisp.Value {
	d.pos++
	c := d.call
	list := lisp.NewListBuilder(c)
	if d.next() == '}' {
		d.pos++
		return lisp.Nil
	}
	for {
		if d.next() != '"' {
			d.fail("the name of a field is missing")
		}
		key := d.key(d.str())
		if d.next() != ':' {
			d.fail("a colon is missing behind the name of a field")
		}
		d.pos++
		list.Add(c.Cons(key, d.value(depth+1)))
		if d.separator('}') {
			return list.List()
		}
	}
}

// key is what stands for a field.
func (d *valueReader) key(name []rune) lisp.Value {
	c := d.call
	named := lisp.Value(nil)
	if d.names != nil {
		named = lisp.Single(c.Funcall(d.names, c.CopyRunes(name)))
	} else {
		named = lispName(c, name)
	}
	if d.keys != nil {
		return lisp.Single(c.Funcall(d.keys, named))
	}
	return keySymbol(c, c.Name(named))
}

// keyPackage is where the symbols of keys are.
func keyPackage(c *lisp.Call) *lisp.Package {
	if p := customVariable(c, "*JSON-SYMBOLS-PACKAGE*"); p != lisp.Nil {
		return c.Package(p)
	}
	return c.CurrentPackage()
}

// keySymbol makes the symbol of a key. Those that the note does not have yet go when
// nothing refers to them any more.
func keySymbol(c *lisp.Call, name string) *lisp.Symbol {
	symbol, _ := c.Intern(keyPackage(c), name, false)
	return symbol
}

func (d *valueReader) str() []rune {
	d.pos++
	var out []rune
	for {
		start := d.pos
		for d.pos < len(d.chars) && d.chars[d.pos] != '"' && d.chars[d.pos] != '\\' {
			d.pos++
		}
		d.call.Work(d.pos - start + 1)
		out = lisp.Append(d.call, out, d.chars[start:d.pos]...)
		if d.pos >= len(d.chars) {
			d.ended("the JSON text ends inside a string")
		}
		d.pos++
		if d.chars[d.pos-1] == '"' {
			return out
		}
		out = lisp.Append(d.call, out, d.escape())
	}
}

// escape reads what stands behind a backslash.
func (d *valueReader) escape() rune {
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

func (d *valueReader) hexadecimal() rune {
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
func (d *valueReader) number() lisp.Value {
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
	if d.pos-start > lisp.MaximumDigits {
		d.fail("a number has more than %d digits", lisp.MaximumDigits)
	}
	if real {
		kind = d.reals
	}
	text := d.call.GoText(d.chars[start:d.pos])
	if kind != nil {
		return d.token(kind, text)
	}
	return tokenNumber(d.call, text)
}

func (d *valueReader) accept(any string) bool {
	if d.pos < len(d.chars) && strings.ContainsRune(any, d.chars[d.pos]) {
		d.pos++
		return true
	}
	return false
}

func (d *valueReader) digits() {
	start := d.pos
	for d.pos < len(d.chars) && d.chars[d.pos] >= '0' && d.chars[d.pos] <= '9' {
		d.pos++
	}
	d.call.Work(d.pos - start)
	if d.pos == start {
		d.fail("a digit is missing in a number")
	}
}

// tokenNumber is the number that a token names: an integer, or a float of the format
// that numbers are read in.
func tokenNumber(c *lisp.Call, text string) lisp.Value {
	if !strings.ContainsAny(text, ".eE") {
		if len(text) <= lisp.MaximumDigits {
			n, ok := c.ParseInteger(text, 10)
			if !ok {
				c.Signal("JSON:JSON-SYNTAX-ERROR", lisp.SketchText(text, 40)+" is no number")
			}
			return lisp.BigInteger(n)
		}
		c.Signal("JSON:JSON-SYNTAX-ERROR", lisp.SketchText(text, 40)+" has too many digits")
	}
	bits := 32
	if c.DoubleFloats() {
		bits = 64
	}
	v, err := strconv.ParseFloat(text, bits)
	if errors.Is(err, strconv.ErrRange) {
		c.Fail("FLOATING-POINT-OVERFLOW", "the number %s is too large for a float", lisp.SketchText(text, 40))
	}
	if err != nil {
		c.Signal("JSON:JSON-SYNTAX-ERROR", lisp.SketchText(text, 40)+" is no number")
	}
	if bits == 32 {
		return float32(v)
	}
	return v
}
