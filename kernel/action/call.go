package action

import (
	"fmt"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
)

// The names of the fields of a call.
const (
	toolField   = "tool"
	argsField   = "args"
	digestField = "digest"
)

// Call is a call of a tool within an action. It is immutable.
type Call struct {
	Tool string
	// Args are the arguments as they were written, or nil if there are none.
	Args sexp.Sexp

	fields sexp.List // all fields that were written; nil for a call that was made here
}

// CallOf returns the call with these fields. Its Tool is "" if the fields name no tool.
func CallOf(fields sexp.List) Call {
	value, _ := plist.Get(fields, toolField)
	args, _ := plist.Get(fields, argsField)
	c := Call{Args: args, fields: fields}
	switch v := value.(type) {
	case plist.String:
		c.Tool = strings.TrimSpace(string(v))
	case plist.Keyword:
		c.Tool = string(v)
	}
	return c
}

// Calls returns the calls within the action: all calls of a batch, the one call of an action that is
// a call, or none.
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

// AsCall returns the call of a tool that would do the same as the action, with its fields as
// arguments.
func (a Action) AsCall(tool string) Call {
	return Call{Tool: tool, Args: plist.Without(a.WithEntry(), "action")}
}

// Arguments returns the arguments as they are on the wire, or nil if there are none.
func (c Call) Arguments() (protocol.Object, error) {
	var arguments protocol.Arguments
	if plist.IsNil(c.Args) {
		return nil, nil
	}
	if err := plist.Unmarshal(c.Args, &arguments); err != nil {
		return nil, protocol.ToolErrorf(protocol.ToolArguments, "the :args of %s are no property list: %w", c.Tool, err)
	}
	return protocol.Object(arguments), nil
}

// WithTool returns the call as a call of the tool with this name.
func (c Call) WithTool(tool string) Call {
	c.Tool, c.fields = tool, plist.Put(c.fields, toolField, plist.String(tool))
	return c
}

// WithArguments returns the call with other arguments.
func (c Call) WithArguments(arguments protocol.Object) (Call, error) {
	written, err := plist.Marshal(protocol.Arguments(arguments))
	if err != nil {
		return c, fmt.Errorf("write the :args of %s: %w", c.Tool, err)
	}
	c.Args, c.fields = written, plist.Put(c.fields, argsField, written)
	return c, nil
}

// WithDigest returns the call with the digest of the description of its tool.
func (c Call) WithDigest(digest string) Call {
	c.fields = plist.Put(c.fields, digestField, plist.String(digest))
	return c
}

// Digest returns what [Call.WithDigest] set, or "".
func (c Call) Digest() string {
	value, _ := plist.Get(c.fields, digestField)
	digest, _ := value.(plist.String)
	return string(digest)
}

// CheckArguments returns an error if a call has no :args but has its arguments in another place. A model
// that reads this error corrects the call; a model that only reads what is missing repeats it.
func (c Call) CheckArguments() error {
	if _, there := plist.Get(c.fields, argsField); there {
		return nil
	}
	for i := 0; i+1 < len(c.fields); i += 2 {
		switch key, _ := c.fields[i].(plist.Keyword); strings.ToLower(string(key)) {
		case "", "action", toolField, digestField, "id":
		case "arguments", "parameters", "params", "input":
			return protocol.ToolErrorf(protocol.ToolArguments, "a call has its arguments in :args, as in (:tool %q :args (:NAME VALUE)); here is %s beside it", c.Tool, key)
		default:
			return protocol.ToolErrorf(protocol.ToolArguments, "a call has its arguments in :args, as in (:tool %q :args (%[2]s …)); here is %[2]s beside it", c.Tool, key)
		}
	}
	return nil
}

// Fields returns all fields of the call. The caller must not change the list.
func (c Call) Fields() sexp.List { return c.fields }

// Line returns the call on one line: the tool, and its arguments if it has any.
func (c Call) Line() string {
	if c.Args == nil {
		return c.Tool
	}
	return c.Tool + " " + plist.Print(c.Args)
}
