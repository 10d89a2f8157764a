// Package uiop is the library UIOP for Lisp: what programs share beside the standard, files and
// the environment included, as far as they are granted.
package uiop

import (
	"slices"

	"org-agent/kernel/lisp"
)

// Library is the package UIOP.
func Library() lisp.Library {
	return lisp.Library{
		Package: "UIOP", Title: "UIOP",
		Functions: slices.Concat(uiopFunctions(), uiopPathnameFunctions(), uiopFileFunctions()), Macros: uiopMacros(),
		Capturing: []string{"with-output", "with-input", "while-collecting"},
	}
}
