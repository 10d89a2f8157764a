package toolcall

import (
	"strings"

	"org-agent/kernel/llm"
)

// shape is a notation of calls.
type shape struct {
	// name is a word for it, which becomes the function's name of a call that cannot be read.
	name string
	// marks are the texts with which a call may begin. A shape without marks has begin.
	marks []string
	// begin reports whether a call begins here, and whether it may if more comes.
	begin func(text string, tools tools) (is, open bool)
	// start is set if the reply begins with its calls, line if a line does.
	start, line bool
	// certain is set if no text has the marks by chance.
	certain bool
	// harmony is set for the notation that the whole reply is in.
	harmony bool
	// read returns the calls and the text after them. ok is false if it is no call, or is not readable.
	read func(text string, tools tools) (calls []llm.FunctionCall, rest string, ok bool)
}

// bare are the known notations, by the family whose it is. What vLLM and llama.cpp accept of each was
// the model.
var bare = []shape{
	{name: "harmony", marks: []string{"<|channel|>", "<|start|>assistant"}, start: true, certain: true, harmony: true}, // gpt-oss
	{name: "tool_call", marks: []string{"<tool_call>", "<|tool_call|>", "<|tool_call>", "<function_call>", "<start_function_call>"}, certain: true, read: readTagged},
	{name: "function", marks: []string{"<function="}, certain: true, read: readTagged},                                                                       // Qwen3-Coder without its outer tag
	{name: "invoke", marks: []string{"<minimax:tool_call>", "<function_calls>", "<｜DSML｜function_calls>", "<invoke name="}, certain: true, read: readInvoke}, // MiniMax, DeepSeek V3.2, Olmo
	{name: "tool_calls", marks: []string{"<｜tool▁calls▁begin｜>", "<｜tool▁call▁begin｜>"}, certain: true, read: readDeepSeek},
	{name: "tool_calls", marks: []string{"<|tool_calls_section_begin|>", "<|tool_call_begin|>"}, certain: true, read: readKimi},
	{name: "tool_calls", marks: []string{"[TOOL_CALLS]"}, certain: true, read: readMistral},
	{name: "tool_call", marks: []string{"<|python_tag|>", "<|python_start|>", "<|START_ACTION|>", "[TOOL_REQUEST]", "functools["}, certain: true, read: readMarked}, // Llama, Command, LM Studio, Phi-4
	{name: "tool_call", line: true, begin: beginNamed, read: readNamed},                                                                                             // functions.f: and >>>f
	{name: "tool_call", start: true, begin: beginJSON, read: readJSON},                                                                                              // Llama 3, xLAM, and JSON in any wrapping
	{name: "tool_call", start: true, begin: beginPython, read: readPython},                                                                                          // Llama 4, ToolACE
	{name: "tool_call", line: true, begin: beginLisp, read: readLisp},                                                                                               // models that were shown property lists
}

// shapes are all notations: those, and a fence around one. Gemma 3 has one.
var shapes = append(bare[:len(bare):len(bare)], shape{name: "tool_call", start: true, begin: beginFence, read: readFence})

// opens reports whether a call of the shape begins with the text, and whether it may if more comes.
func (s *shape) opens(text string, tools tools) (is, open bool) {
	for _, mark := range s.marks {
		if strings.HasPrefix(text, mark) {
			return true, false
		}
		open = open || strings.HasPrefix(mark, text)
	}
	if s.begin != nil {
		return s.begin(text, tools)
	}
	return false, open
}

// tools are the functions that a request offers.
type tools struct{ list []llm.Tool }

// named returns the name of an offered function for a name as a model writes it, or the name itself.
func (t tools) named(name string) (string, bool) {
	name = strings.TrimPrefix(strings.Trim(strings.TrimSpace(name), "`\"'"), "functions.")
	found, ok := llm.Named(t.list, name)
	if !ok {
		return name, false
	}
	return found.Name, true
}

// prefix reports whether a name is an offered function's, and whether it is the beginning of one.
func (t tools) prefix(name string) (is, begins bool) {
	for _, one := range t.list {
		for _, known := range []string{one.Name, llm.FunctionName(one.Name)} {
			is = is || known == name
			begins = begins || strings.HasPrefix(known, name)
		}
	}
	return is, begins
}

// beginNamed finds "functions.NAME:" and ">>>NAME", each with an object on the next line.
func beginNamed(text string, tools tools) (is, open bool) {
	for _, mark := range []string{"functions.", ">>>"} {
		rest, ok := strings.CutPrefix(text, mark)
		if !ok {
			open = open || strings.HasPrefix(mark, text)
			continue
		}
		name, after, ended := strings.Cut(rest, "\n")
		name = strings.TrimRight(name, ": \r")
		is, begins := tools.prefix(name)
		after = strings.TrimLeft(after, " \n")
		switch {
		case !ended || is && after == "":
			return false, begins
		case is && after[0] == '{':
			return true, false
		}
	}
	return false, open
}

// readNamed reads what beginNamed found.
func readNamed(text string, tools tools) (calls []llm.FunctionCall, rest string, ok bool) {
	rest = text
	for {
		name, after, _ := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(rest, "functions."), ">>>"), "\n")
		name, offered := tools.named(strings.TrimRight(name, ": \r"))
		object, left, found := cutJSON(strings.TrimLeft(after, " \n"))
		if !offered || !found {
			return calls, rest, len(calls) > 0
		}
		calls, rest = append(calls, llm.FunctionCall{Name: name, Arguments: object}), strings.TrimLeft(left, " \n")
		if !strings.HasPrefix(rest, "functions.") && !strings.HasPrefix(rest, ">>>") {
			return calls, rest, true
		}
	}
}

// fences are the languages of fences in which models write calls.
var fences = map[string]bool{"": true, "tool_code": true, "tool_call": true, "json": true, "python": true, "lisp": true, "xml": true}

// beginFence finds a reply that begins with a fence whose text begins with a call.
func beginFence(text string, tools tools) (is, open bool) {
	if !strings.HasPrefix(text, "```") {
		return false, strings.HasPrefix("```", text)
	}
	language, inner, ended := strings.Cut(text[3:], "\n")
	language = strings.ToLower(strings.TrimSpace(language))
	if !ended {
		return false, len(language) < 16
	}
	if !fences[language] {
		return false, false
	}
	return beginBare(strings.TrimLeft(inner, " \n"), tools)
}

// beginBare finds a call without marks.
func beginBare(text string, tools tools) (is, open bool) {
	if text == "" {
		return false, true
	}
	for i := range bare {
		s := &bare[i]
		if s.harmony {
			continue
		}
		one, more := s.opens(text, tools)
		is, open = is || one, open || more
	}
	if is {
		return true, false
	}
	// Gemma's calls in a fence have no brackets around them.
	for _, before := range []string{"print(", "default_api."} {
		open = open || strings.HasPrefix(before, text)
		text = strings.TrimPrefix(text, before)
	}
	name, _, called := strings.Cut(text, "(")
	is, begins := tools.prefix(strings.TrimSpace(name))
	return called && is, open || !called && begins
}

// readFence reads a reply that is one fence with calls. A fence with more beside it is text.
func readFence(text string, tools tools) (calls []llm.FunctionCall, rest string, ok bool) {
	_, inner, _ := strings.Cut(text, "\n")
	inner, after, closed := strings.Cut(inner, "\n```")
	if !closed {
		inner = strings.TrimSuffix(inner, "```")
	}
	if strings.TrimSpace(after) != "" {
		return nil, text, false
	}
	inner = strings.TrimSpace(inner)
	for i := range bare {
		s := &bare[i]
		if s.harmony {
			continue
		}
		if is, _ := s.opens(inner, tools); is {
			if calls, rest, ok = s.read(inner, tools); ok && strings.TrimSpace(rest) == "" {
				return calls, "", true
			}
		}
	}
	return readLines(inner, tools)
}
