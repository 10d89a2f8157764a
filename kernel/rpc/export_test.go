package rpc

import (
	"bufio"
	"io"
)

// Some peers of the tests are neither a [Server] nor a [Conn]: they write what neither would, and
// read every byte of what comes back. They use the codecs without a connection.

// Wire is a codec and its framing.
type Wire struct{ codec codec }

// NewWire returns the wire of a codec.
func NewWire(of Codec) Wire {
	if of == Plist {
		return Wire{plistCodec{schema: newSchema()}}
	}
	return Wire{jsonCodec{schema: newSchema()}}
}

// Message is a message that was read.
type Message struct {
	Method         string // "" of a response
	Params, Result any
	Err            error // of a response

	message message
}

// ID returns the id as JSON spells it.
func (m Message) ID() string { return spelled(m.message.id) }

func spelled(of id) string {
	text, _ := of.MarshalJSON() // an id that was read can be written
	return string(text)
}

// AppendFrame appends the frame of a body.
func (w Wire) AppendFrame(dst, body []byte) []byte { return w.codec.appendFrame(dst, body) }

// Request returns the body of a request.
func (w Wire) Request(number uint64, method string, params any) ([]byte, error) {
	return w.codec.appendMessage(nil, message{kind: request, id: numberID(number), method: method, params: params})
}

// Response returns the body of a response.
func (w Wire) Response(number uint64, result any) ([]byte, error) {
	return w.codec.appendMessage(nil, message{kind: response, id: numberID(number), result: result})
}

// ReadBody reads a frame and returns its body. At the end the error is io.ErrUnexpectedEOF.
func (w Wire) ReadBody(r *bufio.Reader) ([]byte, error) {
	n, err := w.codec.readHeader(r)
	if err != nil {
		return nil, err
	}
	body := make([]byte, n)
	_, err = io.ReadFull(r, body)
	return body, err
}

// Decode reads the message of a body. result returns a pointer to the result of the request of that
// id, or nil if it is not to be read.
func (w Wire) Decode(body []byte, result func(id string) any) (Message, error) {
	m, err := w.codec.decode(body, func(of id) any { return result(spelled(of)) })
	switch {
	case err != nil:
		return Message{}, err
	case m.fault != nil:
		return Message{}, m.fault
	}
	read := Message{Method: m.method, Params: m.params, Result: m.result, message: m}
	if m.err != nil {
		read.Err = m.err
	}
	return read, nil
}

// Encode returns the body of a message that was read, also by the other codec.
func (w Wire) Encode(m Message) ([]byte, error) { return w.codec.appendMessage(nil, m.message) }
