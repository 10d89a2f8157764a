package lisp

import (
	"errors"
	"io"
	"unicode"
	"unicode/utf8"

	"org-agent/kernel/plist"
)

// formReader is where read stands in the text of a stream: pos characters are offset
// bytes of it.
type formReader struct {
	text        string
	pos, offset int
}

var symReadSuppress = CL("*READ-SUPPRESS*")

// readFunctions read objects.
func readFunctions() []Builtin {
	return []Builtin{
		{Name: "read-from-string", LambdaList: "(string &optional eof-error-p eof-value &key start end preserve-whitespace)", Doc: "Read one object from a string; also the position behind it.", Many: true, Named: func(c *Call, args Args) Value {
			return c.readFromString(c.TakeString(args.Get("string")), args.Get("start"), args.Get("end"), args.True("preserve-whitespace"), endArguments(args))
		}},
		{Name: "read", LambdaList: "(&optional stream eof-error-p eof-value recursive-p)", Doc: "Read one object from a stream.", Named: func(c *Call, args Args) Value {
			return c.readObject(args, false)
		}},
		{Name: "read-preserving-whitespace", LambdaList: "(&optional stream eof-error-p eof-value recursive-p)", Doc: "Read one object from a stream and nothing behind it.", Named: func(c *Call, args Args) Value {
			return c.readObject(args, true)
		}},
		{Name: "read-delimited-list", LambdaList: "(character &optional stream recursive-p)", Doc: "Read objects up to a character.", Named: readDelimitedList},
	}
}

// readObject is read; with preserve a blank that ends the object is left.
func (c *Call) readObject(args Args, preserve bool) Value {
	s := c.InputStream(args.Get("stream"))
	form, err := c.readForm(s)
	if err == io.EOF {
		return c.ended(s, endArguments(args))
	}
	if err != nil {
		c.readError(err, s)
	}
	recursive := args.True("recursive-p")
	if r, ok := c.PeekRune(s); ok && !preserve && !recursive && unicode.IsSpace(r) {
		c.TakeRune(s)
	}
	return form
}

// readForm reads a form of a stream.
func (c *Call) readForm(s *Stream) (Value, error) {
	if s.kind == stringInput || s.file != nil {
		return c.readText(c.characters(s, s))
	}
	// The rest of the text is collected, and as much of it read again as was used.
	var chars []rune
	rest := Allocate(c, Stream{kind: stringInput})
	for _, from := range c.sources(s) {
		c.ChargeMany(len(from.input)-from.pos, RuneBytes)
		chars = append(chars, from.input[from.pos:]...)
	}
	rest.input = chars
	form, err := c.readText(rest)
	for range rest.pos {
		c.TakeRune(s)
	}
	return form, err
}

// sources are the streams of characters that a stream reads from, in order.
func (c *Call) sources(s *Stream) []*Stream {
	c.Descend(4)
	defer c.Ascend(4)
	c.Step()
	switch s.kind {
	case stringInput, fileInput, fileBoth:
		return []*Stream{c.characters(s, s)}
	case twoWayStream, echoStream:
		return c.sources(c.InputStream(s.parts[0]))
	case concatenatedStream:
		var all []*Stream
		for _, part := range s.parts {
			all = append(all, c.sources(c.InputStream(part))...)
		}
		return all
	}
	return nil
}

// readText reads a form of a stream that holds its text.
func (c *Call) readText(s *Stream) (Value, error) {
	at := s.form
	if at == nil {
		c.ChargeMany(len(s.input), 1)
		at = &formReader{text: string(s.input)}
		s.form = at
	}
	if at.pos > s.pos {
		at.pos, at.offset = 0, 0
	}
	c.Work(s.pos - at.pos)
	for ; at.pos < s.pos; at.pos++ {
		at.offset += utf8.RuneLen(s.input[at.pos])
	}
	c.Work((len(at.text) - at.offset) / 64)
	r := c.newReader(at.text[at.offset:], "", 1, false)
	form, err := r.next()
	used := at.text[at.offset:][:min(r.source.Offset(), len(at.text)-at.offset)]
	n := utf8.RuneCountInString(used)
	at.pos, at.offset = at.pos+n, at.offset+len(used)
	s.pos = at.pos
	if err != nil && err != io.EOF {
		c.resumeExit(err)
	}
	return form, err
}

// readFromString returns the form that a part of a string begins with and where it ends. eof
// says what to do when there is none.
func (c *Call) readFromString(s *String, start, end Value, preserveWhitespace bool, eof endOfInput) Value {
	from, to := c.Bounds(start, end, len(s.chars))
	in := c.NewInput(s.chars[from:to])
	form, err := c.readText(in)
	if err == io.EOF {
		return c.Values(c.ended(in, eof), Count(to))
	}
	if err != nil {
		c.readError(err, in)
	}
	after := from + in.pos
	if after < to && unicode.IsSpace(s.chars[after]) && !preserveWhitespace {
		after++
	}
	return c.Values(form, Count(after))
}

func readDelimitedList(c *Call, args Args) Value {
	end := rune(c.Character(args.Get("character")))
	s := c.InputStream(args.Get("stream"))
	list := NewListBuilder(c)
	for {
		r, ok := c.PeekRune(s)
		switch {
		case !ok:
			return c.ended(s, endOfInput{})
		case unicode.IsSpace(r):
			c.TakeRune(s)
			continue
		case r == end:
			c.TakeRune(s)
			return list.List()
		}
		form, err := c.readForm(s)
		if err != nil {
			if err == io.EOF {
				return c.ended(s, endOfInput{})
			}
			c.readError(err, s)
		}
		list.Add(form)
	}
}

// readError signals what was wrong with text that a note reads.
func (c *Call) readError(err error, s *Stream) {
	class := readerError
	var syntax *plist.SyntaxError
	if errors.As(err, &syntax) && (syntax.Kind == plist.UnclosedList || syntax.Kind == plist.UnclosedString) {
		class = EndOfFile
	}
	c.signalError(c.newCondition(class, err.Error(), "STREAM", s))
}

// endOfText reports that a form was looked for and only blanks were left.
func endOfText(err error) bool { return err == io.EOF }
