// Package action is what an action is: a [Proposed] one in the shape that a model, a skill or a
// person wrote, and an [Action] in the kernel's own view of it. What there can be is data: a
// [Spec] says which fields an action has, and from specs come the check of a proposal, the forms
// of a prompt and the grammar.
//
// Both values are made once, and nothing here changes afterwards: [Propose] makes them from a
// list, [Read] from text of the journal or the wire. Nothing else reads an action from text.
package action

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
)

// Key names a kind of action: the :target of a request and its :action, "" where the target has
// none. What is no request has its type as the target.
type Key struct{ Target, Name string }

// String is the key as people write it: ":emacs :open", ":shell".
func (k Key) String() string {
	if k.Name == "" {
		return ":" + k.Target
	}
	return ":" + k.Target + " :" + k.Name
}

// Action is an action in the kernel's own view: :type, :target and :id on top, every other field
// under :payload, and no field that nobody outside may set. The zero value is no action.
type Action struct {
	top     sexp.List // with the payload
	payload sexp.List
	usable  bool // [Specs.Check] had no objection
}

// nested is the action of a list in the kernel's view.
func nested(top sexp.List) Action {
	payload, _ := plist.Get(top, "payload")
	list, _ := payload.(sexp.List)
	return Action{top: top, payload: list}
}

// Response is a text for the conversation of the turn, in the kernel's own words.
func Response(text string) Action {
	return nested(sexp.List{
		plist.Keyword("type"), plist.Keyword(protocol.TypeResponse),
		plist.Keyword("payload"), sexp.List{plist.Keyword("text"), plist.String(text)},
	})
}

// IsZero reports whether this is no action.
func (a Action) IsZero() bool { return a.top == nil }

// Type is the :type, "" if it is no keyword.
func (a Action) Type() protocol.Type {
	k, _ := plist.KeywordValue(a.top, "type")
	return protocol.Type(k)
}

// Target is the :target in lower case without the colon, "" for what is no request.
func (a Action) Target() string {
	k, _ := plist.KeywordValue(a.top, "target")
	return string(k)
}

// Name is the :action in lower case without the colon; "" where there is none.
func (a Action) Name() string { return a.Word("action") }

// Key names the kind of the action.
func (a Action) Key() Key {
	if kind := a.Type(); kind != protocol.TypeRequest {
		return Key{Target: string(kind)}
	}
	return Key{a.Target(), a.Name()}
}

// ID is the :id: what is acted on, or the name that a model gave the action.
func (a Action) ID() string { return a.Text("id") }

// Field is a field of the payload. The :id may also stand beside it.
func (a Action) Field(key string) (value sexp.Sexp, there bool) {
	if v, ok := plist.Get(a.payload, key); ok || key != "id" {
		return v, ok
	}
	return plist.Get(a.top, key)
}

// Text is a field that is a string, "" for any other.
func (a Action) Text(key string) string {
	v, _ := a.Field(key)
	s, _ := v.(plist.String)
	return string(s)
}

// Word is a field that is a keyword, in lower case without the colon, "" for any other.
func (a Action) Word(key string) string {
	k, _ := plist.KeywordValue(a.payload, key)
	return string(k)
}

// Payload are the fields. The list must not be changed.
func (a Action) Payload() sexp.List { return a.payload }

// WithEntry is the payload with the :id of what is acted on also where that stands beside it.
func (a Action) WithEntry() sexp.List {
	if id := a.ID(); id != "" {
		return plist.Put(a.payload, "id", plist.String(id))
	}
	return a.payload
}

// Object is [Action.WithEntry] for the wire.
func (a Action) Object() (o protocol.Object, err error) {
	err = plist.Unmarshal(a.WithEntry(), &o)
	return o, err
}

// With is the action with one field of its payload replaced.
func (a Action) With(key string, value sexp.Sexp) Action {
	return a.WithPayload(plist.Put(a.payload, key, value))
}

// WithPayload is the action with another payload.
func (a Action) WithPayload(payload sexp.List) Action {
	return Action{top: plist.Put(a.top, "payload", payload), payload: payload}
}

// WithoutID is the action without the :id beside its payload.
func (a Action) WithoutID() Action {
	return Action{top: plist.Without(a.top, "id"), payload: a.payload}
}

// Canonical is the action as one line, for the journal and for people; "nil" for none.
func (a Action) Canonical() string { return plist.Print(a.top) }

// List is the action in the kernel's view. The list must not be changed.
func (a Action) List() sexp.List { return a.top }

// Hash identifies an action for approvals: SHA-256, in hex, of its canonical form, whatever the
// order of its fields.
func (a Action) Hash() string {
	sum := sha256.Sum256([]byte(plist.Print(sorted(plist.Put(a.top, "payload", sorted(a.payload))))))
	return hex.EncodeToString(sum[:])
}

// sorted is a plist with its fields in the order of their keys.
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

// Call is the call of a tool that stands in an action.
type Call struct {
	Tool string
	// Args are the arguments as they were written, nil where none were.
	Args sexp.Sexp
}

// CallOf is the call whose fields these are. The tool is "" where they name none.
func CallOf(fields sexp.List) Call {
	value, _ := plist.Get(fields, "tool")
	args, _ := plist.Get(fields, "args")
	c := Call{Args: args}
	switch v := value.(type) {
	case plist.String:
		c.Tool = strings.TrimSpace(string(v))
	case plist.Keyword:
		c.Tool = string(v)
	}
	return c
}

// Calls are the calls that stand in the action: those of a batch, or the one; none in any other.
func (a Action) Calls() []Call {
	if value, batch := a.Field("calls"); batch {
		items, _ := value.(sexp.List)
		var calls []Call
		for _, item := range items {
			if fields, ok := item.(sexp.List); ok {
				calls = append(calls, CallOf(fields))
			}
		}
		return calls
	}
	if c := CallOf(a.payload); c.Tool != "" {
		return []Call{c}
	}
	return nil
}

// Arguments are the arguments for the wire.
func (c Call) Arguments() (protocol.Object, error) {
	var arguments protocol.Object
	if plist.IsNil(c.Args) {
		return nil, nil
	}
	if err := plist.Unmarshal(c.Args, &arguments); err != nil {
		return nil, fmt.Errorf("the :args of %s are no property list: %w", c.Tool, err)
	}
	return arguments, nil
}

// Line is the call on a line: the tool, and its arguments if it has any.
func (c Call) Line() string {
	if c.Args == nil {
		return c.Tool
	}
	return c.Tool + " " + plist.Print(c.Args)
}

// Line is the action on a line for people: the tool that it calls with its arguments, or all of
// it.
func (a Action) Line() string {
	if _, batch := a.Field("calls"); !batch {
		if c := CallOf(a.payload); c.Tool != "" {
			return c.Line()
		}
	}
	return a.Canonical()
}
