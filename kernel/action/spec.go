package action

import (
	"slices"

	"github.com/chewxy/sexp"

	"org-agent/kernel/protocol"
)

// FieldKind is the kind of a field's value.
type FieldKind int

const (
	Text       FieldKind = iota // a string, not blank
	AnyText                     // a string, possibly empty
	Name                        // a string or a keyword
	Integer                     // an integer, 1 or more
	Plist                       // a plist, possibly empty
	Properties                  // a plist, or a list of lists of two strings
	List                        // a list of plists
	Tool                        // a string or a keyword: the tool that is called
	Calls                       // a list of plists, each of which is a call of a tool
)

// String describes the expected value in words for a model.
func (k FieldKind) String() string {
	return [...]string{"a string that is not blank", "a string", "a string", "a positive integer", "a plist", "a plist", "a list of plists", "a string", "a list of plists"}[k]
}

// Field is one field of an action's payload.
type Field struct {
	Name     string
	Kind     FieldKind
	Required bool
	Limit    int // characters of a string; 0: none
	// Example is the value that a prompt shows. A field without an example is not shown.
	Example sexp.Sexp
	Fixed   bool // the example is the value
	Chat    bool // the field names the chat on a channel that gets the text
}

// Spec is one kind of action as data: what a proposal must contain, and what a prompt says about
// it. It does not decide about permission.
type Spec struct {
	// Target is the :target of a request, or else the :type.
	Target string
	// Type is the :type of an action that is no request, and "" for a request.
	Type protocol.Type
	// Name is the :action, or "" if the kind has none.
	Name string
	// Does tells the model what the action is for.
	Does   string
	Fields []Field
	// OneOf are fields of which at least one is required. A prompt shows the first.
	OneOf []string
	// Closed is true if a field that the kind does not have is refused.
	Closed bool
	// Tool is the tool that does the same. Where it is offered the kind is not, so that a model is told
	// one way to do a thing. A proposal of the kind is accepted all the same.
	Tool string
	// Off is the reason why every action of the kind is refused, or "". Such a kind is known and
	// not offered.
	Off string
	// Reply is true if the :text is text for a conversation.
	Reply bool
	// Answers is true if the action answers a conversation, including one on a channel without a
	// kind of its own.
	Answers bool
}

// Key returns the key of the kind.
func (s Spec) Key() Key { return Key{s.Target, s.Name} }

// HasField reports whether actions of the kind have a field with this name.
func (s Spec) HasField(name string) bool {
	return slices.ContainsFunc(s.Fields, func(f Field) bool { return f.Name == name })
}

// CallsTools reports whether actions of the kind are calls of tools that they name.
func (s Spec) CallsTools() bool {
	return slices.ContainsFunc(s.Fields, func(f Field) bool { return f.Kind == Tool || f.Kind == Calls })
}

// is reports whether actions with this key are of the kind. A kind without a name covers all
// actions of its target.
func (s Spec) is(key Key) bool { return s.Target == key.Target && (s.Name == key.Name || s.Name == "") }

// Specs are the specs of all kinds, in the order in which they are documented.
type Specs []Spec

// Find returns the index of the spec for this key, or -1 if there is none.
func (s Specs) Find(key Key) int {
	return slices.IndexFunc(s, func(one Spec) bool { return one.is(key) })
}
