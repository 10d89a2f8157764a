package action

import (
	"errors"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
)

// Proposed is an action as a model, a skill or a person wrote it: in the shape it came in, flat
// or nested, without the fields that nobody outside may set.
type Proposed struct {
	list     sexp.List
	action   Action
	stripped bool
	fault    error
}

// forbidden are the fields that nobody outside the kernel may set.
var forbidden = [...]string{"approved", "verified", "policy", "origin"}

// Propose makes a proposal of a list. One that is not well-formed is a proposal all the same,
// which [Specs.Usable] refuses with the reason.
func Propose(list sexp.List) Proposed {
	var p Proposed
	p.list, p.stripped = plist.StripForbidden(list, forbidden[:]...)
	top, err := plist.Nested(p.list)
	if err != nil {
		p.fault = unusablef("not a well-formed action: %v", err)
		return p
	}
	p.action = nested(top)
	return p
}

// Read makes a proposal of text from the journal or the wire. The error says why that is no list.
func Read(text string) (Proposed, error) {
	x, err := plist.Read(text)
	if err != nil {
		return Proposed{}, err
	}
	list, ok := x.(sexp.List)
	if !ok {
		return Proposed{}, errors.New("it is not a property list")
	}
	return Propose(list), nil
}

// Recorded is the action of text that the kernel wrote itself; the zero Action where it cannot be
// read.
func Recorded(text string) Action {
	p, _ := Read(text) // nothing of an action is then known
	return p.action
}

// List is the proposal in the shape it came in. The list must not be changed.
func (p Proposed) List() sexp.List { return p.list }

// String is the proposal in the shape it came in, as one line.
func (p Proposed) String() string { return plist.Print(p.list) }

// Action is the kernel's view of the proposal, the zero Action if it is not well-formed.
func (p Proposed) Action() Action { return p.action }

// Stripped reports whether the proposal set fields that nobody outside may set.
func (p Proposed) Stripped() bool { return p.stripped }

// Empty reports whether nothing is proposed.
func (p Proposed) Empty() bool { return len(p.list) == 0 }
