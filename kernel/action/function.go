package action

import (
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
)

// Replies reports whether an action of the form is text for a conversation. Models that call functions
// write such a text as their reply, and not as a call.
func (f Form) Replies() bool { return f.own || f.spec.Reply || f.spec.Answers }

// FunctionName returns the name of the form as a function: its target and its name.
func (f Form) FunctionName() string {
	parts := []string{f.spec.Target}
	if f.spec.Type != "" {
		parts[0] = string(f.spec.Type)
	}
	if f.spec.Name != "" {
		parts = append(parts, f.spec.Name)
	}
	return strings.ToLower(strings.Join(parts, "_"))
}

// Schema returns a JSON Schema of the fields that a proposal of the form may have.
func (f Form) Schema() protocol.Object {
	properties := protocol.Object{}
	var required []any
	for _, field := range f.spec.Fields {
		if field.Example == nil || f.fixed[field.Name] != "" {
			continue
		}
		properties.Set(field.Name, field.schema())
		if field.Required {
			required = append(required, field.Name)
		}
	}
	schema := protocol.Object{{Key: "type", Value: "object"}, {Key: "properties", Value: properties}}
	if len(required) > 0 {
		schema.Set("required", required)
	}
	return schema
}

// schema returns a JSON Schema of the values of the field. Its example says what belongs there.
func (f Field) schema() protocol.Object {
	kind := "string"
	switch f.Kind {
	case Integer:
		kind = "integer"
	case Plist, Properties:
		kind = "object"
	case List, Calls:
		kind = "array"
	}
	schema := protocol.Object{{Key: "type", Value: kind}}
	if kind == "array" {
		schema.Set("items", protocol.Object{{Key: "type", Value: "object"}})
	}
	if text, ok := f.Example.(plist.String); ok {
		schema.Set("description", strings.Trim(string(text), "<>"))
	}
	return schema
}

// Propose returns the proposal of the form with these fields. Fields that the form fixes have their fixed
// value. Others are kept as they are: what is checked later says what is wrong with them.
func (f Form) Propose(fields protocol.Object) (Proposed, error) {
	list := f.spec.begin()
	for _, field := range f.spec.Fields {
		if f.fixed[field.Name] != "" {
			list = append(list, plist.Keyword(field.Name), f.fixedValue(field.Name))
			fields.Remove(field.Name)
		}
	}
	for _, field := range fields {
		value, err := plist.Marshal(field.Value)
		if err != nil {
			return Proposed{}, protocol.ToolErrorf(protocol.ToolArguments, "the argument %s: %w", field.Key, err)
		}
		list = append(list, plist.Keyword(field.Key), value)
	}
	return Propose(list), nil
}

// fixedValue returns the value of a field that the form fixes.
func (f Form) fixedValue(name string) sexp.Sexp {
	value, _ := plist.Get(f.list, name)
	return value
}

// ProposeCalls returns the action that makes several calls of tools. It is empty if no kind does.
func (s Specs) ProposeCalls(calls []Call) Proposed {
	for _, spec := range s {
		for _, field := range spec.Fields {
			if field.Kind != Calls {
				continue
			}
			list := make(sexp.List, len(calls))
			for i, c := range calls {
				one := sexp.List{plist.Keyword(toolField), plist.String(c.Tool)}
				if !plist.IsNil(c.Args) {
					one = append(one, plist.Keyword(argsField), c.Args)
				}
				list[i] = one
			}
			return Propose(append(spec.begin(), plist.Keyword(field.Name), list))
		}
	}
	return Proposed{}
}
