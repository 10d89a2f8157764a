package lisp

import (
	"errors"
	"io"

	"org-agent/kernel/plist"
)

// printFunctions print objects.
func printFunctions() []builtin {
	toString := func(name, doc string, escape bool) builtin {
		return builtin{name: name, list: "(object)", doc: doc, one: func(c *Call, a Value) Value {
			return runesString(append([]rune(nil), c.printedRunes(a, escape)...))
		}}
	}
	toStream := func(name, doc string, escape bool) builtin {
		return builtin{name: name, list: "(object &optional stream)", doc: doc, call: func(c *Call, args []Value) Value {
			c.write(c.outputStream(optional(args, 1)), c.printedRunes(args[0], escape))
			return args[0]
		}}
	}
	return []builtin{
		toString("prin1-to-string", "What prin1 prints.", true),
		toString("princ-to-string", "What princ prints.", false),
		toStream("prin1", "Print so that it can be read.", true),
		toStream("princ", "Print for people.", false),
		{name: "print", list: "(object &optional stream)", doc: "Print on a new line so that it can be read, and a blank.", call: func(c *Call, args []Value) Value {
			s := c.outputStream(optional(args, 1))
			c.write(s, []rune{'\n'})
			c.write(s, c.printedRunes(args[0], true))
			c.write(s, []rune{' '})
			return args[0]
		}},
		{name: "pprint", list: "(object &optional stream)", doc: "Print on a new line so that it can be read.", many: true, call: func(c *Call, args []Value) Value {
			s := c.outputStream(optional(args, 1))
			c.write(s, []rune{'\n'})
			c.write(s, c.printedRunes(args[0], true))
			return noValues
		}},
		{name: "write", list: "(object &key stream escape readably base radix circle pretty level length case)", doc: "Print with options.", call: func(c *Call, args []Value) Value {
			k := c.keywords(args[1:], kwStream, kwEscape, kwBase, kwReadably, kwRadix, kwCircle,
				kwPretty, kwLevel, kwLength, kwCase)
			c.write(c.outputStream(k[0]), c.written(args[0], k[1], k[2]))
			return args[0]
		}},
		{name: "write-to-string", list: "(object &key escape base radix readably pretty circle level length case)", doc: "Print to a string with options.", call: func(c *Call, args []Value) Value {
			k := c.keywords(args[1:], kwEscape, kwBase, kwReadably, kwRadix, kwCircle,
				kwPretty, kwLevel, kwLength, kwCase)
			return runesString(c.written(args[0], k[0], k[1]))
		}},
		{name: "format", list: "(destination control &rest arguments)", doc: "Write as a control string says; to a string if destination is nil.", call: formatFunction, check: checkFormat},
	}
}

var (
	kwStream = standardKeyword("STREAM")
	kwEscape = standardKeyword("ESCAPE")
	kwBase   = standardKeyword("BASE")
)

func (c *Call) written(v, escape, base Value) []rune {
	p := printer{call: c, escape: escape != Nil, base: 10}
	if base != nil {
		p.base = c.radix(base)
	}
	p.print(v)
	return p.out
}

func (c *Call) radix(v Value) int {
	n := c.index(v)
	if n < 2 || n > 36 {
		c.typeError(v, "(INTEGER 2 36)")
	}
	return n
}

// readFunctions read objects.
func readFunctions() []builtin {
	return []builtin{
		{name: "read-from-string", list: "(string &optional eof-error-p eof-value &key start end preserve-whitespace)", doc: "Read one object from a string; also the position behind it.", many: true, call: readFromString},
		{name: "read", list: "(&optional stream eof-error-p eof-value recursive-p)", doc: "Read one object from a stream.", call: func(c *Call, args []Value) Value {
			s := c.inputStream(optional(args, 0))
			form, end, err := c.readFrom(s.input, s.pos)
			if err == io.EOF {
				s.pos = len(s.input)
				return c.ended(s, args[min(1, len(args)):])
			}
			if err != nil {
				c.readError(err, s)
			}
			s.pos = end
			return form
		}},
	}
}

func readFromString(c *Call, args []Value) Value {
	s := c.str(args[0])
	var keys []Value
	if len(args) > 3 {
		keys = c.keywords(args[3:], kwStart, kwEnd, kwPreserveWhitespace)
	}
	from, to := c.bounds(optional(keys, 0), optional(keys, 1), len(s.chars))
	form, end, err := c.readFrom(s.chars[:to], from)
	if err == io.EOF {
		return c.values(c.ended(&Stream{}, args[min(1, len(args)):min(3, len(args))]), count(to))
	}
	if err != nil {
		c.readError(err, &Stream{})
	}
	if end < to && (s.chars[end] == ' ' || s.chars[end] == '\n' || s.chars[end] == '\t') && optional(keys, 2) == nil {
		end++
	}
	return c.values(form, count(end))
}

// readError signals what was wrong with text that a note reads.
func (c *Call) readError(err error, s *Stream) {
	class := readerError
	var syntax *plist.SyntaxError
	if errors.As(err, &syntax) && (syntax.Kind == plist.UnclosedList || syntax.Kind == plist.UnclosedString) {
		class = endOfFile
	}
	var own *Error
	if errors.As(err, &own) && own.Class == packageError {
		class = readerError
	}
	c.signalError(c.newCondition(class, err.Error(), "STREAM", s))
}
