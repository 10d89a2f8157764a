package responses

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"

	"org-agent/kernel/llm/transport"
)

// doer makes one HTTP request for the library. It adds the conversation, and the fields that the library
// does not know, and returns a body with a line for each event. An answer that is none is an *llm.Error.
type doer struct {
	provider *Provider
	body     body
}

// body is what is sent in addition to what the library writes.
type body struct {
	input  []byte         // the conversation, encoded
	fields map[string]any // replace those of the library
}

// Do sends the request.
func (d *doer) Do(request *http.Request) (*http.Response, error) {
	p := d.provider
	if err := transport.JoinBody(request, d.body.fields, "input", d.body.input); err != nil {
		return nil, err
	}
	response, err := transport.Send(p.client, request, p.base, p.config.Headers, transport.StatusFailure)
	if err != nil {
		return nil, err
	}
	response.Body = transport.NewEventReader(response.Body)
	return response, nil
}

// stream is the body of an answer, with a line for each event.
type stream struct {
	*transport.EventReader
	err error // that ended the lines, io.EOF at the end
}

// newStream returns the stream of a body that a doer has returned, which the library has wrapped.
func newStream(wrapped io.ReadCloser) *stream {
	if events, ok := wrapped.(*transport.EventReader); ok {
		return &stream{EventReader: events}
	}
	return &stream{EventReader: transport.NewEventReader(wrapped)}
}

// lines returns the events, each as JSON. They are valid until the next one.
func (s *stream) lines() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		lines := bufio.NewScanner(s.EventReader)
		lines.Buffer(make([]byte, 0, 4<<10), transport.LineLimit+64)
		for lines.Scan() {
			data, ok := bytes.CutPrefix(lines.Bytes(), []byte("data:"))
			if data = bytes.TrimSpace(data); !ok || string(data) == "[DONE]" {
				continue
			}
			if !yield(data) {
				return
			}
		}
		s.err = lines.Err()
		if s.err == nil {
			s.err = io.EOF
		}
		if errors.Is(s.err, bufio.ErrTooLong) {
			s.err = fmt.Errorf("read an event: %w", s.err)
		}
	}
}
