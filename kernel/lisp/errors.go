package lisp

import (
	"fmt"
	"strings"
)

// Classes of errors that are no conditions: nothing in Lisp can handle them.
const (
	stepsCondition   = "STEP-LIMIT"
	timeCondition    = "TIME-LIMIT"
	storageCondition = "STORAGE-CONDITION"
	outputCondition  = "OUTPUT-LIMIT"
	cancelCondition  = "CANCELLED"
	internalError    = "INTERNAL-ERROR"
)

// Error is how a call, a load or a read ends when it does not end well, and how a
// problem that was found while loading is told.
type Error struct {
	// Class is the name of the condition's class, upper case (TYPE-ERROR,
	// UNDEFINED-FUNCTION, …), or of an exceeded limit (STEP-LIMIT, TIME-LIMIT,
	// STORAGE-CONDITION, OUTPUT-LIMIT) or CANCELLED, which Lisp code cannot handle.
	Class   string
	Message string
	// File, Line and Column say where, as far as known; Line is 0 if it is not.
	File         string
	Line, Column int
	// Function is the innermost named function that was running, "" outside any.
	Function string
	// Form is the form being evaluated, shortened.
	Form string
	// Hint says what to do about it, "" if there is no advice.
	Hint string
	// Warning marks a problem that does not stop the note from being used.
	Warning bool
	// Cause is the Go error behind it: the context's, or a kernel function's.
	Cause error
}

// Error returns "FILE:LINE:COLUMN: message (in FUNCTION: FORM); hint".
func (e *Error) Error() string {
	var b strings.Builder
	if e.Line > 0 {
		if e.File != "" {
			b.WriteString(e.File + ":")
		}
		fmt.Fprintf(&b, "%d:%d: ", e.Line, e.Column)
	}
	message := e.Message
	if e.Hint != "" && e.Function == "" && e.Form == "" {
		message = strings.TrimSuffix(message, ".") // the hint goes on with the sentence
	}
	b.WriteString(message)
	switch {
	case e.Function != "" && e.Form != "":
		fmt.Fprintf(&b, " (in %s: %s)", e.Function, e.Form)
	case e.Function != "":
		fmt.Fprintf(&b, " (in %s)", e.Function)
	case e.Form != "":
		fmt.Fprintf(&b, " (%s)", e.Form)
	}
	if e.Hint != "" {
		b.WriteString("; " + e.Hint)
	}
	return b.String()
}

// Unwrap returns the Go error behind it, nil for a condition that the note signalled.
func (e *Error) Unwrap() error { return e.Cause }

// Limit reports whether the error is an exceeded limit or a cancelled context rather
// than a condition the note signalled.
func (e *Error) Limit() bool {
	switch e.Class {
	case stepsCondition, timeCondition, storageCondition, outputCondition, cancelCondition:
		return true
	}
	return false
}

// site is where a form stands, for errors.
type site struct {
	form         Value
	of           Value // the form as compiled, when form is what was written
	file         string
	line, column int32
}

const formLength = 80

// describe fills the error's place from the call's state.
func (c *Call) describe(e *Error) *Error {
	if c.at != nil {
		e.File, e.Line, e.Column = c.at.file, int(c.at.line), int(c.at.column)
		if c.at.form != nil {
			e.Form = Sketch(c.at.form, formLength)
		}
	}
	if c.running != nil {
		e.Function = c.running.name
	}
	return e
}
