package lisp

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"

	"org-agent/kernel/plist"
)

// jsonFunctions are those of cl-json that notes use.
func jsonFunctions() []builtin {
	encoder := func(name, doc string, encode func(*jsonEncoder, Value)) []builtin {
		return []builtin{
			{name: "json:" + name, list: "(object &optional stream)", doc: doc, call: func(c *Call, args []Value) Value {
				e := &jsonEncoder{call: c, arrays: map[*Cons]bool{}}
				encode(e, args[0])
				c.write(c.outputStream(optional(args, 1)), []rune(e.out.String()))
				return Nil
			}},
			{name: "json:" + name + "-to-string", list: "(object)", doc: doc, one: func(c *Call, a Value) Value {
				e := &jsonEncoder{call: c, arrays: map[*Cons]bool{}}
				encode(e, a)
				return c.text(e.out.String())
			}},
		}
	}
	rows := []builtin{
		{name: "json:decode-json-from-string", list: "(string)", doc: "The value of JSON text: objects are alists with keywords, arrays lists, null and false nil.", one: func(c *Call, a Value) Value {
			d := &jsonDecoder{call: c, chars: c.str(a).chars}
			v := d.value(0)
			d.blanks()
			return v
		}},
		{name: "json:decode-json", list: "(&optional stream)", doc: "The next JSON value of a stream.", call: func(c *Call, args []Value) Value {
			s := c.inputStream(optional(args, 0))
			var chars []rune
			for _, from := range c.sources(s) {
				c.chargeMany(len(from.input)-from.pos, runeBytes)
				chars = append(chars, from.input[from.pos:]...)
			}
			d := &jsonDecoder{call: c, chars: chars}
			v := d.value(0)
			for range d.pos {
				c.readRune(s)
			}
			return v
		}},
		{name: "json:camel-case-to-lisp", list: "(string)", doc: "The name of the symbol for a field.", one: func(c *Call, a Value) Value {
			return c.text(lispName(c.str(a).String()))
		}},
		{name: "json:lisp-to-camel-case", list: "(string)", doc: "The name of the field for a symbol.", one: func(c *Call, a Value) Value {
			return c.text(fieldName(c.str(a).String()))
		}},
	}
	rows = append(rows, encoder("encode-json", "Write an object as JSON; an alist is an object, other lists are arrays, nil is null.", (*jsonEncoder).value)...)
	rows = append(rows, encoder("encode-json-alist", "Write an alist as a JSON object.", (*jsonEncoder).alist)...)
	return append(rows, encoder("encode-json-plist", "Write a plist as a JSON object.", (*jsonEncoder).plist)...)
}

// jsonDecoder reads one JSON value.
type jsonDecoder struct {
	call  *Call
	chars []rune
	pos   int
}

// maximumJSONDepth bounds nested arrays and objects.
const maximumJSONDepth = 1000

func (d *jsonDecoder) fail(format string, args ...any) {
	d.call.libraryError("JSON:JSON-SYNTAX-ERROR", fmt.Sprintf(format, args...)+fmt.Sprintf(" [in JSON, at character %d]", d.pos))
}

func (d *jsonDecoder) blanks() {
	start := d.pos
	for d.pos < len(d.chars) && strings.ContainsRune(" \t\r\n", d.chars[d.pos]) {
		d.pos++
	}
	d.call.work(d.pos - start)
}

// next is the next character that is not blank, 0 at the end.
func (d *jsonDecoder) next() rune {
	d.blanks()
	if d.pos >= len(d.chars) {
		return 0
	}
	return d.chars[d.pos]
}

func (d *jsonDecoder) value(depth int) Value {
	c := d.call
	c.step()
	if depth > maximumJSONDepth {
		d.fail("nested deeper than %d levels", maximumJSONDepth)
	}
	switch r := d.next(); {
	case r == 0:
		c.signalError(c.newCondition(endOfFile, "the JSON text ends too early", "STREAM", newInput(nil)))
	case r == '{':
		return d.object(depth)
	case r == '[':
		return d.array(depth)
	case r == '"':
		return runesString(d.str())
	case r == '-' || r >= '0' && r <= '9':
		return d.number()
	case r >= 'a' && r <= 'z':
		return d.word()
	default:
		d.fail("unexpected character %q", r)
	}
	return nil
}

func (d *jsonDecoder) word() Value {
	start := d.pos
	for d.pos < len(d.chars) && d.chars[d.pos] >= 'a' && d.chars[d.pos] <= 'z' {
		d.pos++
	}
	switch word := string(d.chars[start:min(d.pos, start+20)]); word {
	case "true":
		return T
	case "false", "null":
		return Nil
	default:
		d.pos = start
		d.fail("unexpected word %q", word)
	}
	return nil
}

func (d *jsonDecoder) array(depth int) Value {
	d.pos++
	var list builder
	if d.next() == ']' {
		d.pos++
		return Nil
	}
	for {
		d.call.charge(consBytes)
		list.add(d.value(depth + 1))
		if d.separator(']') {
			return list.list()
		}
	}
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
		name := lispName(string(d.str()))
		c.charge(2*consBytes + entryBytes + 2*len(name))
		key, _ := c.environment.keywords.intern(name, false)
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
			d.call.signalError(d.call.newCondition(endOfFile, "the JSON text ends inside a string", "STREAM", newInput(nil)))
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
		d.fail("the text ends behind a backslash")
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

func (d *jsonDecoder) number() Value {
	start := d.pos
	for d.pos < len(d.chars) && strings.ContainsRune("+-0123456789.eE", d.chars[d.pos]) {
		d.pos++
	}
	if d.pos-start > maximumDigits {
		d.fail("a number has more than %d digits", maximumDigits)
	}
	text := string(d.chars[start:d.pos])
	d.call.charge(len(text))
	d.call.work(len(text) * len(text) / 64)
	kind := plist.NumberSyntax(text)
	v, ok := parseNumber(kind, text, d.call.doubleFormat())
	if !ok || kind == plist.Ratio {
		d.pos = start
		d.fail("%s is no number, or too large", sketchText(text, 40))
	}
	return v
}
