package dialect

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"org-agent/kernel/llm"
	"org-agent/kernel/protocol"
)

// The schema of replies keeps to what servers take that hold a model to it strictly: every object has
// additionalProperties false and requires all its properties, one that may be left out is null instead, and there
// are no alternatives at the top. A value that cannot be described so is a string with its JSON in it.

// What is beyond these limits is such a string. depthLimit is how deep arguments are described; OpenAI takes 10 levels
// in all, of which the reply has five. wordsLimit is how many words an argument may be one of.
const (
	depthLimit = 4
	wordsLimit = 200
)

// propertyName is what Anthropic takes for the name of a property.
var propertyName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// argument is an argument of a function, or a property of one.
type argument struct {
	name, about string
	shape       shape
	required    bool
}

// shape is what is known of a value. One without a kind may be anything.
type shape struct {
	kind   string // string, integer, number, boolean, array, object, or ""
	enum   []any
	fields []argument // of an object
	item   *shape     // of an array
}

// argumentsOf returns the arguments of a function; none if they are not known.
func argumentsOf(t llm.Tool) []argument { return shapeOf(t).fields }

// shapeOf returns the shape of a function's arguments.
func shapeOf(t llm.Tool) shape {
	if t.Schema == nil {
		return shape{}
	}
	schema, err := json.Marshal(t.Schema())
	if err != nil {
		return shape{}
	}
	return read(schema, 0)
}

// read returns the shape that a schema describes.
func read(schema json.RawMessage, depth int) shape {
	var has struct {
		Properties          json.RawMessage
		Required            []string
		Items               json.RawMessage
		Enum                []any
		Type, Const         json.RawMessage
		Additional          json.RawMessage `json:"additionalProperties"`
		AnyOf, OneOf, AllOf json.RawMessage
		Reference           json.RawMessage `json:"$ref"`
	}
	if depth > depthLimit || json.Unmarshal(schema, &has) != nil || len(has.AnyOf)+len(has.OneOf)+len(has.AllOf)+len(has.Reference)+len(has.Const) > 0 {
		return shape{}
	}
	s := shape{kind: kindOf(has.Type)}
	switch {
	case len(has.Enum) > wordsLimit || slices.ContainsFunc(has.Enum, func(w any) bool { _, is := w.(string); return !is }):
		return shape{}
	case s.kind == "string":
		s.enum = has.Enum
	case s.kind == "array":
		item := read(has.Items, depth+1)
		s.item = &item
	case s.kind == "object":
		for _, p := range fields(has.Properties) {
			if !propertyName.MatchString(p.name) {
				return shape{}
			}
			var about struct{ Description string }
			_ = json.Unmarshal(p.value, &about) // one without a description says nothing
			s.fields = append(s.fields, argument{p.name, about.Description, read(p.value, depth+1), slices.Contains(has.Required, p.name)})
		}
		if len(s.fields) == 0 && string(has.Additional) != "false" { // it says nothing of what it has
			return shape{}
		}
	}
	return s
}

// kindOf returns the type that a schema says, the first one of several that is not null; "" if there is none.
func kindOf(said json.RawMessage) string {
	var types []string
	if json.Unmarshal(said, &types) != nil {
		types = []string{""}
		_ = json.Unmarshal(said, &types[0]) // what is no text is no type
	}
	for _, kind := range types {
		switch kind {
		case "string", "integer", "number", "boolean", "array", "object":
			return kind
		}
	}
	return ""
}

// field is a field of a JSON object.
type field struct {
	name  string
	value json.RawMessage
}

// fields returns the fields of a JSON object in their order; none if it is no object.
func fields(object json.RawMessage) (all []field) {
	decoder := json.NewDecoder(bytes.NewReader(object))
	if begin, err := decoder.Token(); err != nil || begin != json.Delim('{') {
		return nil
	}
	for decoder.More() {
		key, err := decoder.Token()
		name, is := key.(string)
		f := field{name: name}
		if err != nil || !is || decoder.Decode(&f.value) != nil {
			return nil
		}
		all = append(all, f)
	}
	return all
}

// words says what an argument is, for a model.
func (a argument) words() string {
	said := a.shape.words()
	if !a.required {
		said += " or null"
	}
	return said
}

func (s shape) words() string {
	switch {
	case len(s.enum) > 0:
		var all []string
		for _, word := range s.enum {
			all = append(all, fmt.Sprint(word))
		}
		return strings.Join(all, ", ")
	case s.kind == "array":
		return "list of " + s.item.words()
	case s.kind == "object":
		var all []string
		for _, f := range s.fields {
			all = append(all, f.name+" "+f.words())
		}
		return "object of " + strings.Join(all, ", ")
	case s.kind == "":
		return "string with JSON"
	}
	return s.kind
}

// unions returns how many values of the shape can also be null.
func (s shape) unions() (count int) {
	for _, f := range s.fields {
		if count += f.shape.unions(); !f.required {
			count++
		}
	}
	if s.item != nil {
		count += s.item.unions()
	}
	return count
}

// schema returns the strict schema of the shape.
func (s shape) schema() protocol.Object {
	switch {
	case s.kind == "":
		return protocol.Object{{Key: "type", Value: "string"}}
	case len(s.enum) > 0:
		return protocol.Object{{Key: "type", Value: "string"}, {Key: "enum", Value: s.enum}}
	case s.kind == "array":
		return protocol.Object{{Key: "type", Value: "array"}, {Key: "items", Value: s.item.schema()}}
	case s.kind == "object":
		properties := protocol.Object{}
		for _, f := range s.fields {
			value := f.shape.schema()
			if !f.required {
				value = protocol.Object{{Key: "anyOf", Value: []any{value, protocol.Object{{Key: "type", Value: "null"}}}}}
			}
			properties = append(properties, protocol.Field{Key: f.name, Value: value})
		}
		return strict(properties)
	}
	return protocol.Object{{Key: "type", Value: s.kind}}
}

// strict returns the schema of an object that has exactly these properties.
func strict(properties protocol.Object) protocol.Object {
	required := make([]any, 0, len(properties))
	for _, p := range properties {
		required = append(required, p.Key)
	}
	return protocol.Object{
		{Key: "type", Value: "object"}, {Key: "properties", Value: properties}, {Key: "required", Value: required}, {Key: "additionalProperties", Value: false},
	}
}

// replySchema returns the schema of a reply that may call the functions. At most that many values may be of two
// types, which servers bound; a negative number is no bound. The arguments of functions for which there is no room
// left are a string with their JSON. Those that need least have room first.
func replySchema(tools []llm.Tool, unions int) json.RawMessage {
	shapes, order := make([]shape, len(tools)), make([]int, len(tools))
	for i, t := range tools {
		shapes[i], order[i] = shapeOf(t), i
	}
	if unions >= 0 {
		left := unions - 1 // without the alternatives of calls
		slices.SortStableFunc(order, func(i, j int) int { return shapes[i].unions() - shapes[j].unions() })
		for _, i := range order {
			if left -= shapes[i].unions(); left < 0 && shapes[i].unions() > 0 {
				shapes[i] = shape{}
			}
		}
	}
	alternatives := make([]any, len(tools))
	for i, t := range tools {
		alternatives[i] = strict(protocol.Object{{Key: llm.FunctionName(t.Name), Value: shapes[i].schema()}})
	}
	schema, err := json.Marshal(strict(protocol.Object{
		{Key: "text", Value: protocol.Object{{Key: "type", Value: "string"}}},
		{Key: "calls", Value: protocol.Object{{Key: "type", Value: "array"}, {Key: "items", Value: protocol.Object{{Key: "anyOf", Value: alternatives}}}}},
	}))
	if err != nil { // it is of texts, lists and objects alone
		return nil
	}
	return schema
}

// loosened returns a value as the function wants it, without what is null because it is left out, and with the value
// that a string describes where it may be anything. A value that is not as its shape says stays as it is.
func (s shape) loosened(value json.RawMessage) json.RawMessage {
	value = bytes.TrimSpace(value)
	switch {
	case len(value) == 0:
	case value[0] == '"' && (s.kind == "" || s.kind == "object"):
		var described string
		if json.Unmarshal(value, &described) != nil || !json.Valid([]byte(described)) || s.kind == "object" && !strings.HasPrefix(strings.TrimSpace(described), "{") {
			return value
		}
		if s.kind == "" {
			return json.RawMessage(described)
		}
		return s.loosened(json.RawMessage(described))
	case value[0] == '[' && s.item != nil:
		var all []json.RawMessage
		if json.Unmarshal(value, &all) != nil {
			return value
		}
		for i := range all {
			all[i] = s.item.loosened(all[i])
		}
		return joined('[', all, ']')
	case value[0] == '{' && s.kind == "object":
		var all []json.RawMessage
		for _, f := range fields(value) {
			i := slices.IndexFunc(s.fields, func(a argument) bool { return a.name == f.name })
			if i >= 0 && string(f.value) == "null" && !s.fields[i].required {
				continue
			}
			if i >= 0 {
				f.value = s.fields[i].shape.loosened(f.value)
			}
			all = append(all, json.RawMessage(quoted(f.name)+":"+string(f.value)))
		}
		return joined('{', all, '}')
	}
	return value
}

// joined returns the items between brackets.
func joined(begin byte, items []json.RawMessage, end byte) json.RawMessage {
	all := []byte{begin}
	for i, item := range items {
		if i > 0 {
			all = append(all, ',')
		}
		all = append(all, item...)
	}
	return append(all, end)
}
