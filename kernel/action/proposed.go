package action

import (
	"errors"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
)

// Proposed is an action as a model, a skill or a person wrote it. It keeps its shape, flat or
// nested, but not the fields that only the kernel may set.
type Proposed struct {
	list     sexp.List
	action   Action
	stripped bool
	fault    error
}

// forbidden are the fields that only the kernel may set.
var forbidden = [...]string{"approved", "verified", "policy", "origin"}

// Propose makes a proposal from a list. An ill-formed list is a proposal too; [Specs.Usable]
// refuses it with the reason.
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

// Read makes a proposal from text of the journal or the wire. The error says why the text is not a
// list.
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

// Recorded returns the action of a text that the kernel wrote itself, or the zero Action if the
// text cannot be read.
func Recorded(text string) Action {
	p, _ := Read(text) // an unreadable text has the zero Action
	return p.action
}

// List returns the proposal in the shape in which it was written. The caller must not change the
// list.
func (p Proposed) List() sexp.List { return p.list }

// Equals reports whether a list has the same fields as the proposal, in the same order.
func (p Proposed) Equals(list sexp.List) bool { return plist.Equal(list, p.list) }

// String returns the proposal in the shape in which it was written, on one line.
func (p Proposed) String() string { return plist.Print(p.list) }

// Action returns the proposal in the kernel's shape, or the zero Action if it is ill-formed.
func (p Proposed) Action() Action { return p.action }

// Stripped reports whether the proposal contained fields that only the kernel may set.
func (p Proposed) Stripped() bool { return p.stripped }

// Empty reports whether the proposal has no fields.
func (p Proposed) Empty() bool { return len(p.list) == 0 }
