package memory

import (
	"fmt"
	"strings"
)

// Disclosure is how much of a file a prompt contains. The file's line #+DISCLOSURE: sets it.
type Disclosure string

const (
	Whole   Disclosure = "whole"    // its text, within the budget; the default
	Listed  Disclosure = "listed"   // its name, place and length; the model can ask for the text
	LeftOut Disclosure = "left-out" // nothing
)

// Disclosure returns how much of the file a prompt contains. An unknown value is ignored, so that a
// misspelt line has no effect.
func (f File) Disclosure() Disclosure {
	switch d := Disclosure(strings.ToLower(f.Field("disclosure"))); d {
	case Listed, LeftOut:
		return d
	}
	return Whole
}

// disclosureFault returns the fault of the file's line #+DISCLOSURE:, or "" if there is none.
func (f File) disclosureFault() string {
	value := f.Field("disclosure")
	switch Disclosure(strings.ToLower(value)) {
	case "", Whole, Listed, LeftOut:
		return ""
	}
	return fmt.Sprintf("#+DISCLOSURE: %.40q is none of %s, %s and %s; it is shown whole", value, Whole, Listed, LeftOut)
}
