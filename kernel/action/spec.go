package action

import (
	"slices"

	"org-agent/kernel/protocol"
)

// FieldKind is what a field's value must be.
type FieldKind int

const (
	Text       FieldKind = iota // a string, not blank
	AnyText                     // a string, possibly empty
	Name                        // a string or a keyword
	Integer                     // an integer, 1 or more
	Plist                       // a plist, possibly empty
	Properties                  // a plist, or a list of lists of two strings
	CallList                    // a list of plists
)

// String names what is wanted, in words for a model.
func (k FieldKind) String() string {
	return [...]string{"a string that is not blank", "a string", "a string", "a positive integer", "a plist", "a plist", "a list of plists"}[k]
}

// Field is one field of an action's payload.
type Field struct {
	Name     string
	Kind     FieldKind
	Required bool
	Limit    int // characters of a string; 0: none
	// Example is what a prompt shows for the value, as Lisp that is read; fields without one
	// are not shown.
	Example string
	Fixed   bool // the example is the value
	Chat    bool // it names the conversation on a channel that the text is for
}

// Spec is one kind of action as data: what a proposal of it must have, and what a prompt says of
// it. Nothing here says whether it may be done.
type Spec struct {
	// Target is the :target; of what is no request it is the :type.
	Target string
	// Type is the :type of what is no request, "" for a request.
	Type protocol.Type
	// Name is the :action, "" for what has none.
	Name string
	// Does says in a prompt what it is for.
	Does   string
	Fields []Field
	// OneOf: of these fields at least one must stand. The first is shown in a prompt.
	OneOf []string
	// Off says why it is refused whatever it is; such a kind is known and not offered.
	Off string
	// Reply: its :text is words for a conversation.
	Reply bool
	// Answers: it answers a conversation, also one that no channel's own kind answers.
	Answers bool
}

// Key names the kind.
func (s Spec) Key() Key { return Key{s.Target, s.Name} }

// HasField reports whether actions of the kind have a field of that name.
func (s Spec) HasField(name string) bool {
	return slices.ContainsFunc(s.Fields, func(f Field) bool { return f.Name == name })
}

// is reports whether actions with that key are of the kind. A kind without a name has all of its
// target.
func (s Spec) is(key Key) bool { return s.Target == key.Target && (s.Name == key.Name || s.Name == "") }

// Specs are all kinds that there are, in the order in which they are documented.
type Specs []Spec

// Find returns where the kind of that key stands, -1 if there is none.
func (s Specs) Find(key Key) int {
	return slices.IndexFunc(s, func(one Spec) bool { return one.is(key) })
}
