package json

import (
	"strings"

	"org-agent/kernel/lisp"
)

// functions are those of cl-json.
func functions() []lisp.Builtin {
	encoder := func(name, doc string, encode, whole func(*valueWriter, lisp.Value)) []lisp.Builtin {
		return []lisp.Builtin{
			{Name: "" + name, LambdaList: "(object &optional stream)", Doc: doc, Many: true, Open: name == "encode-json", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
				object := args.Get("object")
				e := newValueWriter(c)
				encode(e, object)
				c.Write(outputTo(c, args.Get("stream")), e.out.Value().Runes())
				if _, list := object.(*lisp.Cons); list && name == "encode-json" && !e.explicit {
					return c.Values()
				}
				return lisp.Nil
			}},
			{Name: "" + name + "-to-string", LambdaList: "(object)", Doc: doc, One: func(c *lisp.Call, a lisp.Value) lisp.Value {
				e := newValueWriter(c)
				whole(e, a)
				return e.out.Value()
			}},
		}
	}
	name := func(name, doc string, change func(c *lisp.Call, name []rune) *lisp.String) lisp.Builtin {
		return lisp.Builtin{Name: name, LambdaList: "(string)", Doc: doc, One: func(c *lisp.Call, a lisp.Value) lisp.Value { return change(c, c.TakeString(a).Runes()) }}
	}
	rows := []lisp.Builtin{
		{Name: "decode-json-from-string", LambdaList: "(string)", Doc: "The value of JSON text: objects are alists with keywords, arrays lists, null and false nil.", One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			return newValueReader(c, c.TakeString(a).Runes()).value(0)
		}},
		{Name: "decode-json", LambdaList: "(&optional stream)", Doc: "The next JSON value of a stream.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			return decodeJSON(c, args.Get("stream"))
		}},
		{Name: "decode-json-strict", LambdaList: "(&optional stream)", Doc: "The object or array that a stream has, and nothing else.", Named: func(c *lisp.Call, args lisp.Args) lisp.Value {
			stream := inputFrom(c, args.Get("stream"))
			if r := nextCharacter(c, stream); r != '{' && r != '[' {
				c.Fail(lisp.SimpleError, "the JSON text is neither an object nor an array")
			}
			v := decodeJSON(c, stream)
			if nextCharacter(c, stream) != 0 {
				c.Fail(lisp.SimpleError, "there is more behind the JSON value")
			}
			return v
		}},
		{Name: "decode-json-from-source", LambdaList: "(source &optional decoder)", Doc: "The JSON value of a string, a stream or a file, by decode-json or another function of a stream.", Named: decodeSource},
		name("camel-case-to-lisp", "The name of the symbol for a field.", lispName),
		name("simplified-camel-case-to-lisp", "The name of a field in capitals, with hyphens before its capitals.", simpleLispName),
		name("lisp-to-camel-case", "The name of the field for a symbol.", fieldName),
		{Name: "json-intern", LambdaList: "(name)", Doc: "The symbol of that name in the package of JSON keys.", One: func(c *lisp.Call, a lisp.Value) lisp.Value { return keySymbol(c, c.TakeText(a)) }},
		{Name: "safe-json-intern", LambdaList: "(name)", Doc: "The symbol of that name in the package of JSON keys if there is one, else an error.", One: func(c *lisp.Call, a lisp.Value) lisp.Value {
			name := c.TakeText(a)
			symbol, ok := keyPackage(c).Find(name)
			if !ok {
				c.Signal("JSON:UNKNOWN-SYMBOL-ERROR", "there is no symbol "+lisp.SketchText(name, 60)+" yet", a)
			}
			return symbol
		}},
		{Name: "%parse-number", LambdaList: "(token)", Doc: "The number that a JSON token names.", One: func(c *lisp.Call, a lisp.Value) lisp.Value { return tokenNumber(c, c.TakeText(a)) }},
		{Name: "%boolean", LambdaList: "(token)", Doc: "What the JSON tokens true, false and null mean.", One: func(c *lisp.Call, a lisp.Value) lisp.Value { return lisp.Boolean(c.TakeText(a) == "true") }},
		{Name: "json-bool", LambdaList: "(value)", Doc: "What the explicit encoder writes as true or false.", One: func(_ *lisp.Call, a lisp.Value) lisp.Value {
			if a == lisp.Nil {
				return lisp.NewList(kwFalse)
			}
			return lisp.NewList(kwTrue)
		}},
		{Name: "json-or-null", LambdaList: "(value)", Doc: "The value, or what the explicit encoder writes as null.", One: func(_ *lisp.Call, a lisp.Value) lisp.Value {
			if a == lisp.Nil {
				return lisp.NewList(kwNull)
			}
			return a
		}},
		{Name: "use-explicit-encoder", LambdaList: "()", Doc: "From now on the first element of a list says how it is written.", Call: func(c *lisp.Call, _ []lisp.Value) lisp.Value { return setJSON(c, "*JSON-LIST-ENCODER-FN*", kwExplicit) }},
		{Name: "use-guessing-encoder", LambdaList: "()", Doc: "From now on a list is written as an array, or as an object if it is an alist.", Call: func(c *lisp.Call, _ []lisp.Value) lisp.Value { return setJSON(c, "*JSON-LIST-ENCODER-FN*", lisp.Nil) }},
		{Name: "set-decoder-simple-list-semantics", LambdaList: "()", Doc: "From now on JSON is decoded to lists, as at first.", Call: func(c *lisp.Call, _ []lisp.Value) lisp.Value {
			for _, custom := range customs {
				setJSON(c, custom.name, c.InitialValue(c.Lookup("JSON:"+custom.name)))
			}
			return lisp.Nil
		}},
	}
	rows = append(rows, encoder("encode-json", "Write an object as JSON; an alist is an object, other lists are arrays, nil is null.", (*valueWriter).top, (*valueWriter).value)...)
	rows = append(rows, encoder("encode-json-alist", "Write an alist as a JSON object.", (*valueWriter).alist, (*valueWriter).alist)...)
	rows = append(rows, encoder("encode-json-plist", "Write a plist as a JSON object.", (*valueWriter).plist, (*valueWriter).plist)...)
	return rows
}

// customs are the variables by which a note changes how JSON is decoded, with the
// keywords of bind-custom-vars.
var customs = []struct {
	keyword *lisp.Symbol
	name    string
}{
	{lisp.Keyword("INTEGER"), "*INTEGER-HANDLER*"}, {lisp.Keyword("REAL"), "*REAL-HANDLER*"},
	{lisp.Keyword("BOOLEAN"), "*BOOLEAN-HANDLER*"}, {lisp.Keyword("ARRAY-TYPE"), "*JSON-ARRAY-TYPE*"},
}

func customVariable(c *lisp.Call, name string) lisp.Value {
	return c.Variable(c.Lookup("JSON:" + name))
}

func setJSON(c *lisp.Call, name string, v lisp.Value) lisp.Value {
	c.SetVariable(c.Lookup("JSON:"+name), v)
	return v
}

// outputTo is the stream to write to: the given one, else the one of *json-output*.
func outputTo(c *lisp.Call, stream lisp.Value) *lisp.Stream {
	if stream == nil {
		stream = customVariable(c, "*JSON-OUTPUT*")
	}
	return c.OutputStream(stream)
}

func inputFrom(c *lisp.Call, stream lisp.Value) *lisp.Stream {
	if stream == nil {
		stream = customVariable(c, "*JSON-INPUT*")
	}
	return c.InputStream(stream)
}

// nextCharacter is the next character of a stream that is not blank, 0 at the end.
func nextCharacter(c *lisp.Call, s *lisp.Stream) rune {
	for {
		r, ok := c.PeekRune(s)
		if !ok {
			return 0
		}
		if !strings.ContainsRune(" \t\r\n\f", r) {
			return r
		}
		c.TakeRune(s)
	}
}

// decodeJSON takes one value off a stream.
func decodeJSON(c *lisp.Call, stream lisp.Value) lisp.Value {
	s := inputFrom(c, stream)
	d := newValueReader(c, c.Ahead(s))
	v := d.value(0)
	for range d.pos {
		c.TakeRune(s)
	}
	return v
}

func decodeSource(c *lisp.Call, args lisp.Args) lisp.Value {
	source := args.Get("source")
	var stream lisp.Value
	switch x := source.(type) {
	case *lisp.String:
		stream = c.NewInput(x.Runes())
	case *lisp.Pathname:
		stream = c.NewInput(c.FileText(x))
	default:
		stream = x
		if _, ok := x.(*lisp.Stream); !ok {
			c.TypeError(x, "STREAM")
		}
	}
	if decoder := args.Get("decoder"); decoder != nil {
		return lisp.Single(c.Funcall(decoder, stream))
	}
	return decodeJSON(c, stream)
}
