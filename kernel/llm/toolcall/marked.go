package toolcall

import (
	"strings"

	"org-agent/kernel/llm"
)

// readMarked reads calls behind a mark: JSON, or Python's notation.
func readMarked(text string, tools tools) (calls []llm.FunctionCall, rest string, ok bool) {
	for _, mark := range []string{"<|python_tag|>", "<|python_start|>", "<|START_ACTION|>", "[TOOL_REQUEST]", "functools"} {
		text = strings.TrimPrefix(text, mark)
	}
	text = strings.TrimSpace(text)
	for rest = text; rest != ""; {
		value, after, found := cutJSON(rest)
		one, is := callsOf(value)
		if !found || !is {
			break
		}
		one, _ = tools.offered(one)
		calls, rest = append(calls, one...), strings.TrimLeft(after, " \n\t;,")
		for _, mark := range []string{"<|END_ACTION|>", "[END_TOOL_REQUEST]", "<|python_tag|>", "[TOOL_REQUEST]", "<|eom_id|>"} {
			rest = strings.TrimSpace(strings.TrimPrefix(rest, mark))
		}
	}
	if len(calls) > 0 {
		return calls, rest, true
	}
	text, _, _ = strings.Cut(text, "<|python_end|>")
	if calls, rest, ok = readPython(text, tools); ok {
		return calls, rest, true
	}
	return readLines(text, tools)
}

// readMistral reads [TOOL_CALLS] with a list of calls, or with NAME[ARGS]{…} for each.
func readMistral(text string, tools tools) (calls []llm.FunctionCall, rest string, ok bool) {
	rest = text
	for {
		after, marked := strings.CutPrefix(strings.TrimSpace(rest), "[TOOL_CALLS]")
		if !marked {
			return calls, rest, len(calls) > 0
		}
		after = strings.TrimSpace(after)
		if value, left, found := cutJSON(after); found {
			one, is := callsOf(value)
			if !is {
				return nil, text, false
			}
			one, _ = tools.offered(one)
			calls, rest = append(calls, one...), left
			continue
		}
		name, arguments, found := strings.Cut(after, "[ARGS]")
		if !found {
			name, arguments, found = strings.Cut(after, "{")
			arguments = "{" + arguments
		}
		name, _, _ = strings.Cut(name, "[CALL_ID]")
		value, left, read := cutJSON(strings.TrimSpace(arguments))
		if !found || !read {
			return nil, text, false
		}
		name, _ = tools.named(name)
		calls, rest = append(calls, llm.FunctionCall{Name: name, Arguments: value}), left
	}
}

// readDeepSeek reads the notation of DeepSeek V3, R1 and V3.1.
func readDeepSeek(text string, tools tools) (calls []llm.FunctionCall, rest string, ok bool) {
	parts := strings.Split(text, "<｜tool▁call▁begin｜>")
	for _, part := range parts[1:] {
		part, after, _ := strings.Cut(part, "<｜tool▁call▁end｜>")
		kind, inner, found := strings.Cut(part, "<｜tool▁sep｜>")
		if !found {
			return nil, text, false
		}
		name := kind
		if strings.TrimSpace(kind) == "function" {
			name, inner, _ = strings.Cut(inner, "\n")
		}
		inner = strings.TrimPrefix(strings.TrimSpace(inner), "```json")
		value, _, found := cutJSON(strings.TrimSpace(inner))
		if !found {
			return nil, text, false
		}
		name, _ = tools.named(name)
		calls, rest = append(calls, llm.FunctionCall{Name: name, Arguments: value}), after
	}
	return calls, strings.TrimPrefix(strings.TrimSpace(rest), "<｜tool▁calls▁end｜>"), len(calls) > 0
}

// readKimi reads the notation of Kimi K2, whose ids are to be kept.
func readKimi(text string, tools tools) (calls []llm.FunctionCall, rest string, ok bool) {
	parts := strings.Split(text, "<|tool_call_begin|>")
	for _, part := range parts[1:] {
		part, after, _ := strings.Cut(part, "<|tool_call_end|>")
		id, inner, found := strings.Cut(part, "<|tool_call_argument_begin|>")
		value, _, read := cutJSON(strings.TrimSpace(inner))
		if !found || !read {
			return nil, text, false
		}
		id = strings.TrimSpace(id)
		name, _, _ := strings.Cut(id, ":")
		name, _ = tools.named(name)
		calls, rest = append(calls, llm.FunctionCall{ID: id, Name: name, Arguments: value}), after
	}
	return calls, strings.TrimPrefix(strings.TrimSpace(rest), "<|tool_calls_section_end|>"), len(calls) > 0
}

// readGemma reads call:NAME{KEY:VALUE,…}, where texts stand between <escape> or <|"|>.
func readGemma(text string, tools tools) (calls []llm.FunctionCall, ok bool) {
	name, inner, found := strings.Cut(strings.TrimPrefix(text, "call:"), "{")
	if !found {
		return nil, false
	}
	name, _ = tools.named(name)
	inner = strings.TrimSuffix(strings.TrimSpace(inner), "}")
	var object objectWriter
	for inner != "" {
		key, after, found := strings.Cut(inner, ":")
		if !found {
			return nil, false
		}
		var value string
		quoted := false
		for _, mark := range []string{"<escape>", `<|"|>`} {
			if from, is := strings.CutPrefix(after, mark); is {
				value, inner, _ = strings.Cut(from, mark)
				inner, quoted = strings.TrimPrefix(inner, ","), true
				value = quote(value)
			}
		}
		if !quoted {
			value, inner, _ = strings.Cut(after, ",")
			value = tools.typed(name, strings.TrimSpace(key), value)
		}
		object.add(strings.TrimSpace(key), value)
	}
	return []llm.FunctionCall{{Name: name, Arguments: object.String()}}, true
}
