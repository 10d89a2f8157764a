package plist

import "fmt"

// Position is a place in a source: Offset in bytes from 0, Line from 1, and
// Column from 1 in characters.
type Position struct {
	Offset, Line, Column int
}

// String is "LINE:COLUMN".
func (p Position) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Column) }

// ErrorKind says what is wrong with a source.
type ErrorKind int

const (
	// BadToken: something that no form may contain where it stands.
	BadToken ErrorKind = iota
	// UnexpectedClose: a ) without its (.
	UnexpectedClose
	// UnclosedList: the source ended inside a list, or where a quote, #' or the
	// like wants a form.
	UnclosedList
	// UnclosedString: the source ended inside a string, a |name| or a #| comment.
	UnclosedString
	// LimitExceeded: a form is larger than [Limits] allow.
	LimitExceeded
)

// SyntaxError is what a [Reader] returns for a source it cannot read. Position
// is the offending character; for what is not closed, where it was opened.
// Message says what to do. Err is the Maker's own error, if it was one.
type SyntaxError struct {
	Position
	Kind    ErrorKind
	Message string
	Err     error
}

// Error is "LINE:COLUMN: MESSAGE".
func (e *SyntaxError) Error() string { return e.Position.String() + ": " + e.Message }

// Unwrap returns the Maker's own error.
func (e *SyntaxError) Unwrap() error { return e.Err }
