package memory

import (
	"fmt"
	"strings"
)

// Disclosure is how much of a file a prompt has, as its line #+DISCLOSURE: says.
type Disclosure string

const (
	Whole   Disclosure = "whole"    // its text, within the budget; so is a file that says nothing of it
	Listed  Disclosure = "listed"   // that it is there, where, and how long it is; the text is had when it is asked for
	LeftOut Disclosure = "left-out" // nothing
)

// Disclosure is how much of the file a prompt has. What cannot be understood says nothing: a
// file is not hidden, nor shown, by a slip of the pen other than it is without the line.
func (f File) Disclosure() Disclosure {
	switch d := Disclosure(strings.ToLower(f.Field("disclosure"))); d {
	case Listed, LeftOut:
		return d
	}
	return Whole
}

// disclosureFault is what is wrong with what the file says of its disclosure, "" if nothing.
func (f File) disclosureFault() string {
	said := f.Field("disclosure")
	switch Disclosure(strings.ToLower(said)) {
	case "", Whole, Listed, LeftOut:
		return ""
	}
	return fmt.Sprintf("#+DISCLOSURE: %.40q is none of %s, %s and %s; it is shown whole", said, Whole, Listed, LeftOut)
}
