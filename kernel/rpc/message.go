package rpc

import (
	"reflect"
	"strconv"

	"org-agent/kernel/protocol"
)

// An id is a request's id as its sender spelled it. The zero value is none: the
// message is a notification.
type id struct {
	kind idKind
	text string // the digits, or the string
}

type idKind byte

const (
	idNone idKind = iota
	idNull        // in answers to what could not be read
	idNumber
	idString
)

// idDigits bounds the digits of an id that is a number.
const idDigits = 64

func numberID(n uint64) id { return id{idNumber, strconv.FormatUint(n, 10)} }

// parseNumberID reads an integer of any size.
func parseNumberID(text string) (id, bool) {
	digits := text
	if len(digits) > 1 && digits[0] == '-' {
		digits = digits[1:]
	}
	if digits == "" || len(digits) > idDigits {
		return id{}, false
	}
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' {
			return id{}, false
		}
	}
	return id{idNumber, text}, true
}

// A message is one request, notification or response as Go values.
type message struct {
	kind   messageKind
	id     id
	method string // of a response received: of the request it answers

	// params is a pointer to the method's params type in a message that was
	// read; nil if the method is unknown.
	params any
	// fault says why the params could not be read, for whoever answers.
	fault *protocol.Error
	// oldForm marks params with :type :request, an action sent as a message.
	oldForm bool

	result any
	err    *protocol.Error

	size int // bytes of the frame it came in
}

// awaited makes a response ready to be read as the answer that a request of ours waits for;
// false if nobody waits for it, or wants to know more than that it came.
func (m *message) awaited(pending func(id) (protocol.Method, bool)) bool {
	method, ok := pending(m.id)
	if !ok || method.Result == nil {
		return false
	}
	m.method, m.result = method.Name, reflect.New(method.Result).Interface()
	return true
}

type messageKind byte

const (
	request messageKind = iota + 1
	notification
	response
)

// A codec spells messages. Both codecs keep one schema, so that a message means
// the same in either.
type codec interface {
	framing
	// decode reads one message. pending finds the method of a request of ours
	// by its id, for the response to it. A message that is none is a
	// *malformed.
	decode(body []byte, pending func(id) (protocol.Method, bool)) (message, error)
	// appendMessage appends the body of a message to dst.
	appendMessage(dst []byte, m message) ([]byte, error)
}

// A malformed message is answered with an error, and the connection lives.
type malformed struct {
	id    id
	reply *protocol.Error
}

func (e *malformed) Error() string { return e.reply.Message }

func malformedf(of id, code protocol.Code, format string, args ...any) error {
	if of.kind == idNone {
		of.kind = idNull
	}
	return &malformed{of, protocol.Errorf(code, format, args...)}
}

// The texts both codecs answer malformed messages with.
const (
	sayBatch   = "batches are not supported: send one message in each frame"
	sayID      = "the id must be an integer or a string; leave it out of a notification"
	sayVersion = `the version must be "2.0" where it is given`
	sayMethod  = "the method must be a string"
	sayNeither = "this is neither a request nor a response: it has no method, result or error"
	sayBoth    = "a message has a method, or a result or an error, not both"
	sayError   = "the error must have a code and a message"
	sayOldForm = "a client sends events, never actions: send the method event, without a type"
	sayParams  = "the params must be an object"
	sayNoType  = "this is no message of this protocol: it needs a method"
)
