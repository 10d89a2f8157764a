package rpc

import (
	"fmt"
	"strconv"

	"github.com/sourcegraph/jsonrpc2"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// An id is a request's id as its sender spelled it. The library's ID has room for
// strings and for the numbers from 0 to 2^64-1; the other ids that JSON-RPC
// allows are kept as text.
type id struct {
	jsonrpc2.ID
	other string // an integer that ID cannot hold, or null, as JSON spells it
}

// nullID is the id of replies to messages whose id could not be read.
var nullID = id{other: "null"}

// integerDigits is the maximal number of digits of an id that jsonrpc2.ID cannot hold.
const integerDigits = 64

func numberID(n uint64) id { return id{ID: jsonrpc2.ID{Num: n}} }

func stringID(s string) id { return id{ID: jsonrpc2.ID{Str: s, IsString: true}} }

// integerID reads an integer of any size.
func integerID(text string) (id, bool) {
	if n, err := strconv.ParseUint(text, 10, 64); err == nil {
		return numberID(n), true
	}
	digits := text
	if len(digits) > 1 && digits[0] == '-' {
		digits = digits[1:]
	}
	if digits == "" || len(digits) > integerDigits {
		return id{}, false
	}
	for _, c := range []byte(digits) {
		if c < '0' || c > '9' {
			return id{}, false
		}
	}
	return id{other: text}, true
}

// number is the number of a request of ours; 0 is none. A peer may have made it a
// string.
func (of id) number() uint64 {
	if !of.IsString {
		return of.Num
	}
	n, err := strconv.ParseUint(of.Str, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// MarshalJSON gives the id as its sender spelled it.
func (of id) MarshalJSON() ([]byte, error) {
	if of.other != "" {
		return []byte(of.other), nil
	}
	return of.ID.MarshalJSON()
}

// UnmarshalJSON reads null, a string or an integer of any size.
func (of *id) UnmarshalJSON(raw []byte) error {
	*of = id{}
	if string(raw) == "null" {
		*of = nullID
		return nil
	}
	if raw[0] == '"' {
		return of.ID.UnmarshalJSON(raw)
	}
	var ok bool
	if *of, ok = integerID(string(raw)); !ok {
		return fmt.Errorf("%s is no id", text.Clip(string(raw), quoted))
	}
	return nil
}

// message is one request, notification or response as Go values.
type message struct {
	kind   messageKind
	id     id // not of a notification
	method string

	// params is a pointer to the method's params type in a message that was
	// read; nil if the method is unknown.
	params any
	// fault says why the params, the result or the error could not be read.
	fault *protocol.Error
	// oldForm marks params with :type :request, an action sent as a message.
	oldForm bool

	result any
	err    *jsonrpc2.Error

	size int // bytes of the frame it came in
}

type messageKind byte

const (
	request messageKind = iota + 1
	notification
	response
)

// errorReply returns the error response to the request of that id.
func errorReply(of id, err *protocol.Error) message {
	return message{kind: response, id: of, err: &jsonrpc2.Error{Code: int64(err.Code), Message: err.Message}}
}

// codec encodes messages. Both codecs use one schema, so a message means the same in both.
type codec interface {
	framing
	// decode reads one message. newResult makes a pointer to the result of our
	// request of that id; nil: no such request waits, and the result is not read.
	// A message that is neither a request nor a response is a *malformed.
	decode(body []byte, newResult func(id) any) (message, error)
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
