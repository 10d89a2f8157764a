package plist

import "fmt"

// Position is a place in a source: Offset in bytes from 0, Line from 1, and
// Column from 1 in characters.
type Position struct {
	Offset, Line, Column int
}

// String returns "LINE:COLUMN".
func (p Position) String() string { return fmt.Sprintf("%d:%d", p.Line, p.Column) }

// ErrorKind is the kind of an error in a source.
type ErrorKind int

const (
	// BadToken is a token that no form may contain at that place.
	BadToken ErrorKind = iota
	// UnexpectedClose is a ) without its (.
	UnexpectedClose
	// UnclosedList means that the source ended inside a list, or after a quote, #' or similar that
	// needs a form.
	UnclosedList
	// UnclosedString means that the source ended inside a string, a |name| or a #| comment.
	UnclosedString
	// LimitExceeded means that a form is larger than [Limits] allow.
	LimitExceeded
)

// SyntaxError is the error of a [Reader] for a source that it cannot read. Position is that of the
// wrong character, or of the opening character if the form is not closed. Message says what to do.
// Err is the Maker's own error, if there is one.
type SyntaxError struct {
	Position
	Kind    ErrorKind
	Message string
	Err     error
}

// Error returns "LINE:COLUMN: MESSAGE".
func (e *SyntaxError) Error() string { return e.Position.String() + ": " + e.Message }

// Unwrap returns the Maker's own error.
func (e *SyntaxError) Unwrap() error { return e.Err }
