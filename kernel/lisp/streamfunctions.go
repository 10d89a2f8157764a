package lisp

import (
	"unicode"
)

// streamFunctions make streams and ask about them.
func streamFunctions() []Builtin {
	is := func(name, doc string, test func(*Stream) bool) Builtin {
		return Builtin{Name: name, LambdaList: "(stream)", Doc: doc, One: func(c *Call, a Value) Value { return Boolean(test(c.streamArgument(a))) }}
	}
	return []Builtin{
		{Name: "make-string-output-stream", LambdaList: "(&key element-type)", Doc: "A stream that collects what is written.", Named: func(c *Call, args Args) Value {
			return c.NewOutput()
		}},
		{Name: "make-string-input-stream", LambdaList: "(string &optional start end)", Doc: "A stream that reads from a string.", Named: func(c *Call, args Args) Value {
			s := c.TakeString(args.Get("string"))
			start, end := c.Bounds(args.Get("start"), args.Get("end"), len(s.chars))
			return Allocate(c, Stream{kind: stringInput, input: Clone(c, s.chars[:end]), pos: start, start: start})
		}},
		{Name: "get-output-stream-string", LambdaList: "(stream)", Doc: "What was written since the last look.", One: func(c *Call, a Value) Value {
			s, ok := a.(*Stream)
			if !ok || s.kind != stringOutput || s.sink != nil {
				c.TypeError(a, "STRING-STREAM")
			}
			text := c.CopyRunes(s.out)
			s.out = nil
			return text
		}},
		{Name: "close", LambdaList: "(stream &key abort)", Doc: "Close a stream.", Named: func(c *Call, args Args) Value {
			c.CloseStream(c.streamArgument(args.Get("stream")), args.True("abort"))
			return T
		}},
		{Name: "file-position", LambdaList: "(stream &optional position)", Doc: "Where the next character is read or written, or go there.", Named: filePosition},
		{Name: "file-string-length", LambdaList: "(stream object)", Doc: "The characters that writing an object takes.", Two: func(c *Call, a, b Value) Value {
			s := c.resolve(c.streamArgument(a))
			if _, ok := b.(Character); ok || s.kind == broadcastStream && len(s.parts) == 0 {
				return Integer(1)
			}
			return Count(len(c.TakeString(b).chars))
		}},
		{Name: "stream-element-type", LambdaList: "(stream)", Doc: "CHARACTER, or the type of a binary file's integers.", One: func(c *Call, a Value) Value {
			s := c.resolve(c.streamArgument(a))
			for s.kind == broadcastStream && len(s.parts) > 0 {
				c.Step()
				s = c.resolve(s.parts[len(s.parts)-1])
			}
			switch {
			case s.binary != nil:
				return s.binary.name()
			case s.kind == broadcastStream:
				return T
			}
			return symCharacter
		}},
		{Name: "stream-external-format", LambdaList: "(stream)", Doc: ":DEFAULT.", One: func(c *Call, a Value) Value { c.streamArgument(a); return kwDefault }},
		{Name: "streamp", LambdaList: "(object)", Doc: "True for a stream.", One: func(_ *Call, a Value) Value { _, ok := a.(*Stream); return Boolean(ok) }},
		is("open-stream-p", "True unless the stream is closed.", func(s *Stream) bool { return !s.closed }),
		is("interactive-stream-p", "False: nobody types.", func(*Stream) bool { return false }),
		{Name: "input-stream-p", LambdaList: "(stream)", Doc: "True for a stream to read from.", One: func(c *Call, a Value) Value {
			s := c.streamArgument(a)
			if s.kind == synonymStream {
				s = c.stream(s.variable)
			}
			return Boolean(s.readable())
		}},
		{Name: "output-stream-p", LambdaList: "(stream)", Doc: "True for a stream to write to.", One: func(c *Call, a Value) Value {
			s := c.streamArgument(a)
			if s.kind == synonymStream {
				s = c.stream(s.variable)
			}
			return Boolean(s.writable())
		}},
	}
}

var (
	kwAbort   = Keyword("ABORT")
	kwDefault = Keyword("DEFAULT")
	kwIndex   = Keyword("INDEX")

	symTerminal = CL("*TERMINAL-IO*")
)

func (c *Call) streamArgument(v Value) *Stream {
	s, ok := v.(*Stream)
	if !ok {
		c.TypeError(v, "STREAM")
	}
	return s
}

func filePosition(c *Call, args Args) Value {
	s, position := c.resolve(c.streamArgument(args.Get("stream"))), args.Get("position")
	if !Given(position) {
		return c.position(s)
	}
	at := 0
	switch {
	case position == kwStart:
		at = s.start
	case position == kwEnd:
		at = s.length()
	default:
		at = c.Index(position) + s.start
	}
	if s.kind != stringInput && s.file == nil || at > s.length() || s.file != nil && s.file.base > 0 {
		return Nil
	}
	s.pos = at
	if s.kind == stringInput { // as SBCL has it
		return Count(at - s.start)
	}
	return T
}

// position is where the next character of a stream is read or written, nil if it has no places.
func (c *Call) position(s *Stream) Value {
	for s.kind == broadcastStream {
		if len(s.parts) == 0 {
			return Integer(0)
		}
		c.Step()
		s = c.resolve(s.parts[len(s.parts)-1])
	}
	switch s.kind {
	case stringInput:
		return Count(s.pos - s.start)
	case fileInput, fileOutput, fileBoth:
		return Count(s.file.base + s.pos)
	case stringOutput:
		return Count(len(s.out))
	}
	return Nil
}

// outputFunctions write to streams.
func outputFunctions() []Builtin {
	finish := func(name string) Builtin {
		return Builtin{Name: name, LambdaList: "(&optional stream)", Doc: "Store what was written to a file; other output is never held back.", Named: func(c *Call, args Args) Value {
			c.finishOutput(c.OutputStream(args.Get("stream")))
			return Nil
		}}
	}
	return []Builtin{
		{Name: "write-char", LambdaList: "(character &optional stream)", Doc: "Write a character.", Named: func(c *Call, args Args) Value {
			characterArg := args.Get("character")
			c.Write(c.OutputStream(args.Get("stream")), []rune{rune(c.Character(characterArg))})
			return characterArg
		}},
		{Name: "write-string", LambdaList: "(string &optional stream &key start end)", Doc: "Write a string.", Named: func(c *Call, args Args) Value { return writeString(c, args, "") }},
		{Name: "write-line", LambdaList: "(string &optional stream &key start end)", Doc: "Write a string and a newline.", Named: func(c *Call, args Args) Value { return writeString(c, args, "\n") }},
		{Name: "write-sequence", LambdaList: "(sequence stream &key start end)", Doc: "Write the characters or integers of a sequence.", Named: func(c *Call, args Args) Value {
			sequence, stream, start := args.Get("sequence"), args.Get("stream"), args.Get("start")
			end := args.Get("end")
			if s, ok := sequence.(*String); ok {
				from, to := c.Bounds(start, end, len(s.chars))
				c.Write(c.OutputStream(stream), s.chars[from:to])
				return sequence
			}
			items, out := c.Elements(sequence), c.OutputStream(stream)
			from, to := c.Bounds(start, end, len(items))
			for _, item := range items[from:to] {
				if ch, ok := item.(Character); ok {
					c.Write(out, []rune{rune(ch)})
				} else {
					c.writeByte(out, item)
				}
			}
			return sequence
		}},
		{Name: "terpri", LambdaList: "(&optional stream)", Doc: "Write a newline.", Named: func(c *Call, args Args) Value {
			c.Write(c.OutputStream(args.Get("stream")), []rune{'\n'})
			return Nil
		}},
		{Name: "fresh-line", LambdaList: "(&optional stream)", Doc: "Write a newline unless at the beginning of a line.", Named: func(c *Call, args Args) Value {
			s := c.OutputStream(args.Get("stream"))
			if c.column(s) == 0 {
				return Nil
			}
			c.Write(s, []rune{'\n'})
			return T
		}},
		finish("finish-output"), finish("force-output"),
		{Name: "clear-output", LambdaList: "(&optional stream)", Doc: "Does nothing: output is never held back.", Named: func(c *Call, args Args) Value {
			c.OutputStream(args.Get("stream"))
			return Nil
		}},
	}
}

// finishOutput stores what was written to the files behind a stream.
func (c *Call) finishOutput(s *Stream) {
	s = c.resolve(s)
	c.Descend(4)
	defer c.Ascend(4)
	if s.file != nil && s.file.unsaved {
		c.storeFile(s)
	}
	for _, part := range s.parts {
		c.finishOutput(part)
	}
}

func writeString(c *Call, args Args, end string) Value {
	s := c.TakeString(args.Get("string"))
	from, to := c.Bounds(args.Get("start"), args.Get("end"), len(s.chars))
	stream := c.OutputStream(args.Get("stream"))
	c.Write(stream, s.chars[from:to])
	if end != "" {
		c.Write(stream, []rune(end))
	}
	return s
}

// endOfInput is what a reading function is told to do at the end of its stream: signal, unless
// failing is nil, or return value.
type endOfInput struct{ failing, value Value }

func endArguments(args Args) endOfInput {
	return endOfInput{args.Get("eof-error-p"), args.Get("eof-value")}
}

// inputFunctions read from streams.
func inputFunctions() []Builtin {
	readChar := func(c *Call, args Args) Value {
		s := c.InputStream(args.Get("stream"))
		if r, ok := c.TakeRune(s); ok {
			return Character(r)
		}
		return c.ended(s, endArguments(args))
	}
	return []Builtin{
		{Name: "read-char", LambdaList: "(&optional stream eof-error-p eof-value recursive-p)", Doc: "Read a character.", Named: readChar},
		{Name: "read-char-no-hang", LambdaList: "(&optional stream eof-error-p eof-value recursive-p)", Doc: "Read a character.", Named: readChar},
		{Name: "unread-char", LambdaList: "(character &optional stream)", Doc: "Put the last character back.", Named: func(c *Call, args Args) Value {
			c.unread(c.InputStream(args.Get("stream")), rune(c.Character(args.Get("character"))))
			return Nil
		}},
		{Name: "peek-char", LambdaList: "(&optional type stream eof-error-p eof-value recursive-p)", Doc: "Look at the next character without reading it.", Named: peekChar},
		{Name: "read-line", LambdaList: "(&optional stream eof-error-p eof-value recursive-p)", Doc: "Read a line without its newline.", Many: true, Named: func(c *Call, args Args) Value {
			return c.readLine(c.InputStream(args.Get("stream")), endArguments(args))
		}},
		{Name: "read-sequence", LambdaList: "(sequence stream &key start end)", Doc: "Fill a sequence with characters or integers; the index of the first element left as it was.", Named: readSequence},
		{Name: "listen", LambdaList: "(&optional stream)", Doc: "True if there is something to read.", Named: func(c *Call, args Args) Value {
			_, ok := c.PeekRune(c.InputStream(args.Get("stream")))
			return Boolean(ok)
		}},
		{Name: "clear-input", LambdaList: "(&optional stream)", Doc: "Does nothing: nobody types ahead.", Named: func(c *Call, args Args) Value {
			c.InputStream(args.Get("stream"))
			return Nil
		}},
	}
}

func peekChar(c *Call, args Args) Value {
	s, kind := c.InputStream(args.Get("stream")), args.Get("type")
	wanted, isChar := kind.(Character)
	if kind != nil && kind != Nil && kind != T && !isChar {
		c.TypeError(kind, "(OR CHARACTER BOOLEAN)")
	}
	for {
		r, ok := c.PeekRune(s)
		if !ok {
			return c.ended(s, endArguments(args))
		}
		if kind == nil || kind == Nil || kind == T && !unicode.IsSpace(r) || isChar && rune(wanted) == r {
			return Character(r)
		}
		c.TakeRune(s)
	}
}

// readLine reads a line, and tells whether the stream ended with it.
func (c *Call) readLine(s *Stream, eof endOfInput) Value {
	if _, ok := c.PeekRune(s); !ok {
		return c.Values(c.ended(s, eof), T)
	}
	var line []rune
	if s.kind == stringInput || s.file != nil {
		start := s.pos
		for s.pos < len(s.input) && s.input[s.pos] != '\n' {
			s.pos++
		}
		c.Work(s.pos - start)
		line = Append(c, line, s.input[start:s.pos]...)
		if s.pos == len(s.input) {
			return c.Values(c.StringOf(line), T)
		}
		s.pos++
		return c.Values(c.StringOf(line), Nil)
	}
	for {
		r, ok := c.TakeRune(s)
		if !ok || r == '\n' {
			return c.Values(c.StringOf(line), Boolean(!ok))
		}
		line = Append(c, line, r)
	}
}

func readSequence(c *Call, args Args) Value {
	sequence := args.Get("sequence")
	s := c.InputStream(args.Get("stream"))
	from, to := c.Bounds(args.Get("start"), args.Get("end"), c.Length(sequence))
	var store func(i int, v Value)
	switch x := sequence.(type) {
	case *String:
		store = func(i int, v Value) { x.chars[i] = rune(c.Character(v)) }
	case *Vector:
		store = func(i int, v Value) { c.setElement(x, i, v) }
	default:
		rest := c.nthcdr(Count(from), sequence)
		store = func(_ int, v Value) {
			cell := rest.(*Cons)
			cell.Car, rest = v, cell.Cdr
		}
	}
	for i := from; i < to; i++ {
		v, ok := c.readElement(s)
		if !ok {
			return Count(i)
		}
		store(i, v)
	}
	return Count(to)
}

// readElement reads a character or an integer.
func (c *Call) readElement(s *Stream) (Value, bool) {
	if from, _ := c.source(s); from != nil && from.binary != nil {
		return c.readByte(s)
	}
	r, ok := c.TakeRune(s)
	return Character(r), ok
}

// compoundStreamFunctions make streams of streams.
func compoundStreamFunctions() []Builtin {
	part := func(name string, kind streamKind, index int) Builtin {
		return Builtin{Name: name, LambdaList: "(stream)", Doc: "The stream it was made of.", One: func(c *Call, a Value) Value {
			s := c.streamArgument(a)
			if s.kind != kind {
				c.TypeError(a, "STREAM")
			}
			return s.parts[index]
		}}
	}
	parts := func(name string, kind streamKind) Builtin {
		return Builtin{Name: name, LambdaList: "(stream)", Doc: "The streams it was made of.", One: func(c *Call, a Value) Value {
			s := c.streamArgument(a)
			if s.kind != kind {
				c.TypeError(a, "STREAM")
			}
			list := make([]Value, len(s.parts))
			for i, p := range s.parts {
				list[i] = p
			}
			return c.NewList(list)
		}}
	}
	return []Builtin{
		{Name: "make-broadcast-stream", LambdaList: "(&rest streams)", Doc: "A stream that writes to all of the streams.", Call: func(c *Call, args []Value) Value {
			return c.compound(broadcastStream, args, (*Stream).writable)
		}},
		{Name: "make-concatenated-stream", LambdaList: "(&rest streams)", Doc: "A stream that reads from one stream after the other.", Call: func(c *Call, args []Value) Value {
			return c.compound(concatenatedStream, args, (*Stream).readable)
		}},
		{Name: "make-two-way-stream", LambdaList: "(input output)", Doc: "A stream that reads from one stream and writes to another.", Call: func(c *Call, args []Value) Value {
			return c.compoundPair(twoWayStream, args)
		}},
		{Name: "make-echo-stream", LambdaList: "(input output)", Doc: "A two-way stream that also writes what it reads.", Call: func(c *Call, args []Value) Value {
			return c.compoundPair(echoStream, args)
		}},
		{Name: "make-synonym-stream", LambdaList: "(symbol)", Doc: "A stream that stands for the value of a variable.", One: func(c *Call, a Value) Value {
			return Allocate(c, Stream{kind: synonymStream, variable: c.TakeSymbol(a)})
		}},
		{Name: "synonym-stream-symbol", LambdaList: "(stream)", Doc: "The variable it stands for.", One: func(c *Call, a Value) Value {
			s := c.streamArgument(a)
			if s.kind != synonymStream {
				c.TypeError(a, "STREAM")
			}
			return s.variable
		}},
		parts("broadcast-stream-streams", broadcastStream), parts("concatenated-stream-streams", concatenatedStream),
		part("two-way-stream-input-stream", twoWayStream, 0), part("two-way-stream-output-stream", twoWayStream, 1),
		part("echo-stream-input-stream", echoStream, 0), part("echo-stream-output-stream", echoStream, 1),
	}
}

// compound makes a stream of streams that all go one way.
func (c *Call) compound(kind streamKind, args []Value, fits func(*Stream) bool) Value {
	s := Allocate(c, Stream{kind: kind})
	for _, arg := range args {
		s.parts = Append(c, s.parts, c.partStream(arg, fits))
	}
	return s
}

func (c *Call) compoundPair(kind streamKind, args []Value) Value {
	return Allocate(c, Stream{kind: kind, parts: []*Stream{c.partStream(args[0], (*Stream).readable), c.partStream(args[1], (*Stream).writable)}})
}

func (c *Call) partStream(v Value, fits func(*Stream) bool) *Stream {
	s := c.streamArgument(v)
	tested := s
	if s.kind == synonymStream {
		tested = c.stream(s.variable)
	}
	if !fits(tested) {
		c.TypeError(v, "STREAM")
	}
	return s
}

var (
	symUnwindProtect = CL("UNWIND-PROTECT")
	symClose         = CL("CLOSE")
)

// streamMacros make a stream for a body.
func streamMacros() []Macro {
	return []Macro{
		{"with-output-to-string", "((variable &optional string &key element-type) &body body)", "The string of what body writes.", func(cp *Compiler, form *Cons) Value {
			parts := cp.Arguments(form, 1, -1)
			spec := cp.Forms(parts[0])
			body := form.Cdr.(*Cons).Cdr
			if len(spec) > 1 && spec[1] != Nil {
				stream := Form(symFuncall, Form(symQuote, appendingStream), spec[1])
				if len(spec) > 3 { // the element type is evaluated, and that is all
					stream = Form(CL("PROG1"), stream, spec[3])
				}
				return FormStar(symLet, body, NewList(NewList(spec[0], stream)))
			}
			_, _, rest := cp.declarations(body, false)
			declared := declarationForms(body, rest)
			return FormStar(symLet, listStar(append(declared, FormStar(symProgn, rest), Form(CL("GET-OUTPUT-STREAM-STRING"), spec[0])), Nil),
				NewList(NewList(spec[0], Form(CL("MAKE-STRING-OUTPUT-STREAM")))))
		}},
		{"with-input-from-string", "((variable string &key index start end) &body body)", "Read from a string; index is set to where reading stopped.", expandInputFromString},
		{"with-open-stream", "((variable stream) &body body)", "Close a stream after body.", func(cp *Compiler, form *Cons) Value {
			binding := cp.Arguments(form, 1, -1)[0]
			variable := cp.Forms(binding)[0]
			return protectedBody(cp, form.Cdr.(*Cons).Cdr, NewList(binding), Form(symClose, variable))
		}},
		{"with-standard-io-syntax", "(&body body)", "Evaluate body with the variables of reader and printer at their standard values.", func(cp *Compiler, form *Cons) Value {
			bindings := NewListBuilder(cp.Call)
			for _, row := range []struct {
				symbol *Symbol
				value  Value
			}{
				{symPackage, Form(CL("FIND-PACKAGE"), NewString(userPackage))}, {symPrintArray, T}, {symPrintBase, Integer(10)}, {symPrintCase, kwUpcase},
				{symPrintCircle, Nil}, {symPrintEscape, T}, {symPrintGensym, T}, {symPrintLength, Nil}, {symPrintLevel, Nil}, {symPrintLines, Nil},
				{symPrintPretty, Nil}, {symPrintRadix, Nil}, {symPrintReadably, T}, {symPrintMargin, Nil}, {symMiserWidth, Nil}, {symReadBase, Integer(10)},
				{symFloatFormat, Form(symQuote, CL("SINGLE-FLOAT"))}, {symReadSuppress, Nil}, {CL("*READ-EVAL*"), T},
				{symReadtable, Form(symQuote, standardReadtable)}, {symDispatch, Nil},
			} {
				bindings.Add(NewList(row.symbol, row.value))
			}
			return FormStar(symLet, form.Cdr, bindings.List())
		}},
	}
}

// protectedBody is (let bindings declarations (unwind-protect (progn body) cleanup)).
func protectedBody(cp *Compiler, body Value, bindings Value, cleanup ...Value) Value {
	_, _, rest := cp.declarations(body, false)
	forms := append(declarationForms(body, rest), FormStar(symUnwindProtect, NewList(cleanup...), FormStar(symProgn, rest)))
	return FormStar(symLet, NewList(forms...), bindings)
}

func expandInputFromString(cp *Compiler, form *Cons) Value {
	spec := cp.Forms(cp.Arguments(form, 1, -1)[0])
	if len(spec) < 2 {
		cp.Fail(ProgramError, "malformed specification in %s", Sketch(form, formLength))
	}
	start, end, index := Value(Integer(0)), Value(Nil), Value(nil)
	for i := 2; i+1 < len(spec); i += 2 {
		switch spec[i] {
		case kwStart:
			start = spec[i+1]
		case kwEnd:
			end = spec[i+1]
		case kwIndex:
			index = spec[i+1]
		}
	}
	body := form.Cdr.(*Cons).Cdr
	if index == nil {
		return FormStar(symLet, body, NewList(NewList(spec[0], Form(CL("MAKE-STRING-INPUT-STREAM"), spec[1], start, end))))
	}
	text, from := cp.Gensym("TEXT"), cp.Gensym("START")
	bindings := NewList(NewList(text, spec[1]), NewList(from, start), NewList(spec[0], Form(CL("MAKE-STRING-INPUT-STREAM"), text, from, end)))
	_, _, rest := cp.declarations(body, false)
	forms := append(declarationForms(body, rest), Form(CL("MULTIPLE-VALUE-PROG1"), FormStar(symProgn, rest),
		Form(symSetf, index, Form(symPlus, from, Form(CL("FILE-POSITION"), spec[0])))))
	return FormStar(symLetStar, NewList(forms...), bindings)
}

// appendingStream makes a stream that appends to a string with a fill pointer.
var appendingStream = &Function{name: "APPENDING-STREAM", least: 1, most: 1, one: func(c *Call, a Value) Value {
	s := c.TakeString(a)
	if s.capacity < 0 {
		c.TypeError(a, "STRING")
	}
	return Allocate(c, Stream{target: s})
}}
