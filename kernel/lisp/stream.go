package lisp

import "unicode"

// Stream is a string stream, or the console of a call. Notes have no others.
type Stream struct {
	output bool
	out    []rune
	// sink receives what is in out; nil keeps it for get-output-stream-string.
	sink func(string)
	// target, if set, is a string with a fill pointer to append to.
	target *String
	column int

	input      []rune
	start, pos int
	closed     bool
}

func newOutput() *Stream { return &Stream{output: true} }

// newConsole returns the stream behind the standard output; without a sink what is
// written is dropped.
func newConsole(sink func(string)) *Stream {
	if sink == nil {
		sink = func(string) {}
	}
	return &Stream{output: true, sink: sink}
}

func (s *Stream) text() string { return string(s.out) }

func (s *Stream) flush() {
	if len(s.out) > 0 && s.sink != nil {
		s.sink(string(s.out))
		s.out = s.out[:0]
	}
}

// write appends text to a stream.
func (c *Call) write(s *Stream, text []rune) {
	if !s.output || s.closed {
		c.fail("STREAM-ERROR", "the stream is not open for output")
	}
	c.chargeOutput(len(text))
	for _, r := range text {
		if r == '\n' {
			s.column = 0
		} else {
			s.column++
		}
	}
	if s.target != nil {
		s.target.chars = append(s.target.chars, text...)
		return
	}
	s.out = append(s.out, text...)
	if s.sink != nil && len(s.out) > 4096 {
		s.flush()
	}
}

// stream resolves a stream variable.
func (c *Call) stream(variable *Symbol) *Stream {
	if s, ok := c.special(c.environment.global(variable)).(*Stream); ok {
		return s
	}
	return c.console
}

// outputStream takes an output stream designator: nil or t is the standard output.
func (c *Call) outputStream(v Value) *Stream {
	switch x := v.(type) {
	case nil:
		return c.stream(symStandardOutput)
	case *Stream:
		return x
	case *Symbol:
		if x == Nil || x == T {
			return c.stream(symStandardOutput)
		}
	}
	c.typeError(v, "STREAM")
	return nil
}

func (c *Call) inputStream(v Value) *Stream {
	s, ok := v.(*Stream)
	if v == nil || v == Nil || v == T {
		s, ok = c.special(c.environment.global(symStandardInput)).(*Stream)
		if !ok {
			s, ok = &Stream{}, true
		}
	}
	if !ok {
		c.typeError(v, "STREAM")
	}
	if s.output {
		c.fail("STREAM-ERROR", "the stream is not open for input")
	}
	return s
}

// ended is what reading at the end of a stream yields: the value given for it, or an
// error.
func (c *Call) ended(s *Stream, args []Value) Value {
	if len(args) > 0 && args[0] == Nil {
		if len(args) > 1 {
			return args[1]
		}
		return Nil
	}
	c.signalError(c.newCondition(endOfFile, "end of file", "STREAM", s))
	return nil
}

// streamFunctions read and write streams.
func streamFunctions() []builtin {
	return []builtin{
		{name: "make-string-output-stream", list: "(&key element-type)", doc: "A stream that collects what is written.", call: func(c *Call, args []Value) Value {
			c.keywords(args, standardKeyword("ELEMENT-TYPE"))
			c.charge(closureBytes)
			return newOutput()
		}},
		{name: "make-string-input-stream", list: "(string &optional start end)", doc: "A stream that reads from a string.", call: func(c *Call, args []Value) Value {
			s := c.str(args[0])
			start, end := c.bounds(optional(args, 1), optional(args, 2), len(s.chars))
			c.chargeMany(end, runeBytes)
			return &Stream{input: append([]rune(nil), s.chars[:end]...), pos: start, start: start}
		}},
		{name: "get-output-stream-string", list: "(stream)", doc: "What was written since the last look.", one: func(c *Call, a Value) Value {
			s, ok := a.(*Stream)
			if !ok || !s.output {
				c.typeError(a, "STREAM")
			}
			text := c.newString(append([]rune(nil), s.out...))
			s.out = nil
			return text
		}},
		{name: "write-char", list: "(character &optional stream)", doc: "Write a character.", call: func(c *Call, args []Value) Value {
			c.write(c.outputStream(optional(args, 1)), []rune{rune(c.character(args[0]))})
			return args[0]
		}},
		{name: "write-string", list: "(string &optional stream &key start end)", doc: "Write a string.", call: func(c *Call, args []Value) Value { return writeString(c, args, "") }},
		{name: "write-line", list: "(string &optional stream &key start end)", doc: "Write a string and a newline.", call: func(c *Call, args []Value) Value { return writeString(c, args, "\n") }},
		{name: "terpri", list: "(&optional stream)", doc: "Write a newline.", call: func(c *Call, args []Value) Value {
			c.write(c.outputStream(optional(args, 0)), []rune{'\n'})
			return Nil
		}},
		{name: "fresh-line", list: "(&optional stream)", doc: "Write a newline unless at the beginning of a line.", call: func(c *Call, args []Value) Value {
			s := c.outputStream(optional(args, 0))
			if s.column == 0 {
				return Nil
			}
			c.write(s, []rune{'\n'})
			return T
		}},
		{name: "finish-output", list: "(&optional stream)", doc: "Does nothing: output is never held back.", call: func(*Call, []Value) Value { return Nil }},
		{name: "force-output", list: "(&optional stream)", doc: "Does nothing: output is never held back.", call: func(*Call, []Value) Value { return Nil }},
		{name: "close", list: "(stream &key abort)", doc: "Close a stream.", call: func(c *Call, args []Value) Value {
			c.keywords(args[1:], standardKeyword("ABORT"))
			if s, ok := args[0].(*Stream); ok {
				s.closed = s.sink == nil
				return T
			}
			c.typeError(args[0], "STREAM")
			return nil
		}},
		{name: "read-char", list: "(&optional stream eof-error-p eof-value recursive-p)", doc: "Read a character.", call: func(c *Call, args []Value) Value {
			s := c.inputStream(optional(args, 0))
			c.step()
			if s.pos >= len(s.input) {
				return c.ended(s, args[min(1, len(args)):])
			}
			s.pos++
			return Character(s.input[s.pos-1])
		}},
		{name: "unread-char", list: "(character &optional stream)", doc: "Put the last character back.", call: func(c *Call, args []Value) Value {
			s := c.inputStream(optional(args, 1))
			if s.pos > s.start {
				s.pos--
			}
			return Nil
		}},
		{name: "peek-char", list: "(&optional type stream eof-error-p eof-value recursive-p)", doc: "Look at the next character without reading it.", call: peekChar},
		{name: "read-line", list: "(&optional stream eof-error-p eof-value recursive-p)", doc: "Read a line without its newline.", many: true, call: readLine},
		{name: "listen", list: "(&optional stream)", doc: "True if there is something to read.", call: func(c *Call, args []Value) Value {
			s := c.inputStream(optional(args, 0))
			return Boolean(s.pos < len(s.input))
		}},
		{name: "streamp", list: "(object)", doc: "True for a stream.", one: func(_ *Call, a Value) Value { _, ok := a.(*Stream); return Boolean(ok) }},
		{name: "open-stream-p", list: "(stream)", doc: "True unless the stream is closed.", one: func(c *Call, a Value) Value {
			s, ok := a.(*Stream)
			if !ok {
				c.typeError(a, "STREAM")
			}
			return Boolean(!s.closed)
		}},
		{name: "input-stream-p", list: "(stream)", doc: "True for a stream to read from.", one: func(_ *Call, a Value) Value { s, ok := a.(*Stream); return Boolean(ok && !s.output) }},
		{name: "output-stream-p", list: "(stream)", doc: "True for a stream to write to.", one: func(_ *Call, a Value) Value { s, ok := a.(*Stream); return Boolean(ok && s.output) }},
	}
}

func writeString(c *Call, args []Value, end string) Value {
	s := c.str(args[0])
	var keys []Value
	if len(args) > 2 {
		keys = c.keywords(args[2:], kwStart, kwEnd)
	}
	from, to := c.bounds(optional(keys, 0), optional(keys, 1), len(s.chars))
	stream := c.outputStream(optional(args, 1))
	c.write(stream, s.chars[from:to])
	if end != "" {
		c.write(stream, []rune(end))
	}
	return args[0]
}

func peekChar(c *Call, args []Value) Value {
	s := c.inputStream(optional(args, 1))
	kind := optional(args, 0)
	for s.pos < len(s.input) {
		c.step()
		r := s.input[s.pos]
		wanted, isChar := kind.(Character)
		if kind == nil || kind == Nil || kind == T && !unicode.IsSpace(r) || isChar && rune(wanted) == r {
			return Character(r)
		}
		s.pos++
	}
	return c.ended(s, args[min(2, len(args)):])
}

func readLine(c *Call, args []Value) Value {
	s := c.inputStream(optional(args, 0))
	if s.pos >= len(s.input) {
		return c.values(c.ended(s, args[min(1, len(args)):]), T)
	}
	start := s.pos
	for s.pos < len(s.input) && s.input[s.pos] != '\n' {
		s.pos++
	}
	c.work(s.pos - start)
	line := c.newString(append([]rune(nil), s.input[start:s.pos]...))
	if s.pos < len(s.input) {
		s.pos++
		return c.values(line, Nil)
	}
	return c.values(line, T)
}
