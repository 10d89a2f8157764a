// Package action defines actions. A [Proposed] action has the shape in which a model, a skill or a
// person wrote it. An [Action] has the kernel's own shape. The possible actions are data: a [Spec]
// says which fields an action has, and the specs determine how a proposal is checked, which forms a
// prompt shows, and the grammar.
//
// Both values are immutable. [Propose] makes them from a list, and [Read] from text of the journal
// or the wire. No other package parses an action from text.
package action

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
)

// Key names a kind of action by the :target of a request and its :action. The Name is "" if the
// target has none. For an action that is no request the Target is its type.
type Key struct{ Target, Name string }

// String returns the key as people write it: ":emacs :open", ":shell".
func (k Key) String() string {
	if k.Name == "" {
		return ":" + k.Target
	}
	return ":" + k.Target + " :" + k.Name
}

// Action is an action in the kernel's shape: :type, :target and :id on top, and every other field
// under :payload. It has no field that only the kernel may set. The zero value is no action.
type Action struct {
	top     sexp.List // includes the payload
	payload sexp.List
	usable  bool // [Specs.Check] found it usable
}

// nested makes the action of a list in the kernel's shape.
func nested(top sexp.List) Action {
	payload, _ := plist.Get(top, "payload")
	list, _ := payload.(sexp.List)
	return Action{top: top, payload: list}
}

// Response returns an action that puts a text of the kernel into the conversation of the turn.
func Response(text string) Action {
	return nested(sexp.List{
		plist.Keyword("type"), plist.Keyword(protocol.TypeResponse),
		plist.Keyword("payload"), sexp.List{plist.Keyword("text"), plist.String(text)},
	})
}

// IsZero reports whether this is no action.
func (a Action) IsZero() bool { return a.top == nil }

// Type returns the :type, or "" if it is no keyword.
func (a Action) Type() protocol.Type {
	k, _ := plist.KeywordValue(a.top, "type")
	return protocol.Type(k)
}

// Target returns the :target in lower case without the colon, or "" if the action is no request.
func (a Action) Target() string {
	k, _ := plist.KeywordValue(a.top, "target")
	return string(k)
}

// Name returns the :action in lower case without the colon, or "" if there is none.
func (a Action) Name() string { return a.word("action") }

// Key returns the key of the action's kind.
func (a Action) Key() Key {
	if kind := a.Type(); kind != protocol.TypeRequest {
		return Key{Target: string(kind)}
	}
	return Key{a.Target(), a.Name()}
}

// ID returns the :id: the object of the action, or a label by the model.
func (a Action) ID() string { return a.Text("id") }

// Field returns a field of the payload. The :id may also stand beside the payload.
func (a Action) Field(key string) (value sexp.Sexp, there bool) {
	if v, ok := plist.Get(a.payload, key); ok || key != "id" {
		return v, ok
	}
	return plist.Get(a.top, key)
}

// Text returns a string field, or "" for a field of any other kind.
func (a Action) Text(key string) string {
	v, _ := a.Field(key)
	s, _ := v.(plist.String)
	return string(s)
}

// word returns a keyword field in lower case without the colon, or "" for a field of any other
// kind.
func (a Action) word(key string) string {
	k, _ := plist.KeywordValue(a.payload, key)
	return string(k)
}

// Payload returns the fields. The caller must not change the list.
func (a Action) Payload() sexp.List { return a.payload }

// WithEntry returns the payload including the :id, also if the :id stands beside the payload.
func (a Action) WithEntry() sexp.List {
	if id := a.ID(); id != "" {
		return plist.Put(a.payload, "id", plist.String(id))
	}
	return a.payload
}

// Object returns [Action.WithEntry] for the wire.
func (a Action) Object() (o protocol.Object, err error) {
	err = plist.Unmarshal(a.WithEntry(), &o)
	return o, err
}

// With returns the action with one field of its payload replaced.
func (a Action) With(key string, value sexp.Sexp) Action {
	return a.WithPayload(plist.Put(a.payload, key, value))
}

// WithPayload returns the action with another payload.
func (a Action) WithPayload(payload sexp.List) Action {
	return Action{top: plist.Put(a.top, "payload", payload), payload: payload}
}

// WithoutID returns the action without the :id beside its payload.
func (a Action) WithoutID() Action {
	return Action{top: plist.Without(a.top, "id"), payload: a.payload}
}

// Canonical returns the action on one line, for the journal and for people. The zero Action is
// "nil".
func (a Action) Canonical() string { return plist.Print(a.top) }

// List returns the action in the kernel's shape. The caller must not change the list.
func (a Action) List() sexp.List { return a.top }

// Hash identifies an action for approvals. It is the SHA-256, in hex, of the canonical form with
// its fields sorted, so their order does not matter.
func (a Action) Hash() string {
	sum := sha256.Sum256([]byte(plist.Print(sorted(plist.Put(a.top, "payload", sorted(a.payload))))))
	return hex.EncodeToString(sum[:])
}

// sorted returns a plist with its fields in the order of their keys.
func sorted(list sexp.List) sexp.List {
	type field struct {
		key   string
		value sexp.Sexp
	}
	var fields []field
	for i := 0; i+1 < len(list); i += 2 {
		fields = append(fields, field{plist.Print(list[i]), list[i+1]})
	}
	slices.SortFunc(fields, func(a, b field) int { return strings.Compare(a.key, b.key) })
	out := make(sexp.List, 0, len(list))
	for _, f := range fields {
		out = append(out, plist.Keyword(f.key[1:]), f.value)
	}
	return out
}

// textField is the field with the text of an action.
const textField = "text"

// Line returns the action on one line for people: the tool that it calls with its arguments, or the
// whole action.
func (a Action) Line() string {
	if _, batch := a.Field("calls"); !batch {
		if c := CallOf(a.payload); c.Tool != "" {
			return c.Line()
		}
	}
	return a.Canonical()
}
