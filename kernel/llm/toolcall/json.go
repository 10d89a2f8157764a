package toolcall

import (
	"bytes"
	"encoding/json"
	"strings"

	"org-agent/kernel/llm"
)

// cutJSON returns the JSON value with which a text begins, and the text after it.
func cutJSON(text string) (value, rest string, ok bool) {
	decoder := json.NewDecoder(strings.NewReader(text))
	var raw json.RawMessage
	if decoder.Decode(&raw) != nil {
		return "", text, false
	}
	return string(raw), text[decoder.InputOffset():], true
}

// The fields under which models name a function, and give its arguments.
var (
	nameFields      = []string{"name", "tool", "tool_name", "function_name", "function", "action"}
	argumentsFields = []string{"arguments", "parameters", "args", "input", "params", "action_input", "tool_input", "kwargs"}
	listFields      = []string{"tool_calls", "function_call", "tool_call", "calls"}
)

// callsOf returns the calls that a JSON value is: an object with a name and arguments, a list of them, or
// an object that has one of these. ok is false if it is anything else.
func callsOf(value string) (calls []llm.FunctionCall, ok bool) {
	raw := bytes.TrimSpace([]byte(value))
	if len(raw) == 0 {
		return nil, false
	}
	if raw[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil || len(list) == 0 {
			return nil, false
		}
		for _, item := range list {
			one, ok := callsOf(string(item))
			if !ok {
				return nil, false
			}
			calls = append(calls, one...)
		}
		return calls, true
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return nil, false
	}
	for _, key := range listFields {
		if inner, there := fields[key]; there {
			return callsOf(string(inner))
		}
	}
	if inner := fields["function"]; len(inner) > 0 && inner[0] == '{' {
		calls, ok = callsOf(string(inner))
		if id := textField(fields, "id"); ok && len(calls) == 1 {
			calls[0].ID = id
		}
		return calls, ok
	}
	call := llm.FunctionCall{ID: textField(fields, "id", "tool_call_id")}
	if call.Name = textField(fields, nameFields...); call.Name == "" {
		return nil, false
	}
	for _, key := range argumentsFields {
		if arguments, there := fields[key]; there {
			call.Arguments = unquoted(arguments)
			return []llm.FunctionCall{call}, true
		}
	}
	return []llm.FunctionCall{call}, len(fields) == 1 || fields["id"] != nil && len(fields) == 2
}

// textField returns the first of the fields that is a text.
func textField(fields map[string]json.RawMessage, keys ...string) (text string) {
	for _, key := range keys {
		if json.Unmarshal(fields[key], &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

// unquoted returns arguments as the text of an object, also if they are a string that contains it.
func unquoted(arguments json.RawMessage) string {
	var text string
	if json.Unmarshal(arguments, &text) == nil && len(arguments) > 0 && arguments[0] == '"' {
		return text
	}
	return string(arguments)
}

// offered returns the calls with the names of offered functions. all is false if one of them is not
// offered.
func (t tools) offered(calls []llm.FunctionCall) (named []llm.FunctionCall, all bool) {
	all = true
	for _, c := range calls {
		name, ok := t.named(c.Name)
		c.Name, all = name, all && ok
		named = append(named, c)
	}
	return named, all
}

// beginJSON finds an object, or a list of objects, that may be a call.
func beginJSON(text string, _ tools) (is, open bool) {
	inner := strings.TrimLeft(text, "[ \n\t")
	if text == "" || text[0] != '{' && text[0] != '[' {
		return false, false
	}
	if inner == "" {
		return false, true
	}
	key, ok := strings.CutPrefix(inner, "{")
	if !ok {
		return false, false
	}
	key = strings.TrimLeft(key, " \n\t")
	key, ok = strings.CutPrefix(key, `"`)
	if !ok {
		return false, key == ""
	}
	for _, list := range [][]string{nameFields, argumentsFields, listFields, {"id", "type"}} {
		for _, field := range list {
			is = is || strings.HasPrefix(key, field+`"`)
			open = open || strings.HasPrefix(field+`"`, key)
		}
	}
	return is, open
}

// readJSON reads calls of offered functions, one behind the other, also with a ; between them.
func readJSON(text string, tools tools) (calls []llm.FunctionCall, rest string, ok bool) {
	rest = text
	for rest != "" {
		value, after, found := cutJSON(rest)
		if !found {
			break
		}
		one, is := callsOf(value)
		one, all := tools.offered(one)
		if !is || !all {
			break
		}
		calls, rest = append(calls, one...), strings.TrimLeft(after, " \n\t;,")
	}
	return calls, rest, len(calls) > 0
}
