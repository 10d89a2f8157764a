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

// A server's schema may contain itself, several times over: it is followed so deep, and so many
// of its parts are looked at, of those that are one of several.
const (
	schemaDepth = 16
	schemaParts = 3_000
)

// schema is a JSON Schema as a server sent it. What it has of types, properties, words and bounds
// is checked before a call is made; the rest the server checks itself.
type schema struct {
	root map[string]any // where its references lead
	of   map[string]any
	left *int // parts that may be looked at yet
}

// newSchema is a schema as it is looked at once.
func newSchema(root map[string]any) schema {
	left := schemaParts
	return schema{root, root, &left}
}

// at is a part of the schema.
func (s schema) at(part any) schema {
	of, _ := part.(map[string]any)
	return schema{s.root, of, s.left}
}

// look counts a part that is looked at, and reports whether it may be.
func (s schema) look() bool {
	*s.left--
	return *s.left > 0
}

// read makes the arguments of a call what the server is sent: with its own names of them, and
// with the values that its types ask for. The error says what to write instead.
func (s schema) read(arguments protocol.Object) (map[string]any, error) {
	value, err := s.object(arguments, "", 0)
	if err != nil {
		return nil, err
	}
	return value, nil
}

// value makes one value of the wire what the schema asks for. name is that of the argument, as a
// person writes it.
func (s schema) value(v any, name string, depth int) (any, error) {
	if depth > schemaDepth {
		return nil, fmt.Errorf("the argument %s goes deeper than %d levels", name, schemaDepth)
	}
	s = s.resolved()
	if choices := s.choices(); choices != nil {
		var first error
		for _, choice := range choices {
			if !s.look() {
				return nil, fmt.Errorf("what the argument %s is takes more than %d steps to find out: what the server says of it goes round", name, schemaParts)
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

// resolved is the schema that a reference leads to.
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
	return schema{s.root, nil, s.left} // it leads nowhere: anything will do
}

// choices are the schemas of which one must do; nil if there is no choice.
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

// typed makes a value one of the schema's type.
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
	return plain(v), nil
}

// list makes a value a list; one alone is a list of one.
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

// object makes a plist an object with the server's own names. Where the names are free they come
// as a list of pairs, as a plist does not know lower case from upper.
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
			continue // as if it were not there
		}
		if made[key], err = part.value(field.Value, ":"+field.Key, depth+1); err != nil {
			return nil, err
		}
	}
	return made, s.complete(made, properties, name)
}

// fieldsOf are the fields of a plist, or of a list of pairs.
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
				key = plain(pair[0])
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

// key is the server's name of a property.
func (s schema) key(properties map[string]any, written string, exact bool) (string, error) {
	if _, ok := properties[written]; ok {
		return written, nil
	}
	var same, names []string
	for property := range properties {
		names = append(names, hyphened(property))
		if tool.Spelled(property) == tool.Spelled(written) {
			same = append(same, property)
		}
	}
	switch {
	case len(same) == 1:
		return same[0], nil
	case len(same) > 1:
		slices.Sort(same)
		return "", fmt.Errorf(":%s is %s of this tool, which nobody can tell apart here", written, strings.Join(same, " and "))
	case s.free() || exact && len(properties) == 0:
		return written, nil
	}
	slices.Sort(names)
	if near := suggest.Of(written, names); near != "" {
		return "", fmt.Errorf("there is no argument :%s; did you mean :%s?", written, near)
	}
	return "", fmt.Errorf("there is no argument :%s", written)
}

// free reports whether the schema says that there may be other properties.
func (s schema) free() bool {
	switch more := s.of["additionalProperties"].(type) {
	case bool:
		return more
	case map[string]any:
		return true
	}
	return s.of["properties"] == nil && s.of["type"] == nil
}

// takesNil reports whether nil is a value of the schema, and not that there is none.
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

// complete says which property is missing.
func (s schema) complete(made, properties map[string]any, name string) error {
	required, _ := s.of["required"].([]any)
	for _, r := range required {
		key, _ := r.(string)
		if _, there := made[key]; there || key == "" {
			continue
		}
		part := s.at(properties[key]).resolved()
		if kind, _ := part.of["type"].(string); kind == "boolean" || kind == "array" {
			if nothing, err := part.value(nil, ":"+key, 0); err == nil { // nil and missing are one
				made[key] = nothing
				continue
			}
		}
		said, _ := part.of["description"].(string)
		if said = text.PlainLine(said, 200); said != "" {
			said = ": " + said
		}
		if name != "" {
			name = " of " + name
		}
		return fmt.Errorf("the argument :%s%s is missing%s", hyphened(key), name, said)
	}
	return nil
}

// bounded checks words and bounds.
func (s schema) bounded(v any, name string) (any, error) {
	if words, ok := s.of["enum"].([]any); ok {
		return among(words, v, name)
	}
	if only, there := s.of["const"]; there {
		return among([]any{only}, v, name)
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

// among is the one of several values that was meant.
func among(values []any, v any, name string) (any, error) {
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
	meant := ""
	if near := suggest.Of(fmt.Sprint(v), names); near != "" {
		meant = fmt.Sprintf("; did you mean %q?", near)
	}
	return nil, fmt.Errorf("the argument %s is one of %q, not %q%s", name, names[:min(len(names), most)], fmt.Sprint(v), meant)
}

// plain is a value of the wire as JSON has it.
func plain(v any) any {
	switch v := v.(type) {
	case protocol.Keyword:
		return string(v)
	case []any:
		all := make([]any, len(v))
		for i, item := range v {
			all[i] = plain(item)
		}
		return all
	case protocol.Object:
		object := map[string]any{}
		for _, field := range v {
			object[field.Key] = plain(field.Value)
		}
		return object
	}
	return v
}
