package protocol

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// ToolErrorCode says what kind of thing went wrong in a call of a tool, in a word that a
// program can go by.
type ToolErrorCode string

const (
	ToolArguments ToolErrorCode = "arguments" // they are not those of the tool
	ToolNotFound  ToolErrorCode = "not-found" // what is named is not there
	ToolExists    ToolErrorCode = "exists"    // what was to be new is there
	ToolChanged   ToolErrorCode = "changed"   // it is not what it was taken to be
	ToolNotUnique ToolErrorCode = "not-unique"
	ToolDenied    ToolErrorCode = "denied" // the system does not let this user
	ToolUnfit     ToolErrorCode = "unfit"  // it is of a kind with which the tool does nothing: a device, a picture
	ToolTooLarge  ToolErrorCode = "too-large"
	ToolNoSpace   ToolErrorCode = "no-space"
	ToolBusy      ToolErrorCode = "busy" // there is no room now, or whoever is asked has none
	ToolTimeout   ToolErrorCode = "timeout"
	ToolCancelled ToolErrorCode = "cancelled"
	ToolRefused   ToolErrorCode = "refused"  // by the policy
	ToolDeclined  ToolErrorCode = "declined" // by a person
	ToolFailed    ToolErrorCode = "failed"   // anything else
)

func (ToolErrorCode) PlistKeyword() {}

// ToolError is the error of a call of a tool. Message is for the model and says what to do.
// Retryable promises that nothing happened, and that the same call may well go through when it
// is made again: who calls tools does that a few times. After is how long whoever was asked wants
// to be left alone before that, 0 when it did not say.
type ToolError struct {
	Code      ToolErrorCode
	Message   string
	Retryable bool
	After     time.Duration
	cause     error
}

// ToolErrorf makes a [*ToolError]; a %w operand is kept for [errors.Is] and As.
func ToolErrorf(code ToolErrorCode, format string, arguments ...any) *ToolError {
	err := fmt.Errorf(format, arguments...)
	return &ToolError{Code: code, Message: err.Error(), cause: errors.Unwrap(err)}
}

// Error is the message.
func (e *ToolError) Error() string { return e.Message }

// Unwrap is the error this one was made from, if any.
func (e *ToolError) Unwrap() error { return e.cause }

// ToolErrorOf is any error of a call as one of a tool: with the code and the promise of the
// first [*ToolError] in its chain, else with the code of what the system said, and with the
// whole message.
func ToolErrorOf(err error) ToolError {
	of := ToolError{Code: ToolFailed, Message: err.Error(), cause: err}
	if e, ok := errors.AsType[*ToolError](err); ok {
		of.Code, of.Retryable, of.After = e.Code, e.Retryable, e.After
		return of
	}
	switch {
	case errors.Is(err, context.Canceled):
		of.Code = ToolCancelled
	case errors.Is(err, context.DeadlineExceeded):
		of.Code = ToolTimeout
	case errors.Is(err, fs.ErrNotExist):
		of.Code = ToolNotFound
	case errors.Is(err, fs.ErrExist):
		of.Code = ToolExists
	case errors.Is(err, fs.ErrPermission):
		of.Code = ToolDenied
	}
	return of
}
