package transport

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"org-agent/kernel/llm"
)

// LineLimit is the maximum length of a line of a stream in bytes, and the maximum size of a reply
// that is not streamed.
const LineLimit = 8 << 20

// AfterDone is how long the body may take to end after the last event. Only then can the connection
// be used again, and a new connection may take longer than all of the kernel's own work for a
// request.
const AfterDone = 50 * time.Millisecond

// ErrNotAnAPI is the error for a web page with status 200.
var ErrNotAnAPI = errors.New("a web page came back")

// EventReader makes a server-sent event stream regular: the result has exactly one line "data: …"
// for each event. It removes comments, blank lines, other fields and carriage returns. A last line
// without a line end is used if it is complete, and dropped otherwise. A line "error: {…}" becomes
// an event, and so does a body that is one JSON object instead of a stream.
//
// It reads no further than it must and never stores more than LineLimit bytes.
type EventReader struct {
	body     io.ReadCloser
	lines    *bufio.Scanner
	searched int  // bytes of the current line that contain no line end
	cut      bool // the current line has no line end
	begun    bool // a line that is not blank was read
	pending  []byte
	done     bool // there was [DONE]
	err      error
}

// NewEventReader returns the regular stream of a body, and owns the body.
func NewEventReader(body io.ReadCloser) *EventReader {
	r := &EventReader{body: body, lines: bufio.NewScanner(body)}
	r.lines.Buffer(make([]byte, 0, 4<<10), LineLimit)
	r.lines.Split(r.splitLine)
	return r
}

// splitLine ends a line at a newline or at a carriage return. After a CRLF it therefore returns an
// empty line too, which has no meaning here.
//
// The scanner passes all of an unfinished line again each time more of it comes. splitLine does not
// search the same bytes twice, so a long line takes linear time.
func (r *EventReader) splitLine(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if i := bytes.IndexAny(data[r.searched:], "\r\n"); i >= 0 {
		end := r.searched + i
		r.searched = 0
		return end + 1, data[:end], nil
	}
	if atEOF && len(data) > 0 {
		r.searched, r.cut = 0, true
		return len(data), data, nil
	}
	r.searched = len(data)
	return 0, nil, nil
}

// Read returns the next bytes of the regular stream.
func (r *EventReader) Read(p []byte) (int, error) {
	for len(r.pending) == 0 {
		if r.err != nil {
			return 0, r.err
		}
		r.advance()
	}
	n := copy(p, r.pending)
	r.pending = r.pending[n:]
	return n, nil
}

// Done reports whether the stream said that it is complete.
func (r *EventReader) Done() bool { return r.done }

// End reads and drops the rest of the body after the last event. It is bounded by the context of
// the request and by LineLimit.
func (r *EventReader) End() { _, _ = io.CopyN(io.Discard, r.body, LineLimit) }

// Close closes the server's body.
func (r *EventReader) Close() error { return r.body.Close() }

// advance reads one line and makes it pending if it is an event.
func (r *EventReader) advance() {
	if !r.lines.Scan() {
		r.err = r.lines.Err()
		switch {
		case r.err == nil:
			r.err = io.EOF
		case errors.Is(r.err, bufio.ErrTooLong):
			r.err = &llm.Error{Class: llm.ClassProtocol, Message: fmt.Sprintf("a line is longer than %d MiB", LineLimit>>20)}
		}
		return
	}
	line := bytes.TrimSpace(bytes.TrimPrefix(r.lines.Bytes(), []byte("\xef\xbb\xbf")))
	if len(line) == 0 {
		return
	}
	if !r.begun {
		r.begun = true
		switch line[0] {
		case '{':
			r.wholeBody(line)
			return
		case '<':
			r.err = ErrNotAnAPI
			return
		}
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimSpace(value)
	switch string(name) {
	case "data":
		r.event(value)
	case "error":
		if json.Valid(value) {
			r.event([]byte(`{"error":` + string(value) + `}`))
		}
	}
}

// event makes a line for one event. It puts a blank after the brace because go-openai parses lines
// that begin with {"error" by itself, and loses some.
func (r *EventReader) event(value []byte) {
	switch {
	case len(value) == 0, r.cut && !json.Valid(value) && string(value) != "[DONE]":
		return
	case string(value) == "[DONE]":
		r.done = true
		r.pending = []byte("data: [DONE]\n")
		r.err = io.EOF
	case value[0] == '{':
		r.pending = fmt.Appendf(r.pending[:0], "data: { %s\n", value[1:])
	default:
		r.pending = fmt.Appendf(r.pending[:0], "data: %s\n", value)
	}
}

// wholeBody reads a body that is one JSON object and begins with this line.
func (r *EventReader) wholeBody(first []byte) {
	whole := append([]byte(nil), first...)
	for r.lines.Scan() {
		if len(whole)+len(r.lines.Bytes()) >= LineLimit {
			r.err = &llm.Error{Class: llm.ClassProtocol, Message: fmt.Sprintf("the reply is longer than %d MiB", LineLimit>>20)}
			return
		}
		whole = append(append(whole, ' '), r.lines.Bytes()...)
	}
	if r.err = r.lines.Err(); r.err == nil {
		r.err = io.EOF
	}
	r.cut = true
	r.event(whole)
}
