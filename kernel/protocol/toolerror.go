package protocol

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// ToolErrorCode is the kind of an error of a tool's call, as a word for programs.
type ToolErrorCode string

const (
	ToolArguments ToolErrorCode = "arguments" // the arguments do not fit the tool
	ToolNotFound  ToolErrorCode = "not-found" // the named thing does not exist
	ToolExists    ToolErrorCode = "exists"    // the thing to make exists already
	ToolChanged   ToolErrorCode = "changed"   // the thing has changed since the caller read it
	ToolNotUnique ToolErrorCode = "not-unique"
	ToolDenied    ToolErrorCode = "denied" // the system denies it to this user
	ToolUnfit     ToolErrorCode = "unfit"  // the tool cannot use a thing of this kind: a device, a picture
	ToolTooLarge  ToolErrorCode = "too-large"
	ToolNoSpace   ToolErrorCode = "no-space"
	ToolBusy      ToolErrorCode = "busy" // the kernel or a server has no capacity now
	ToolTimeout   ToolErrorCode = "timeout"
	ToolCancelled ToolErrorCode = "cancelled"
	ToolRefused   ToolErrorCode = "refused"  // by the policy
	ToolDeclined  ToolErrorCode = "declined" // by a person
	ToolFailed    ToolErrorCode = "failed"   // anything else
)

func (ToolErrorCode) PlistKeyword() {}

// ToolError is the error of a call of a tool. Message is for the model and says what to do.
// Retryable promises that nothing happened and that the same call may succeed later. The registry
// of tools then repeats the call a few times. After is the pause that a server asked for, 0 if it
// named none.
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

// ToolErrorOf converts any error of a call. The result has the whole message, and the code and the
// promise of the first [*ToolError] in the chain. If there is none, the code is that of the
// system's error.
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
