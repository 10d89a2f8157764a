package toolcall

import (
	"encoding/json"
	"html"
	"strings"

	"org-agent/kernel/llm"
)

// tagPairs are the tags around calls, and their ends. An end may be missing.
var tagPairs = [][2]string{
	{"<tool_call>", "</tool_call>"}, {"<|tool_call|>", "<|/tool_call|>"}, {"<|tool_call>", "<tool_call|>"}, {"<function_call>", "</function_call>"},
	{"<start_function_call>", "<end_function_call>"}, {"<function=", "</function>"},
}

// readTagged reads calls between tags: JSON as of Hermes, parameters in tags as of Qwen3-Coder, keys and
// values in tags as of GLM, and Gemma's call:NAME{…}.
func readTagged(text string, tools tools) (calls []llm.FunctionCall, rest string, ok bool) {
	rest = strings.TrimSpace(text)
	for rest != "" {
		begin, end := openTag(rest)
		if begin == "" {
			break
		}
		inner := rest
		if begin != "<function=" {
			inner = rest[len(begin):]
		}
		inner, after := cutTag(inner, begin, end)
		one, ok := readInner(strings.TrimSpace(inner), tools)
		if !ok {
			return nil, text, false
		}
		calls, rest = append(calls, one...), strings.TrimSpace(after)
		rest = strings.TrimSpace(strings.TrimPrefix(rest, "</tool_call>")) // of a call whose own beginning is missing
	}
	return calls, rest, len(calls) > 0
}

// openTag returns the tag with which a text begins, and its end.
func openTag(text string) (begin, end string) {
	for _, pair := range tagPairs {
		if strings.HasPrefix(text, pair[0]) {
			return pair[0], pair[1]
		}
	}
	return "", ""
}

// cutTag returns the text up to the end of a tag, or up to where the next one begins, and the rest.
func cutTag(text, begin, end string) (inner, rest string) {
	inner = text
	if next := strings.Index(text[min(len(text), 1):], begin); next >= 0 {
		inner, rest = text[:next+1], text[next+1:]
	}
	if at := strings.Index(inner, end); at >= 0 {
		return text[:at], text[at+len(end):]
	}
	return inner, rest
}

// readInner reads what stands between the tags of a call.
func readInner(text string, tools tools) (calls []llm.FunctionCall, ok bool) {
	switch {
	case text == "":
		return nil, false
	case text[0] == '{' || text[0] == '[':
		value, _, found := cutJSON(text)
		if !found {
			return nil, false
		}
		calls, ok = callsOf(value)
		calls, _ = tools.offered(calls)
		return calls, ok
	case strings.HasPrefix(text, "<function="):
		return readFunctions(text, tools)
	case strings.HasPrefix(text, "call:"):
		return readGemma(text, tools)
	}
	name, arguments, _ := strings.Cut(text, "<arg_key>")
	name, _ = tools.named(name)
	if strings.ContainsAny(name, " \n<{") || name == "" {
		return nil, false
	}
	var object objectWriter
	for _, pair := range strings.Split(arguments, "<arg_key>") {
		key, value, found := strings.Cut(pair, "</arg_key>")
		if !found {
			continue
		}
		_, value, _ = strings.Cut(value, "<arg_value>")
		value, _, _ = strings.Cut(value, "</arg_value>")
		object.add(strings.TrimSpace(key), tools.typed(name, strings.TrimSpace(key), value))
	}
	return []llm.FunctionCall{{Name: name, Arguments: object.String()}}, true
}

// readFunctions reads <function=NAME> with parameters in tags, or with a JSON object.
func readFunctions(text string, tools tools) (calls []llm.FunctionCall, ok bool) {
	for _, part := range strings.Split(text, "<function=")[1:] {
		name, inner, found := strings.Cut(part, ">")
		if !found {
			return nil, false
		}
		name, _ = tools.named(name)
		inner, _, _ = strings.Cut(inner, "</function>")
		if value, _, is := cutJSON(strings.TrimSpace(inner)); is && value[0] == '{' {
			calls = append(calls, llm.FunctionCall{Name: name, Arguments: value})
			continue
		}
		var object objectWriter
		for _, parameter := range strings.Split(inner, "<parameter=")[1:] {
			key, value, found := strings.Cut(parameter, ">")
			if !found {
				return nil, false
			}
			value, _, _ = strings.Cut(value, "</parameter>")
			object.add(strings.TrimSpace(key), tools.typed(name, strings.TrimSpace(key), oneLineLess(value)))
		}
		calls = append(calls, llm.FunctionCall{Name: name, Arguments: object.String()})
	}
	return calls, len(calls) > 0
}

// oneLineLess returns a value without the one line break on each side that the notation has.
func oneLineLess(value string) string {
	value = strings.TrimPrefix(strings.TrimPrefix(value, "\r"), "\n")
	return strings.TrimSuffix(strings.TrimSuffix(value, "\n"), "\r")
}

// readInvoke reads <invoke name="NAME"> with parameters in tags, in whatever it is wrapped.
func readInvoke(text string, tools tools) (calls []llm.FunctionCall, rest string, ok bool) {
	rest = text
	prefix := ""
	if strings.Contains(text, "<｜DSML｜invoke") {
		prefix = "｜DSML｜"
	}
	if !strings.Contains(text, "<"+prefix+"invoke") { // Olmo: calls in Python, one a line
		inner, after, _ := strings.Cut(strings.TrimPrefix(text, "<function_calls>"), "</function_calls>")
		calls, _, ok = readLines(inner, tools)
		return calls, after, ok
	}
	for _, part := range strings.Split(text, "<"+prefix+"invoke")[1:] {
		name, inner, found := strings.Cut(part, ">")
		if !found {
			return nil, text, false
		}
		name, _ = tools.named(attribute(name, "name"))
		inner, rest, _ = strings.Cut(inner, "</"+prefix+"invoke>")
		var object objectWriter
		for _, parameter := range strings.Split(inner, "<"+prefix+"parameter")[1:] {
			head, value, found := strings.Cut(parameter, ">")
			if !found {
				return nil, text, false
			}
			value, _, _ = strings.Cut(value, "</"+prefix+"parameter>")
			key := attribute(head, "name")
			if attribute(head, "string") == "true" {
				object.add(key, quote(value))
			} else {
				object.add(key, tools.typed(name, key, oneLineLess(value)))
			}
		}
		calls = append(calls, llm.FunctionCall{Name: name, Arguments: object.String()})
	}
	for _, end := range []string{"</minimax:tool_call>", "</function_calls>", "</｜DSML｜function_calls>"} {
		rest = strings.TrimPrefix(strings.TrimSpace(rest), end)
	}
	return calls, rest, len(calls) > 0
}

// attribute returns the value of an attribute of a tag.
func attribute(tag, name string) string {
	_, value, found := strings.Cut(tag, name+`="`)
	if !found {
		return ""
	}
	value, _, _ = strings.Cut(value, `"`)
	return html.UnescapeString(value)
}

// typed returns a value that was written without quotes as JSON: as a string where the function's schema
// has one, and else as the JSON that it is, if it is any.
func (t tools) typed(function, key, value string) string {
	if tool, ok := llm.Named(t.list, function); ok && tool.Schema != nil {
		var schema struct {
			Properties map[string]struct{ Type any }
		}
		encoded, err := json.Marshal(tool.Schema())
		if err == nil && json.Unmarshal(encoded, &schema) == nil && schema.Properties[key].Type == "string" {
			return quote(value)
		}
	}
	if trimmed := strings.TrimSpace(value); json.Valid([]byte(trimmed)) {
		return trimmed
	}
	switch strings.TrimSpace(value) {
	case "True":
		return "true"
	case "False":
		return "false"
	case "None":
		return "null"
	}
	return quote(value)
}

// quote returns a text as a JSON string.
func quote(text string) string {
	encoded, _ := json.Marshal(text) // a string always can be
	return string(encoded)
}

// objectWriter writes a JSON object. The zero value is an empty one.
type objectWriter struct{ fields []string }

// add adds a field with a JSON value.
func (o *objectWriter) add(key, value string) {
	if key != "" {
		o.fields = append(o.fields, quote(key)+":"+value)
	}
}

func (o *objectWriter) String() string { return "{" + strings.Join(o.fields, ",") + "}" }
