package channel

import "time"

// FailureClass is what an error of a driver means to whoever sends.
type FailureClass string

// The classes.
const (
	Temporary    FailureClass = "temporary"    // nothing was sent; it may succeed later
	Refused      FailureClass = "refused"      // the chat's server will never take it: no such chat, blocked, too large
	Unauthorized FailureClass = "unauthorized" // the account cannot be used until the person does something
	Unknown      FailureClass = "unknown"      // the connection ended before the answer: it may have been sent
)

// Failure is an error of a driver.
type Failure struct {
	Class      FailureClass
	RetryAfter time.Duration // how long the server says to wait, 0 if it does not
	Err        error
}

// Error implements error. The text never has a secret.
func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }
