package lisp

import "strings"

// jsonFunctions are those of cl-json.
func jsonFunctions() []builtin {
	encoder := func(name, doc string, encode, whole func(*jsonEncoder, Value)) []builtin {
		return []builtin{
			{name: "json:" + name, list: "(object &optional stream)", doc: doc, many: true, open: name == "encode-json", named: func(c *Call, args Args) Value {
				object := args.Get("object")

				e := c.jsonEncoder()
				encode(e, object)
				c.write(c.jsonOutput(args.Get("stream")), []rune(e.out.String()))
				if _, list := object.(*Cons); list && name == "encode-json" && !e.explicit {
					return noValues
				}
				return Nil
			}},
			{name: "json:" + name + "-to-string", list: "(object)", doc: doc, one: func(c *Call, a Value) Value {
				e := c.jsonEncoder()
				whole(e, a)
				return c.text(e.out.String())
			}},
		}
	}
	name := func(name, doc string, change func(string) string) builtin {
		return builtin{name: "json:" + name, list: "(string)", doc: doc, one: func(c *Call, a Value) Value { return c.text(change(c.str(a).String())) }}
	}
	rows := []builtin{
		{name: "json:decode-json-from-string", list: "(string)", doc: "The value of JSON text: objects are alists with keywords, arrays lists, null and false nil.", one: func(c *Call, a Value) Value {
			return c.jsonDecoder(c.str(a).chars).value(0)
		}},
		{name: "json:decode-json", list: "(&optional stream)", doc: "The next JSON value of a stream.", named: func(c *Call, args Args) Value {
			return c.decodeJSON(args.Get("stream"))
		}},
		{name: "json:decode-json-strict", list: "(&optional stream)", doc: "The object or array that a stream has, and nothing else.", named: func(c *Call, args Args) Value {
			stream := c.jsonInput(args.Get("stream"))
			if r := c.jsonNext(stream); r != '{' && r != '[' {
				c.fail(simpleError, "the JSON text is neither an object nor an array")
			}
			v := c.decodeJSON(stream)
			if c.jsonNext(stream) != 0 {
				c.fail(simpleError, "there is more behind the JSON value")
			}
			return v
		}},
		{name: "json:decode-json-from-source", list: "(source &optional decoder)", doc: "The JSON value of a string, a stream or a file, by decode-json or another function of a stream.", named: decodeSource},
		name("camel-case-to-lisp", "The name of the symbol for a field.", lispName),
		name("simplified-camel-case-to-lisp", "The name of a field in capitals, with hyphens before its capitals.", simpleLispName),
		name("lisp-to-camel-case", "The name of the field for a symbol.", fieldName),
		{name: "json:json-intern", list: "(name)", doc: "The symbol of that name in the package of JSON keys.", one: func(c *Call, a Value) Value { return c.jsonSymbol(c.str(a).String()) }},
		{name: "json:safe-json-intern", list: "(name)", doc: "The symbol of that name in the package of JSON keys if there is one, else an error.", one: func(c *Call, a Value) Value {
			name := c.str(a).String()
			symbol, ok := c.jsonPackage().find(name)
			if !ok {
				c.libraryError("JSON:UNKNOWN-SYMBOL-ERROR", "there is no symbol "+sketchText(name, 60)+" yet", a)
			}
			return symbol
		}},
		{name: "json:%parse-number", list: "(token)", doc: "The number that a JSON token names.", one: func(c *Call, a Value) Value { return c.jsonNumber(c.str(a).String()) }},
		{name: "json:%boolean", list: "(token)", doc: "What the JSON tokens true, false and null mean.", one: func(c *Call, a Value) Value { return Boolean(c.str(a).String() == "true") }},
		{name: "json:json-bool", list: "(value)", doc: "What the explicit encoder writes as true or false.", one: func(_ *Call, a Value) Value {
			if a == Nil {
				return NewList(kwFalse)
			}
			return NewList(kwTrue)
		}},
		{name: "json:json-or-null", list: "(value)", doc: "The value, or what the explicit encoder writes as null.", one: func(_ *Call, a Value) Value {
			if a == Nil {
				return NewList(kwNull)
			}
			return a
		}},
		{name: "json:use-explicit-encoder", list: "()", doc: "From now on the first element of a list says how it is written.", call: func(c *Call, _ []Value) Value { return c.setJSON("*JSON-LIST-ENCODER-FN*", kwExplicit) }},
		{name: "json:use-guessing-encoder", list: "()", doc: "From now on a list is written as an array, or as an object if it is an alist.", call: func(c *Call, _ []Value) Value { return c.setJSON("*JSON-LIST-ENCODER-FN*", Nil) }},
		{name: "json:set-decoder-simple-list-semantics", list: "()", doc: "From now on JSON is decoded to lists, as at first.", call: func(c *Call, _ []Value) Value {
			for _, custom := range jsonCustoms {
				c.setJSON(custom.name, c.environment.language.variables[c.environment.language.symbol("JSON:"+custom.name)].value)
			}
			return Nil
		}},
	}
	rows = append(rows, encoder("encode-json", "Write an object as JSON; an alist is an object, other lists are arrays, nil is null.", (*jsonEncoder).top, (*jsonEncoder).value)...)
	rows = append(rows, encoder("encode-json-alist", "Write an alist as a JSON object.", (*jsonEncoder).alist, (*jsonEncoder).alist)...)
	rows = append(rows, encoder("encode-json-plist", "Write a plist as a JSON object.", (*jsonEncoder).plist, (*jsonEncoder).plist)...)
	return append(rows, jsonMemberFunctions()...)
}

// jsonCustoms are the variables by which a note changes how JSON is decoded, with the
// keywords of bind-custom-vars.
var jsonCustoms = []struct {
	keyword *Symbol
	name    string
}{
	{standardKeyword("INTEGER"), "*INTEGER-HANDLER*"}, {standardKeyword("REAL"), "*REAL-HANDLER*"},
	{standardKeyword("BOOLEAN"), "*BOOLEAN-HANDLER*"}, {standardKeyword("ARRAY-TYPE"), "*JSON-ARRAY-TYPE*"},
}

func (c *Call) jsonVariable(name string) Value {
	return c.symbolValue(c.environment.language.symbol("JSON:" + name))
}

func (c *Call) setJSON(name string, v Value) Value {
	c.setSpecial(c.environment.global(c.environment.language.symbol("JSON:"+name)), v)
	return v
}

// jsonOutput is the stream to write to: the given one, else the one of *json-output*.
func (c *Call) jsonOutput(stream Value) *Stream {
	if stream == nil {
		stream = c.jsonVariable("*JSON-OUTPUT*")
	}
	return c.outputStream(stream)
}

func (c *Call) jsonInput(stream Value) *Stream {
	if stream == nil {
		stream = c.jsonVariable("*JSON-INPUT*")
	}
	return c.inputStream(stream)
}

// jsonNext is the next character of a stream that is not blank, 0 at the end.
func (c *Call) jsonNext(s *Stream) rune {
	for {
		r, ok := c.peekRune(s)
		if !ok {
			return 0
		}
		if !strings.ContainsRune(" \t\r\n\f", r) {
			return r
		}
		c.readRune(s)
	}
}

// decodeJSON takes one value off a stream.
func (c *Call) decodeJSON(stream Value) Value {
	s := c.jsonInput(stream)
	var chars []rune
	for i, from := range c.sources(s) {
		if i == 0 {
			chars = from.input[from.pos:len(from.input):len(from.input)]
			continue
		}
		c.chargeMany(len(chars)+len(from.input)-from.pos, runeBytes)
		chars = append(chars, from.input[from.pos:]...)
	}
	d := c.jsonDecoder(chars)
	v := d.value(0)
	for range d.pos {
		c.readRune(s)
	}
	return v
}

func decodeSource(c *Call, args Args) Value {
	source := args.Get("source")

	var stream Value
	switch x := source.(type) {
	case *String:
		stream = newInput(x.chars)
	case *Pathname:
		stream = newInput(c.fileText(x))
	default:
		stream = c.streamArgument(source)
	}
	if decoder := args.Get("decoder"); decoder != nil {
		return single(c.funcall(decoder, []Value{stream}))
	}
	return c.decodeJSON(stream)
}
