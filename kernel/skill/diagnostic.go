package skill

import (
	"errors"
	"fmt"
	"strings"

	"org-agent/kernel/lisp"
	"org-agent/kernel/org"
)

// Diagnostic is a fault of a note, at its place in the file.
type Diagnostic struct {
	File    string `json:"file"`
	Line    int    `json:"line"`   // from 1
	Column  int    `json:"column"` // from 1, in characters
	Warning bool   `json:"warning,omitempty"`
	Message string `json:"message"`
}

// String prints the diagnostic as FILE:LINE:COLUMN: error|warning: MESSAGE.
func (d Diagnostic) String() string {
	severity := "error"
	if d.Warning {
		severity = "warning"
	}
	return fmt.Sprintf("%s:%d:%d: %s: %s", ShownFile(d.File), d.Line, d.Column, severity, d.Message)
}

// Faults are the diagnostics that prevent a note from becoming live. [LoadNote] returns them as its
// error.
type Faults []Diagnostic

// Error prints one fault on each line.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, d := range f {
		lines[i] = d.String()
	}
	return strings.Join(lines, "\n")
}

// maximumDiagnostics is how many diagnostics of one note are reported.
const maximumDiagnostics = 100

func fromOrg(file string, d org.Diagnostic) Diagnostic {
	return Diagnostic{
		File: file, Line: max(d.Line, 1), Column: max(d.Column, 1),
		Warning: d.Severity == org.Warning, Message: d.Message,
	}
}

// fromLisp returns the diagnostic for an error of the note's code. An error that has no place in
// Lisp is placed at the first line of the block.
func fromLisp(file string, line int, err error) Diagnostic {
	var fault *lisp.Error
	if !errors.As(err, &fault) {
		return Diagnostic{File: file, Line: max(line, 1), Column: 1, Message: err.Error()}
	}
	d := Diagnostic{File: file, Line: max(line, 1), Column: 1, Warning: fault.Warning, Message: fault.Message}
	if fault.Line > 0 {
		d.Line, d.Column = fault.Line, max(fault.Column, 1)
	}
	if fault.Function != "" {
		d.Message += " (in " + fault.Function + ")"
	}
	if fault.Hint != "" {
		d.Message += "; " + fault.Hint
	}
	return d
}
