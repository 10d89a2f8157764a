package protocol

import (
	"errors"
	"fmt"
)

// Code is a JSON-RPC error code.
type Code int

// The standard codes, and ours from -32000 down.
const (
	CodeParse          Code = -32700
	CodeInvalidRequest Code = -32600
	CodeMethodNotFound Code = -32601
	CodeInvalidParams  Code = -32602
	CodeInternal       Code = -32603

	CodeUnauthorized Code = -32001 // no token, a wrong one, or before initialize
	CodeForbidden    Code = -32002 // never allowed, whoever asks
	CodeNotFound     Code = -32003 // no such turn, approval or session
	CodeConflict     Code = -32004 // the id belongs to something else
	CodeTooLarge     Code = -32005 // over a limit that the message names
	CodeStorage      Code = -32006 // the journal could not be written; nothing was stored
	CodeBusy         Code = -32007 // a queue is full; send again later
	CodeVersion      Code = -32008 // no common protocol version
	CodeConsent      Code = -32009 // a person must first agree to the host that would receive the words
	CodeStale        Code = -32010 // an approved action cannot be performed now, and its approval still waits
	CodeModel        Code = -32011 // the model did not answer, or its answer is not usable
	CodeCancelled    Code = -32800 // by $/cancelRequest, or because a later request took its place
)

// Error is the error of a request. Message is for a person: it says what is wrong
// and what to do. It never has a secret.
type Error struct {
	Code    Code
	Message string
	cause   error
}

// Errorf makes an [*Error]; a %w operand is kept for [errors.Is] and As.
func Errorf(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: err.Error(), cause: errors.Unwrap(err)}
}

// Error is the message.
func (e *Error) Error() string { return e.Message }

// Unwrap is the error this one was made from, if any.
func (e *Error) Unwrap() error { return e.cause }

// ErrorCode is the code of the first [*Error] in err's chain, else
// [CodeInternal]; 0 for nil.
func ErrorCode(err error) Code {
	if err == nil {
		return 0
	}
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Code
	}
	return CodeInternal
}
