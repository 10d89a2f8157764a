package mcp

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"org-agent/kernel/protocol"
	"org-agent/kernel/suggest"
	"org-agent/kernel/text"
	"org-agent/kernel/tool"
)

// A server's schema may contain itself, several times over. These limits bound how deep it is
// followed, and how many alternatives are tried.
const (
	schemaDepth = 16
	schemaParts = 3_000
)

// schema is a JSON Schema from a server. Before a call its types, properties, enums and bounds are
// checked; the server checks the rest.
type schema struct {
	root map[string]any // what references in it refer to
	of   map[string]any
	left *int // how many parts may still be visited
}

// newSchema returns a schema for one use: it has a fresh limit of visits.
func newSchema(root map[string]any) schema {
	left := schemaParts
	return schema{root, root, &left}
}

// at returns a part of the schema, which shares the limit.
func (s schema) at(part any) schema {
	of, _ := part.(map[string]any)
	return schema{s.root, of, s.left}
}

// visit counts a visited part. It returns false when the limit is reached.
func (s schema) visit() bool {
	*s.left--
	return *s.left > 0
}

// read converts a call's arguments to what the server expects: its own names for them, and values
// of its types. The error says what to write instead.
func (s schema) read(arguments protocol.Object) (map[string]any, error) {
	value, err := s.object(arguments, "", 0)
	if err != nil {
		return nil, err
	}
	return value, nil
}

// value converts one value to the schema's type. name is the argument's name for errors.
func (s schema) value(v any, name string, depth int) (any, error) {
	if depth > schemaDepth {
		return nil, fmt.Errorf("the argument %s is nested deeper than %d levels", name, schemaDepth)
	}
	s = s.resolved()
	if choices := s.choices(); choices != nil {
		var first error
		for _, choice := range choices {
			if !s.visit() {
				return nil, fmt.Errorf("the type of the argument %s takes more than %d steps to find: the server's schema refers to itself", name, schemaParts)
			}
			made, err := choice.value(v, name, depth+1)
			if err == nil {
				return made, nil
			}
			if first == nil {
				first = err
			}
		}
		return nil, first
	}
	made, err := s.typed(v, name, depth)
	if err != nil {
		return nil, err
	}
	return s.bounded(made, name)
}

// resolved follows a reference of the schema.
func (s schema) resolved() schema {
	for range schemaDepth {
		reference, _ := s.of["$ref"].(string)
		path, local := strings.CutPrefix(reference, "#")
		if !local {
			return s
		}
		var at any = s.root
		for part := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
			if part != "" {
				object, _ := at.(map[string]any)
				at = object[strings.NewReplacer("~1", "/", "~0", "~").Replace(part)]
			}
		}
		s = s.at(at)
	}
	return schema{s.root, nil, s.left} // the target does not exist: allow anything
}

// choices returns the alternatives of the schema; nil if it has none.
func (s schema) choices() []schema {
	for _, key := range [...]string{"anyOf", "oneOf"} {
		if all, ok := s.of[key].([]any); ok && len(all) > 0 {
			var choices []schema
			for _, one := range all[:min(len(all), 32)] {
				choices = append(choices, s.at(one))
			}
			return choices
		}
	}
	types, _ := s.of["type"].([]any)
	var choices []schema
	for _, one := range types {
		choice := maps.Clone(s.of)
		choice["type"] = one
		choices = append(choices, schema{s.root, choice, s.left})
	}
	return choices
}

// typed converts a value to the schema's type.
func (s schema) typed(v any, name string, depth int) (any, error) {
	is := func(what string) error { return fmt.Errorf("the argument %s is %s", name, what) }
	kind, _ := s.of["type"].(string)
	if kind == "" && s.of["properties"] != nil {
		kind = "object"
	}
	switch kind {
	case "string":
		switch v := v.(type) {
		case string:
			return v, nil
		case protocol.Keyword:
			return string(v), nil
		}
		return nil, is("a string")
	case "integer", "number":
		switch n := v.(type) {
		case int64:
			return n, nil
		case float64:
			if kind == "number" || n == float64(int64(n)) {
				return n, nil
			}
		}
		return nil, is(map[string]string{"integer": "an integer", "number": "a number"}[kind])
	case "boolean":
		if v == nil {
			return false, nil
		}
		if b, ok := v.(bool); ok {
			return b, nil
		}
		return nil, is("t or nil")
	case "null":
		if v == nil {
			return nil, nil
		}
		return nil, is("nil")
	case "array":
		return s.list(v, name, depth)
	case "object":
		return s.object(v, name, depth)
	}
	return toJSON(v), nil
}

// list converts a value to a list. A single value becomes a list of one.
func (s schema) list(v any, name string, depth int) (any, error) {
	items, several := v.([]any)
	if !several && v != nil {
		items = []any{v}
	}
	all := make([]any, len(items))
	for i, item := range items {
		made, err := s.at(s.of["items"]).value(item, fmt.Sprintf("%s, number %d of it,", name, i+1), depth+1)
		if err != nil {
			return nil, err
		}
		all[i] = made
	}
	return all, nil
}

// object converts a plist to an object with the server's own names. Where the names are free it
// takes a list of pairs, because the keys of a plist have no case.
func (s schema) object(v any, name string, depth int) (map[string]any, error) {
	made := map[string]any{}
	properties, _ := s.of["properties"].(map[string]any)
	fields, pairs, err := fieldsOf(v, name)
	if err != nil {
		return nil, err
	}
	given := map[string]string{}
	for _, field := range fields {
		key, err := s.key(properties, field.Key, pairs)
		if err != nil {
			return nil, err
		}
		if other, twice := given[key]; twice {
			return nil, fmt.Errorf("the arguments :%s and :%s are the same one", other, field.Key)
		}
		given[key] = field.Key
		part := s.at(properties[key])
		if properties[key] == nil {
			part = s.at(s.of["additionalProperties"])
		}
		if field.Value == nil && !part.takesNil() {
			continue // treated as missing
		}
		if made[key], err = part.value(field.Value, ":"+field.Key, depth+1); err != nil {
			return nil, err
		}
	}
	return made, s.complete(made, properties, name)
}

// fieldsOf returns the fields of a plist, or of a list of pairs.
func fieldsOf(v any, name string) (fields protocol.Object, pairs bool, err error) {
	switch v := v.(type) {
	case nil:
		return nil, false, nil
	case protocol.Object:
		return v, false, nil
	case []any:
		for _, item := range v {
			pair, _ := item.([]any)
			key, ok := any(nil), false
			if len(pair) == 2 {
				key = toJSON(pair[0])
			}
			text, ok := key.(string)
			if !ok {
				return nil, false, fmt.Errorf("the argument %s is a plist, or a list of pairs as ((\"NAME\" value) …)", name)
			}
			fields = append(fields, protocol.Field{Key: text, Value: pair[1]})
		}
		return fields, true, nil
	}
	return nil, false, fmt.Errorf("the argument %s is a plist", name)
}

// key returns the server's name of a property.
func (s schema) key(properties map[string]any, written string, exact bool) (string, error) {
	if _, ok := properties[written]; ok {
		return written, nil
	}
	var same, names []string
	for property := range properties {
		names = append(names, tool.Hyphenated(property))
		if tool.Spelled(property) == tool.Spelled(written) {
			same = append(same, property)
		}
	}
	switch {
	case len(same) == 1:
		return same[0], nil
	case len(same) > 1:
		slices.Sort(same)
		return "", fmt.Errorf(":%s could be each of these arguments of the tool: %s", written, strings.Join(same, " and "))
	case s.allowsMore() || exact && len(properties) == 0:
		return written, nil
	}
	slices.Sort(names)
	return "", fmt.Errorf("there is no argument :%s%s", written, suggest.Question(suggest.Of(written, names), ":%s"))
}

// allowsMore reports whether the schema allows further properties.
func (s schema) allowsMore() bool {
	switch more := s.of["additionalProperties"].(type) {
	case bool:
		return more
	case map[string]any:
		return true
	}
	return s.of["properties"] == nil && s.of["type"] == nil
}

// takesNil reports whether nil is a value of the schema rather than a missing value.
func (s schema) takesNil() bool {
	s = s.resolved()
	switch kind, _ := s.of["type"].(string); kind {
	case "boolean", "array", "null", "object":
		return true
	}
	return slices.ContainsFunc(s.choices(), func(choice schema) bool {
		kind, _ := choice.of["type"].(string)
		return kind == "null" || kind == "boolean"
	})
}

// complete returns an error for a missing property.
func (s schema) complete(made, properties map[string]any, name string) error {
	required, _ := s.of["required"].([]any)
	for _, r := range required {
		key, _ := r.(string)
		if _, there := made[key]; there || key == "" {
			continue
		}
		part := s.at(properties[key]).resolved()
		if kind, _ := part.of["type"].(string); kind == "boolean" || kind == "array" {
			if nothing, err := part.value(nil, ":"+key, 0); err == nil { // for this property nil and missing are the same
				made[key] = nothing
				continue
			}
		}
		description, _ := part.of["description"].(string)
		if description = text.PlainLine(description, 200); description != "" {
			description = ": " + description
		}
		if name != "" {
			name = " of " + name
		}
		return fmt.Errorf("the argument :%s%s is missing%s", tool.Hyphenated(key), name, description)
	}
	return nil
}

// bounded checks enums and bounds.
func (s schema) bounded(v any, name string) (any, error) {
	if words, ok := s.of["enum"].([]any); ok {
		return allowedValue(words, v, name)
	}
	if only, there := s.of["const"]; there {
		return allowedValue([]any{only}, v, name)
	}
	limit := func(key string, wrong func(bound float64) bool, format string) error {
		bound, ok := s.of[key].(float64)
		if ok && wrong(bound) {
			return fmt.Errorf("the argument %s "+format, name, bound)
		}
		return nil
	}
	size, number := -1.0, 0.0
	switch v := v.(type) {
	case string:
		size = float64(len([]rune(v)))
		return v, errors.Join(limit("minLength", func(b float64) bool { return size < b }, "has at least %g characters"),
			limit("maxLength", func(b float64) bool { return size > b }, "has at most %g characters"))
	case []any:
		size = float64(len(v))
		return v, errors.Join(limit("minItems", func(b float64) bool { return size < b }, "has at least %g elements"),
			limit("maxItems", func(b float64) bool { return size > b }, "has at most %g elements"))
	case int64:
		number = float64(v)
	case float64:
		number = v
	default:
		return v, nil
	}
	return v, errors.Join(limit("minimum", func(b float64) bool { return number < b }, "is at least %g"),
		limit("maximum", func(b float64) bool { return number > b }, "is at most %g"),
		limit("exclusiveMinimum", func(b float64) bool { return number <= b }, "is more than %g"),
		limit("exclusiveMaximum", func(b float64) bool { return number >= b }, "is less than %g"))
}

// allowedValue returns the allowed value that v means.
func allowedValue(values []any, v any, name string) (any, error) {
	var names []string
	for _, value := range values {
		if text, ok := value.(string); ok {
			names = append(names, text)
			if given, ok := v.(string); ok && strings.EqualFold(given, text) {
				return text, nil
			}
		} else if fmt.Sprint(value) == fmt.Sprint(v) {
			return value, nil
		} else {
			names = append(names, fmt.Sprint(value))
		}
	}
	const most = 20
	value := fmt.Sprint(v)
	return nil, fmt.Errorf("the argument %s is one of %q, not %q%s", name, names[:min(len(names), most)], value, suggest.Question(suggest.Of(value, names), "%q"))
}

// toJSON converts a value of the wire to JSON.
func toJSON(v any) any {
	switch v := v.(type) {
	case protocol.Keyword:
		return string(v)
	case []any:
		all := make([]any, len(v))
		for i, item := range v {
			all[i] = toJSON(item)
		}
		return all
	case protocol.Object:
		object := map[string]any{}
		for _, field := range v {
			object[field.Key] = toJSON(field.Value)
		}
		return object
	}
	return v
}
