package lisp

import "slices"

var (
	kwStripped = standardKeyword("STRIPPED")
	kwAt       = standardKeyword("AT")
)

// uiopStreams read and write whole streams.
func uiopStreams() []builtin {
	format := func(name string) builtin {
		return builtin{name: name, list: "(destination control &rest arguments)", doc: "Write as format does, to where uiop:with-output says.", many: true, call: func(c *Call, args []Value) Value {
			text := c.format(c.str(args[1]), slices.Clone(args[2:]))
			if args[0] == Nil {
				return noValues
			}
			c.writeText(c.destination(args[0]), text)
			return noValues
		}}
	}
	return []builtin{
		{name: "uiop:slurp-stream-string", list: "(stream &key stripped element-type)", doc: "The rest of a stream as a string, without its last end of line if stripped.", many: true, named: func(c *Call, args Args) Value {
			text := c.newString(c.rest(c.inputStream(args.Get("stream"))))
			if args.True("stripped") {
				return c.standard(c.environment.language.symbol("UIOP:STRIPLN"), text)
			}
			return text
		}},
		{name: "uiop:slurp-stream-lines", list: "(stream &key count)", doc: "The lines of a stream, at most count.", named: func(c *Call, args Args) Value {
			return c.slurpLines(c.inputStream(args.Get("stream")), c.most(args.Get("count")))
		}},
		{name: "uiop:slurp-stream-line", list: "(stream &key at)", doc: "A line of a stream, the first unless at says which.", named: func(c *Call, args Args) Value {
			return c.slurpAt(c.inputStream(args.Get("stream")), args.Get("at"), (*Call).slurpLines)
		}},
		{name: "uiop:slurp-stream-forms", list: "(stream &key count)", doc: "The forms of a stream, at most count.", named: func(c *Call, args Args) Value {
			return c.slurpForms(c.inputStream(args.Get("stream")), c.most(args.Get("count")))
		}},
		{name: "uiop:slurp-stream-form", list: "(stream &key at)", doc: "A form of a stream, the first unless at says which, and what of it.", named: func(c *Call, args Args) Value {
			return c.slurpAt(c.inputStream(args.Get("stream")), args.Get("at"), (*Call).slurpForms)
		}},
		{name: "uiop:copy-stream-to-stream", list: "(input output &key element-type buffer-size linewise prefix)", doc: "Write the rest of a stream to another one; with linewise, a prefix before each line.", named: func(c *Call, args Args) Value {
			prefixArg := args.Get("prefix")

			text, out := c.rest(c.inputStream(args.Get("input"))), c.outputStream(args.Get("output"))
			if !args.True("linewise") || !given(prefixArg) {
				c.write(out, text)
				return Nil
			}
			prefix := c.str(prefixArg).chars
			for start := 0; start < len(text); {
				end := start + 1
				for end < len(text) && text[end-1] != '\n' {
					end++
				}
				c.write(out, prefix)
				c.write(out, text[start:end])
				start = end
			}
			return Nil
		}},
		format("uiop:format!"), format("uiop:safe-format!"),
		{name: "uiop:println", list: "(object &optional stream)", doc: "Write an object as princ does, and a newline.", many: true, named: func(c *Call, args Args) Value {
			out := c.outputStream(orNil(args.Get("stream")))
			c.writeText(out, c.printed(args.Get("object"), false)+"\n")
			return noValues
		}},
		{name: "uiop:writeln", list: "(object &key stream)", doc: "Write an object as prin1 does, and a newline.", many: true, named: func(c *Call, args Args) Value {
			c.writeText(c.outputStream(orNil(args.Get("stream"))), c.printed(args.Get("object"), true)+"\n")
			return noValues
		}},
		{name: "uiop:output-string", list: "(string &optional output)", doc: "Write a string to where uiop:with-output says; without that, the string.", named: func(c *Call, args Args) Value {
			stringArg := args.Get("string")

			to := args.Get("output")
			if !given(to) {
				return stringArg
			}
			c.write(c.destination(to), c.str(stringArg).chars)
			return Nil
		}},
		{name: "uiop:safe-read-from-string", list: "(string &key package eof-error-p eof-value start end preserve-whitespace)", doc: "The first form of a string, read without evaluating anything.", many: true, named: func(c *Call, args Args) Value {
			eof := endArguments(args)
			if eof.value == nil {
				eof.value = Nil
			}
			return c.readFromString(c.str(args.Get("string")), args.Get("start"), args.Get("end"), args.True("preserve-whitespace"), eof)
		}},
	}
}

// rest takes everything that a stream still has.
func (c *Call) rest(s *Stream) []rune {
	var text []rune
	for _, from := range c.sources(s) {
		c.chargeMany(len(from.input)-from.pos, runeBytes)
		text = append(text, from.input[from.pos:]...)
		from.pos = len(from.input)
	}
	return text
}

// most is a :count argument; -1 is no limit.
func (c *Call) most(v Value) int {
	if !given(v) {
		return -1
	}
	return c.index(v)
}

func (c *Call) slurpLines(s *Stream, most int) Value {
	var list builder
	for ; most != 0; most-- {
		if _, ok := c.peekRune(s); !ok {
			break
		}
		c.charge(consBytes)
		list.add(single(c.readLine(s, endOfInput{})))
	}
	return list.list()
}

func (c *Call) slurpForms(s *Stream, most int) Value {
	var list builder
	for ; most != 0; most-- {
		form, err := c.readForm(s)
		if err != nil {
			if endOfText(err) {
				break
			}
			c.readError(err, s)
		}
		c.charge(consBytes)
		list.add(form)
	}
	return list.list()
}

// slurpAt takes as much of a stream as is needed to access what at says, the first
// element of all if it is not given.
func (c *Call) slurpAt(s *Stream, at Value, slurp func(c *Call, s *Stream, most int) Value) Value {
	if at == nil {
		at = Integer(0)
	}
	first := at
	if cell, ok := at.(*Cons); ok {
		first = cell.Car
	}
	most := -1
	if _, ok := first.(int64); ok {
		most = c.index(first) + 1
	}
	return c.accessAt(slurp(c, s, most), at)
}

// destination is the stream that uiop:with-output makes of its argument when that is
// neither nil nor a string.
func (c *Call) destination(v Value) *Stream {
	switch x := v.(type) {
	case *String:
		return appendingStream.one(c, x).(*Stream)
	case *Symbol:
		if x == T {
			return c.outputStream(Nil)
		}
	}
	return c.outputStream(v)
}

// withOutput calls a function with the stream that its argument means; for nil, the text
// that is written is the value.
var withOutput = &Function{name: "WITH-OUTPUT", least: 2, most: 2, many: true, two: func(c *Call, a, body Value) Value {
	if a == Nil {
		stream := newOutput()
		c.funcall(body, []Value{stream})
		return c.text(stream.text())
	}
	return c.funcall(body, []Value{c.destination(a)})
}}

// withInput calls a function with the stream that its argument means: nil is empty, a
// string is its text, a pathname is the file's.
var withInput = &Function{name: "WITH-INPUT", least: 2, most: 2, many: true, two: func(c *Call, a, body Value) Value {
	var stream *Stream
	switch x := a.(type) {
	case *String:
		stream = newInput(x.chars)
	case *Pathname:
		stream = newInput(c.fileText(x))
	default:
		if a == Nil {
			stream = newInput(nil)
			break
		}
		if a == T {
			a = Nil
		}
		stream = c.inputStream(a)
	}
	return c.funcall(body, []Value{stream})
}}

// uiopMacros bind, collect and redirect.
func uiopMacros() []standardMacro {
	stream := func(fn *Function) func(cp *compiler, form *Cons) Value {
		return func(cp *compiler, form *Cons) Value {
			spec := cp.forms(cp.arguments(form, 1, -1)[0])
			if len(spec) == 0 {
				cp.fail(programError, "a variable is missing in %s", sketch(form, formLength))
			}
			v := spec[0]
			if len(spec) > 1 {
				v = spec[1]
			}
			return call(symFuncall, call(symQuote, fn), v, callStar(symLambda, form.Cdr.(*Cons).Cdr, NewList(spec[0])))
		}
	}
	null := func(make string) func(cp *compiler, form *Cons) Value {
		return func(cp *compiler, form *Cons) Value {
			spec := cp.forms(cp.arguments(form, 1, -1)[0])
			if len(spec) == 0 {
				cp.fail(programError, "a variable is missing in %s", sketch(form, formLength))
			}
			made := call(standardSymbol(make))
			if make == "MAKE-STRING-INPUT-STREAM" {
				made = call(standardSymbol(make), NewString(""))
			}
			return callStar(symLet, form.Cdr.(*Cons).Cdr, NewList(NewList(spec[0], made)))
		}
	}
	return []standardMacro{
		{"uiop:if-let", "(bindings then &optional else)", "Bind variables; evaluate then if all are true, without bindings else.", expandIfLet},
		{"uiop:nest", "(&rest forms)", "Put each form at the end of the one before.", func(cp *compiler, form *Cons) Value {
			forms := cp.forms(form.Cdr)
			if len(forms) == 0 {
				return Nil
			}
			nested := forms[len(forms)-1]
			for i := len(forms) - 2; i >= 0; i-- {
				nested = NewList(append(cp.forms(forms[i]), nested)...)
			}
			return nested
		}},
		{"uiop:appendf", "(place &rest lists)", "Append lists to the list in a place.", func(cp *compiler, form *Cons) Value {
			args := cp.arguments(form, 1, -1)
			return call(symSetf, args[0], &Cons{Car: symAppend, Cdr: form.Cdr})
		}},
		{"uiop:while-collecting", "((&rest collectors) &body body)", "Evaluate body, in which each collector is a function that collects its argument; the lists.", expandCollecting},
		{"uiop:with-output", "((variable &optional destination) &body body)", "Bind a variable to a stream: nil gives the text, t is the standard output.", stream(withOutput)},
		{"uiop:with-input", "((variable &optional source) &body body)", "Bind a variable to a stream of a string, of a file or the one given.", stream(withInput)},
		{"uiop:with-null-output", "((variable) &body body)", "Bind a variable to a stream that drops what is written.", null("MAKE-BROADCAST-STREAM")},
		{"uiop:with-null-input", "((variable) &body body)", "Bind a variable to a stream that is empty.", null("MAKE-STRING-INPUT-STREAM")},
		{"uiop:with-safe-io-syntax", "((&key package) &body body)", "Evaluate body with reader and printer as the standard says; nothing is evaluated by reading.", func(cp *compiler, form *Cons) Value {
			cp.arguments(form, 1, -1)
			bindings := NewList(NewList(standardSymbol("*READ-EVAL*"), Nil), NewList(standardSymbol("*PRINT-READABLY*"), Nil),
				NewList(standardSymbol("*READ-DEFAULT-FLOAT-FORMAT*"), call(symQuote, standardSymbol("DOUBLE-FLOAT"))))
			return call(standardSymbol("WITH-STANDARD-IO-SYNTAX"), callStar(symLet, form.Cdr.(*Cons).Cdr, bindings))
		}},
	}
}

func expandIfLet(cp *compiler, form *Cons) Value {
	args := cp.arguments(form, 2, 3)
	bindings := cp.forms(args[0])
	if len(bindings) > 0 {
		if _, ok := bindings[0].(*Symbol); ok {
			bindings = []Value{args[0]}
		}
	}
	otherwise := Value(Nil)
	if len(args) > 2 {
		otherwise = args[2]
	}
	test := []Value{standardSymbol("AND")}
	for _, item := range bindings {
		binding := cp.forms(item)
		if len(binding) == 0 {
			cp.fail(programError, "malformed binding in %s", sketch(form, formLength))
		}
		test = append(test, binding[0])
	}
	return call(symLet, NewList(bindings...), call(symIf, NewList(test...), args[1], otherwise))
}

// expandCollecting makes a variable and a local function of each collector.
func expandCollecting(cp *compiler, form *Cons) Value {
	var bindings, functions, results builder
	results.add(symValues)
	for _, item := range cp.forms(cp.arguments(form, 1, -1)[0]) {
		list, v := cp.gensym("LIST"), cp.gensym("ITEM")
		bindings.add(NewList(list, Nil))
		functions.add(NewList(item, NewList(v), call(standardSymbol("PUSH"), v, list), v))
		results.add(call(standardSymbol("REVERSE"), list))
	}
	body := callStar(symFlet, form.Cdr.(*Cons).Cdr, functions.list())
	return call(symLet, bindings.list(), body, results.list())
}
