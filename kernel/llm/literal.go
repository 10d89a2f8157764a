package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"slices"
	"strings"
)

// Literal is a provider that shows models no control tokens but those of their template. A server that renders the
// conversation itself, as llama.cpp, vLLM, Ollama and LM Studio do, reads "<|im_start|>system" within a file as the
// beginning of a system prompt. So what a request has is parted behind its first character, by a word joiner, which
// is invisible. Where a model writes such a token with the joiner, the reply has it without: what it quotes, or
// edits, is what stands in the file.
//
// A word joiner that a text itself has at such a place is lost when the model quotes it.
type Literal struct{ Next Provider }

// joiner parts a control token.
const joiner = "\u2060"

// Stream implements [Provider].
func (l Literal) Stream(ctx context.Context, request Request) iter.Seq2[Delta, error] {
	return func(yield func(Delta, error) bool) {
		var text, thought whole
		for delta, err := range l.Next.Stream(ctx, literalRequest(request)) {
			delta.Text, delta.Reasoning = text.write(delta.Text), thought.write(delta.Reasoning)
			if len(delta.Calls) > 0 {
				delta.Calls = slices.Clone(delta.Calls)
				for i := range delta.Calls {
					c := &delta.Calls[i]
					c.Arguments = wholeEscaped.Replace(c.Arguments)
				}
			}
			if !yield(delta, err) {
				return
			}
		}
	}
}

// wholeEscaped is for JSON, which may have the joiner escaped.
var wholeEscaped = strings.NewReplacer("<"+joiner, "<", "["+joiner, "[", `<\u2060`, "<", `[\u2060`, "[", `\u003c\u2060`, `\u003c`, `\u003C\u2060`, `\u003C`)

// whole puts control tokens together again in a text that comes in pieces of whole characters.
type whole struct{ opened bool }

func (w *whole) write(piece string) string {
	if piece == "" {
		return ""
	}
	if w.opened {
		piece = strings.TrimPrefix(piece, joiner)
	}
	if strings.Contains(piece, joiner) {
		piece = strings.ReplaceAll(strings.ReplaceAll(piece, "<"+joiner, "<"), "["+joiner, "[")
	}
	w.opened = piece != "" && strings.IndexByte("<[", piece[len(piece)-1]) >= 0
	return piece
}

// literalRequest returns a request without control tokens. It shares what has none.
func literalRequest(request Request) Request {
	change(&request.Sections, func(s *Section) bool { return literal(&s.Text) })
	change(&request.Messages, literalMessage)
	change(&request.Tools, func(t *Tool) bool {
		literal(&t.Description)
		if schema := t.Schema; schema != nil {
			t.Schema = func() any { return literalSchema(schema()) }
		}
		return true
	})
	return request
}

// literalSchema returns a schema without control tokens: other people's tools have theirs. One that has none stays the
// value that it is.
func literalSchema(schema any) any {
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(schema) != nil {
		return schema // the server's driver says so
	}
	text := encoded.String()
	var without any
	if !literal(&text) || json.Unmarshal([]byte(text), &without) != nil {
		return schema
	}
	return without
}

// change replaces a list by a copy whose elements were changed, if do changes any.
func change[E any](list *[]E, do func(*E) bool) {
	var changed []E
	for i, element := range *list {
		if do(&element) {
			if changed == nil {
				changed = slices.Clone(*list)
			}
			changed[i] = element
		}
	}
	if changed != nil {
		*list = changed
	}
}

func literalMessage(m *Message) bool {
	changed := literal(&m.Text)
	change(&m.Calls, func(c *Call) bool {
		if c.Function == nil {
			return false
		}
		function := *c.Function
		if !literal(&function.Arguments) {
			return false
		}
		c.Function, changed = &function, true
		return true
	})
	if m.Outcome != nil {
		outcome := *m.Outcome
		change(&outcome.Results, func(r *Result) bool {
			if !literal(&r.Text) {
				return false
			}
			m.Outcome, changed = &outcome, true
			return true
		})
	}
	return changed
}

// literal parts the control tokens of a text, and reports whether it has any.
func literal(text *string) bool {
	before := len(*text)
	*text = parted(*text)
	return len(*text) != before
}

// parted returns a text with its control tokens parted.
func parted(text string) string {
	var b strings.Builder
	done := 0
	for at := range len(text) {
		if c := text[at]; (c == '<' || c == '[') && isControl(text[at:]) {
			b.WriteString(text[done : at+1])
			b.WriteString(joiner)
			done = at + 1
		}
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// angled and squared are the control tokens that are no words between bars, without their first character: those of
// Gemma, of Llama 2 and Mistral, of GLM, and those for which templates look in what was said.
var (
	angled = []string{"start_of_turn>", "end_of_turn>", "start_of_image>", "end_of_image>", "image_soft_token>", "start_function_", "end_function_", "escape>", "turn|>", "channel|>", "bos>", "eos>", "pad>", "unk>",
		"s>", "/s>", "<SYS>>", "</SYS>>", "sop>", "eop>", "think>", "/think>", "tool_call>", "/tool_call>", "tool_response>", "/tool_response>", "im_start>", "im_end>"}
	squared = []string{"INST]", "/INST]", "SYSTEM_PROMPT]", "/SYSTEM_PROMPT]", "AVAILABLE_TOOLS]", "/AVAILABLE_TOOLS]", "TOOL_CALLS]", "TOOL_RESULTS]", "/TOOL_RESULTS]", "TOOL_CONTENT]", "ARGS]", "CALL_ID]", "THINK]", "/THINK]", "IMG]", "gMASK]"}
)

// controlLimit is how long a control token may be, in bytes. Those that are known have 40 at most.
const controlLimit = 64

// isControl reports whether a text, which begins with < or [, begins with a control token.
func isControl(text string) bool {
	rest := text[1:]
	if text[0] == '[' {
		return beginsWith(rest, squared)
	}
	for _, bar := range []string{"|", "｜"} {
		if words, ok := strings.CutPrefix(rest, bar); ok {
			words = words[:min(len(words), controlLimit)]
			end := strings.IndexAny(words, "<>\n\"")
			return end > 0 && words[end] == '>'
		}
	}
	return beginsWith(rest, angled)
}

func beginsWith(text string, any []string) bool {
	for _, name := range any {
		if text != "" && text[0] == name[0] && strings.HasPrefix(text, name) { // most differ at once
			return true
		}
	}
	return false
}
