package lisp

import "unicode"

// streamFunctions make streams and ask about them.
func streamFunctions() []builtin {
	is := func(name, doc string, test func(*Stream) bool) builtin {
		return builtin{name: name, list: "(stream)", doc: doc, one: func(c *Call, a Value) Value { return Boolean(test(c.streamArgument(a))) }}
	}
	return []builtin{
		{name: "make-string-output-stream", list: "(&key element-type)", doc: "A stream that collects what is written.", named: func(c *Call, args Args) Value {
			c.charge(closureBytes)
			return newOutput()
		}},
		{name: "make-string-input-stream", list: "(string &optional start end)", doc: "A stream that reads from a string.", named: func(c *Call, args Args) Value {
			s := c.str(args.Get("string"))
			start, end := c.bounds(args.Get("start"), args.Get("end"), len(s.chars))
			c.chargeMany(end, runeBytes)
			return &Stream{kind: stringInput, input: append([]rune(nil), s.chars[:end]...), pos: start, start: start}
		}},
		{name: "get-output-stream-string", list: "(stream)", doc: "What was written since the last look.", one: func(c *Call, a Value) Value {
			s, ok := a.(*Stream)
			if !ok || s.kind != stringOutput || s.sink != nil {
				c.typeError(a, "STRING-STREAM")
			}
			text := c.newString(append([]rune(nil), s.out...))
			s.out = nil
			return text
		}},
		{name: "close", list: "(stream &key abort)", doc: "Close a stream.", named: func(c *Call, args Args) Value {
			c.closeStream(c.streamArgument(args.Get("stream")), args.True("abort"))
			return T
		}},
		{name: "file-position", list: "(stream &optional position)", doc: "Where the next character is read or written, or go there.", call: filePosition},
		{name: "file-string-length", list: "(stream object)", doc: "The characters that writing an object takes.", two: func(c *Call, a, b Value) Value {
			s := c.resolve(c.streamArgument(a))
			if _, ok := b.(Character); ok || s.kind == broadcastStream && len(s.parts) == 0 {
				return Integer(1)
			}
			return count(len(c.str(b).chars))
		}},
		{name: "stream-element-type", list: "(stream)", doc: "CHARACTER, or the type of a binary file's integers.", one: func(c *Call, a Value) Value {
			s := c.resolve(c.streamArgument(a))
			for s.kind == broadcastStream && len(s.parts) > 0 {
				c.step()
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
		{name: "stream-external-format", list: "(stream)", doc: ":DEFAULT.", one: func(c *Call, a Value) Value { c.streamArgument(a); return kwDefault }},
		{name: "streamp", list: "(object)", doc: "True for a stream.", one: func(_ *Call, a Value) Value { _, ok := a.(*Stream); return Boolean(ok) }},
		is("open-stream-p", "True unless the stream is closed.", func(s *Stream) bool { return !s.closed }),
		is("interactive-stream-p", "False: nobody types.", func(*Stream) bool { return false }),
		{name: "input-stream-p", list: "(stream)", doc: "True for a stream to read from.", one: func(c *Call, a Value) Value {
			s := c.streamArgument(a)
			if s.kind == synonymStream {
				s = c.stream(s.variable)
			}
			return Boolean(s.readable())
		}},
		{name: "output-stream-p", list: "(stream)", doc: "True for a stream to write to.", one: func(c *Call, a Value) Value {
			s := c.streamArgument(a)
			if s.kind == synonymStream {
				s = c.stream(s.variable)
			}
			return Boolean(s.writable())
		}},
	}
}

var (
	kwAbort   = standardKeyword("ABORT")
	kwDefault = standardKeyword("DEFAULT")
	kwIndex   = standardKeyword("INDEX")

	symTerminal = standardSymbol("*TERMINAL-IO*")
)

func (c *Call) streamArgument(v Value) *Stream {
	s, ok := v.(*Stream)
	if !ok {
		c.typeError(v, "STREAM")
	}
	return s
}

func filePosition(c *Call, args []Value) Value {
	s := c.resolve(c.streamArgument(args[0]))
	if len(args) == 1 || args[1] == Nil {
		switch s.kind {
		case stringInput:
			return count(s.pos - s.start)
		case fileInput, fileOutput, fileBoth:
			return count(s.file.base + s.pos)
		case stringOutput:
			return count(len(s.out))
		case broadcastStream:
			if len(s.parts) == 0 {
				return Integer(0)
			}
			return filePosition(c, []Value{s.parts[len(s.parts)-1]})
		}
		return Nil
	}
	at := 0
	switch {
	case args[1] == kwStart:
		at = s.start
	case args[1] == kwEnd:
		at = s.length()
	default:
		at = c.index(args[1]) + s.start
	}
	if s.kind != stringInput && s.file == nil || at > s.length() || s.file != nil && s.file.base > 0 {
		return Nil
	}
	s.pos = at
	if s.kind == stringInput { // as SBCL has it
		return count(at - s.start)
	}
	return T
}

// outputFunctions write to streams.
func outputFunctions() []builtin {
	finish := func(name string) builtin {
		return builtin{name: name, list: "(&optional stream)", doc: "Store what was written to a file; other output is never held back.", named: func(c *Call, args Args) Value {
			c.finishOutput(c.outputStream(args.Get("stream")))
			return Nil
		}}
	}
	return []builtin{
		{name: "write-char", list: "(character &optional stream)", doc: "Write a character.", named: func(c *Call, args Args) Value {
			characterArg := args.Get("character")

			c.write(c.outputStream(args.Get("stream")), []rune{rune(c.character(characterArg))})
			return characterArg
		}},
		{name: "write-string", list: "(string &optional stream &key start end)", doc: "Write a string.", named: func(c *Call, args Args) Value { return writeString(c, args, "") }},
		{name: "write-line", list: "(string &optional stream &key start end)", doc: "Write a string and a newline.", named: func(c *Call, args Args) Value { return writeString(c, args, "\n") }},
		{name: "write-sequence", list: "(sequence stream &key start end)", doc: "Write the characters or integers of a sequence.", named: func(c *Call, args Args) Value {
			sequence, stream, start := args.Get("sequence"), args.Get("stream"), args.Get("start")
			end := args.Get("end")

			if s, ok := sequence.(*String); ok {
				from, to := c.bounds(start, end, len(s.chars))
				c.write(c.outputStream(stream), s.chars[from:to])
				return sequence
			}
			items, out := c.elements(sequence), c.outputStream(stream)
			from, to := c.bounds(start, end, len(items))
			for _, item := range items[from:to] {
				if ch, ok := item.(Character); ok {
					c.write(out, []rune{rune(ch)})
				} else {
					c.writeByte(out, item)
				}
			}
			return sequence
		}},
		{name: "terpri", list: "(&optional stream)", doc: "Write a newline.", named: func(c *Call, args Args) Value {
			c.write(c.outputStream(args.Get("stream")), []rune{'\n'})
			return Nil
		}},
		{name: "fresh-line", list: "(&optional stream)", doc: "Write a newline unless at the beginning of a line.", named: func(c *Call, args Args) Value {
			s := c.outputStream(args.Get("stream"))
			if c.column(s) == 0 {
				return Nil
			}
			c.write(s, []rune{'\n'})
			return T
		}},
		finish("finish-output"), finish("force-output"),
		{name: "clear-output", list: "(&optional stream)", doc: "Does nothing: output is never held back.", named: func(c *Call, args Args) Value {
			c.outputStream(args.Get("stream"))
			return Nil
		}},
	}
}

// finishOutput stores what was written to the files behind a stream.
func (c *Call) finishOutput(s *Stream) {
	s = c.resolve(s)
	c.descend(4)
	defer c.ascend(4)
	c.step()
	if s.file != nil && s.file.unsaved {
		c.storeFile(s)
	}
	for _, part := range s.parts {
		c.finishOutput(part)
	}
}

func writeString(c *Call, args Args, end string) Value {
	s := c.str(args.Get("string"))
	from, to := c.bounds(args.Get("start"), args.Get("end"), len(s.chars))
	stream := c.outputStream(args.Get("stream"))
	c.write(stream, s.chars[from:to])
	if end != "" {
		c.write(stream, []rune(end))
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
func inputFunctions() []builtin {
	readChar := func(c *Call, args Args) Value {
		s := c.inputStream(args.Get("stream"))
		if r, ok := c.readRune(s); ok {
			return Character(r)
		}
		return c.ended(s, endArguments(args))
	}
	return []builtin{
		{name: "read-char", list: "(&optional stream eof-error-p eof-value recursive-p)", doc: "Read a character.", named: readChar},
		{name: "read-char-no-hang", list: "(&optional stream eof-error-p eof-value recursive-p)", doc: "Read a character.", named: readChar},
		{name: "unread-char", list: "(character &optional stream)", doc: "Put the last character back.", named: func(c *Call, args Args) Value {
			c.unread(c.inputStream(args.Get("stream")), rune(c.character(args.Get("character"))))
			return Nil
		}},
		{name: "peek-char", list: "(&optional type stream eof-error-p eof-value recursive-p)", doc: "Look at the next character without reading it.", named: peekChar},
		{name: "read-line", list: "(&optional stream eof-error-p eof-value recursive-p)", doc: "Read a line without its newline.", many: true, named: func(c *Call, args Args) Value {
			return c.readLine(c.inputStream(args.Get("stream")), endArguments(args))
		}},
		{name: "read-sequence", list: "(sequence stream &key start end)", doc: "Fill a sequence with characters or integers; the index of the first element left as it was.", named: readSequence},
		{name: "listen", list: "(&optional stream)", doc: "True if there is something to read.", named: func(c *Call, args Args) Value {
			_, ok := c.peekRune(c.inputStream(args.Get("stream")))
			return Boolean(ok)
		}},
		{name: "clear-input", list: "(&optional stream)", doc: "Does nothing: nobody types ahead.", named: func(c *Call, args Args) Value {
			c.inputStream(args.Get("stream"))
			return Nil
		}},
	}
}

func peekChar(c *Call, args Args) Value {
	s, kind := c.inputStream(args.Get("stream")), args.Get("type")
	wanted, isChar := kind.(Character)
	if kind != nil && kind != Nil && kind != T && !isChar {
		c.typeError(kind, "(OR CHARACTER BOOLEAN)")
	}
	for {
		r, ok := c.peekRune(s)
		if !ok {
			return c.ended(s, endArguments(args))
		}
		if kind == nil || kind == Nil || kind == T && !unicode.IsSpace(r) || isChar && rune(wanted) == r {
			return Character(r)
		}
		c.readRune(s)
	}
}

// readLine reads a line, and tells whether the stream ended with it.
func (c *Call) readLine(s *Stream, eof endOfInput) Value {
	if _, ok := c.peekRune(s); !ok {
		return c.values(c.ended(s, eof), T)
	}
	var line []rune
	if s.kind == stringInput || s.file != nil {
		start := s.pos
		for s.pos < len(s.input) && s.input[s.pos] != '\n' {
			s.pos++
		}
		c.work(s.pos - start)
		c.chargeMany(s.pos-start, runeBytes)
		line = append(line, s.input[start:s.pos]...)
		if s.pos == len(s.input) {
			return c.values(runesString(line), T)
		}
		s.pos++
		return c.values(runesString(line), Nil)
	}
	for {
		r, ok := c.readRune(s)
		if !ok || r == '\n' {
			return c.values(runesString(line), Boolean(!ok))
		}
		c.charge(runeBytes)
		line = append(line, r)
	}
}

func readSequence(c *Call, args Args) Value {
	sequence := args.Get("sequence")

	s := c.inputStream(args.Get("stream"))
	from, to := c.bounds(args.Get("start"), args.Get("end"), c.length(sequence))
	var store func(i int, v Value)
	switch x := sequence.(type) {
	case *String:
		store = func(i int, v Value) { x.chars[i] = rune(c.character(v)) }
	case *Vector:
		store = func(i int, v Value) { c.setElement(x, i, v) }
	default:
		rest := sequence
		for range from {
			c.step()
			rest = rest.(*Cons).Cdr
		}
		store = func(_ int, v Value) {
			cell := rest.(*Cons)
			cell.Car, rest = v, cell.Cdr
		}
	}
	for i := from; i < to; i++ {
		v, ok := c.readElement(s)
		if !ok {
			return count(i)
		}
		store(i, v)
	}
	return count(to)
}

// readElement reads a character or an integer.
func (c *Call) readElement(s *Stream) (Value, bool) {
	if from, _ := c.source(s); from != nil && from.binary != nil {
		return c.readByte(s)
	}
	r, ok := c.readRune(s)
	return Character(r), ok
}
