package lisp

import (
	"errors"
	"io"
	"slices"
	"unicode"
	"unicode/utf8"

	"org-agent/kernel/plist"
)

// streamKind says where a stream's characters come from and go to.
type streamKind int

const (
	stringOutput streamKind = iota
	stringInput
	terminalStream // the console of the call that uses it; nothing to read
	broadcastStream
	concatenatedStream
	echoStream
	twoWayStream
	synonymStream
	fileOutput
	fileInput
	fileBoth
)

// Stream is a source or a sink of characters. Strings, the console of a call and files
// the note was granted are at its ends.
type Stream struct {
	kind streamKind
	out  []rune
	// sink receives what is in out; nil keeps it for get-output-stream-string.
	sink func(string)
	// target, if set, is a string with a fill pointer to append to.
	target *String
	column int

	input      []rune
	start, pos int
	closed     bool
	// form is what read keeps of the text, so that each read goes on where the last
	// one stopped.
	form *formReader

	// parts are the streams of a broadcast or concatenated stream, and the input and
	// the output of an echo or two-way stream.
	parts []*Stream
	// unechoed is how many characters that an echo stream reads were put back.
	unechoed int
	// variable holds the stream that a synonym stream stands for.
	variable *Symbol
	// file is what an open file still has to do, binary the elements of one that has no
	// characters.
	file   *openFile
	binary *binaryElements
}

// streamTypes are the names of the kinds.
var streamTypes = map[streamKind]string{
	stringOutput: "STRING-STREAM", stringInput: "STRING-STREAM", terminalStream: "TWO-WAY-STREAM", broadcastStream: "BROADCAST-STREAM",
	concatenatedStream: "CONCATENATED-STREAM", echoStream: "ECHO-STREAM", twoWayStream: "TWO-WAY-STREAM", synonymStream: "SYNONYM-STREAM",
	fileOutput: "FILE-STREAM", fileInput: "FILE-STREAM", fileBoth: "FILE-STREAM",
}

// streamOf is the test for streams of some kinds.
func streamOf(kinds ...streamKind) func(Value) bool {
	return func(v Value) bool {
		s, ok := v.(*Stream)
		return ok && slices.Contains(kinds, s.kind)
	}
}

// terminal is the first value of the standard stream variables.
var terminal = &Stream{kind: terminalStream}

// NewOutput makes a stream that collects what is written to it.
func (c *Call) NewOutput() *Stream { return Allocate(c, Stream{}) }

// NewInput makes a stream of characters, which it keeps.
func (c *Call) NewInput(chars []rune) *Stream {
	return Allocate(c, Stream{kind: stringInput, input: chars})
}

// newConsole returns the stream behind the standard output; without a sink what is
// written is dropped.
func newConsole(sink func(string)) *Stream {
	if sink == nil {
		sink = func(string) {}
	}
	return &Stream{sink: sink}
}

// length is the number of characters or integers in the stream.
func (s *Stream) length() int {
	if s.binary != nil {
		return len(s.binary.data) / s.binary.width()
	}
	return len(s.input)
}

// content is what is stored of a file, from a position on.
func (s *Stream) content(from int) string {
	if s.binary != nil {
		return string(s.binary.data[from*s.binary.width():])
	}
	return string(s.input[from:])
}

// Collected is what was written to a stream that collects.
func (c *Call) Collected(s *Stream) string { return c.GoText(s.out) }

func (s *Stream) flush() {
	if len(s.out) > 0 && s.sink != nil {
		s.sink(string(s.out))
		s.out = s.out[:0]
	}
}

// readable and writable say which direction a stream has; for the streams of a synonym
// they are asked of what it stands for.
func (s *Stream) readable() bool {
	switch s.kind {
	case stringInput, terminalStream, concatenatedStream, echoStream, twoWayStream, fileInput, fileBoth:
		return true
	}
	return false
}

func (s *Stream) writable() bool {
	switch s.kind {
	case stringInput, concatenatedStream, fileInput:
		return false
	}
	return true
}

// resolve follows synonyms and finds the console behind the terminal.
func (c *Call) resolve(s *Stream) *Stream {
	for range 100 {
		switch s.kind {
		case terminalStream:
			return c.console
		case synonymStream:
			next, ok := c.special(c.global(s.variable)).(*Stream)
			if !ok {
				c.TypeError(c.special(c.global(s.variable)), "STREAM")
			}
			s = next
		default:
			return s
		}
	}
	c.Fail("STREAM-ERROR", "synonym streams that stand for each other")
	return nil
}

// Write appends text to a stream.
func (c *Call) Write(s *Stream, text []rune) {
	s = c.resolve(s)
	if !s.writable() {
		c.TypeError(s, "(SATISFIES OUTPUT-STREAM-P)")
	}
	if s.closed {
		c.streamError(s, "the stream is closed")
	}
	c.Step()
	switch s.kind {
	case broadcastStream:
		c.Descend(4)
		for _, part := range s.parts {
			c.Write(part, text)
		}
		c.Ascend(4)
		return
	case echoStream, twoWayStream:
		c.Descend(4)
		c.Write(s.parts[1], text)
		c.Ascend(4)
		return
	}
	if s.binary != nil {
		c.TypeError(s, "(SATISFIES CHARACTER-STREAM-P)")
	}
	c.ChargeOutput(len(text))
	for _, r := range text {
		if r == '\n' {
			s.column = 0
		} else {
			s.column++
		}
	}
	if s.file != nil {
		c.writeFile(s, len(text), func() {
			n := copy(s.input[s.pos:], text)
			s.input = Append(c, s.input, text[n:]...)
		})
		return
	}
	if s.target != nil {
		s.target.chars = Append(c, s.target.chars, text...)
		s.target.capacity = max(s.target.capacity, len(s.target.chars))
		return
	}
	s.out = Append(c, s.out, text...)
	if s.sink != nil && len(s.out) > 4096 {
		c.Charge(len(s.out))
		s.flush()
	}
}

// WriteText writes text.
func (c *Call) WriteText(s *Stream, text string) {
	c.Write(s, c.codePoints(text))
}

// column is where the next character goes in its line.
func (c *Call) column(s *Stream) int {
	s = c.resolve(s)
	for (s.kind == broadcastStream || s.kind == echoStream || s.kind == twoWayStream) && len(s.parts) > 0 {
		c.Step()
		s = c.resolve(s.parts[len(s.parts)-1])
	}
	return s.column
}

func (c *Call) streamError(s *Stream, message string) {
	c.signalError(c.newCondition("STREAM-ERROR", message, "STREAM", s))
}

// stream resolves a stream variable.
func (c *Call) stream(variable *Symbol) *Stream {
	v := c.special(c.global(variable))
	s, ok := v.(*Stream)
	if !ok {
		c.TypeError(v, "STREAM")
	}
	return s
}

// OutputStream takes an output stream designator: nil is the standard output, t the
// terminal.
func (c *Call) OutputStream(v Value) *Stream {
	switch x := v.(type) {
	case nil:
		return c.stream(symStandardOutput)
	case *Stream:
		return x
	case *Symbol:
		if x == Nil {
			return c.stream(symStandardOutput)
		}
		if x == T {
			return c.stream(symTerminal)
		}
	}
	c.TypeError(v, "STREAM")
	return nil
}

// InputStream takes an input stream designator.
func (c *Call) InputStream(v Value) *Stream {
	s, ok := v.(*Stream)
	switch {
	case v == nil || v == Nil:
		s = c.stream(symStandardInput)
	case v == T:
		s = c.stream(symTerminal)
	case !ok:
		c.TypeError(v, "STREAM")
	}
	if s.kind == synonymStream {
		s = c.resolve(s)
	}
	if s == c.console {
		s = terminal
	}
	if !s.readable() {
		c.TypeError(s, "(SATISFIES INPUT-STREAM-P)")
	}
	if s.closed {
		c.streamError(s, "the stream is closed")
	}
	return s
}

// source finds the stream of characters that reading s begins with, and the stream to
// copy them to; nil at the end.
func (c *Call) source(s *Stream) (from, echo *Stream) {
	c.Descend(4)
	defer c.Ascend(4)
	switch s.kind {
	case stringInput, fileInput, fileBoth:
		if s.pos < s.length() {
			return s, nil
		}
	case concatenatedStream:
		for len(s.parts) > 0 {
			if from, echo = c.source(c.InputStream(s.parts[0])); from != nil {
				return from, echo
			}
			s.parts = s.parts[1:]
		}
	case twoWayStream:
		return c.source(c.InputStream(s.parts[0]))
	case echoStream:
		from, _ = c.source(c.InputStream(s.parts[0]))
		if s.unechoed > 0 {
			return from, nil
		}
		return from, s.parts[1]
	}
	return nil, nil
}

// PeekRune looks at the next character.
func (c *Call) PeekRune(s *Stream) (r rune, ok bool) {
	from, _ := c.source(s)
	if from == nil {
		return utf8.RuneError, false
	}
	return c.characters(s, from).input[from.pos], true
}

// characters refuses a binary file.
func (c *Call) characters(s, from *Stream) *Stream {
	if from.binary != nil {
		c.TypeError(s, "(SATISFIES CHARACTER-STREAM-P)")
	}
	return from
}

// TakeRune reads a character.
func (c *Call) TakeRune(s *Stream) (r rune, ok bool) {
	from, echo := c.source(s)
	if from == nil {
		return utf8.RuneError, false
	}
	c.characters(s, from).pos++
	s.unechoed = max(s.unechoed-1, 0)
	r = from.input[from.pos-1]
	if echo != nil {
		c.Write(echo, []rune{r})
	}
	return r, true
}

// unread puts a character back.
func (c *Call) unread(s *Stream, r rune) {
	for (s.kind == twoWayStream || s.kind == echoStream || s.kind == concatenatedStream) && len(s.parts) > 0 {
		c.Step()
		if s.kind == echoStream {
			s.unechoed++
		}
		s = c.InputStream(s.parts[0])
	}
	if s.pos > s.start && s.input[s.pos-1] == r {
		s.pos--
		return
	}
	c.streamError(s, "only the character that was read last can be put back")
}

// ended is what reading at the end of a stream yields: the value given for it, or an
// error.
func (c *Call) ended(s *Stream, eof endOfInput) Value {
	if eof.failing == Nil {
		return OrNil(eof.value)
	}
	c.signalError(c.newCondition(EndOfFile, "end of file", "STREAM", s))
	return nil
}

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
	rest := c.NewInput(c.Ahead(s))
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
	switch s.kind {
	case stringInput, fileInput, fileBoth:
		return []*Stream{c.characters(s, s)}
	case twoWayStream, echoStream:
		return c.sources(c.InputStream(s.parts[0]))
	case concatenatedStream:
		var all []*Stream
		for _, part := range s.parts {
			all = Append(c, all, c.sources(c.InputStream(part))...)
		}
		return all
	}
	return nil
}

// readText reads a form of a stream that holds its text.
func (c *Call) readText(s *Stream) (Value, error) {
	at := s.form
	if at == nil {
		at = Allocate(c, formReader{text: c.GoText(s.input)})
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
