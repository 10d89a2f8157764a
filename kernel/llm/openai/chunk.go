package openai

import (
	"bytes"
	"encoding/json"
	"fmt"

	"org-agent/kernel/llm"
	"org-agent/kernel/text"
)

// chunk is an event of the stream. The fields in which servers differ are raw and are read
// leniently.
type chunk struct {
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"`
	Groq    struct {
		Usage json.RawMessage `json:"usage"`
	} `json:"x_groq"`
}

type choice struct {
	Index        int     `json:"index"`
	Delta        part    `json:"delta"`
	Message      part    `json:"message"` // of a reply that is not streamed
	FinishReason *string `json:"finish_reason"`
}

// part has the text. It is raw because it may hold half a character, which encoding/json would
// destroy.
type part struct {
	Content          json.RawMessage `json:"content"`
	Refusal          json.RawMessage `json:"refusal"`
	Reasoning        json.RawMessage `json:"reasoning"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
}

// usage is the server's count of tokens.
type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	CacheHit   int `json:"prompt_cache_hit_tokens"`
	Input      struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	Output struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	Cost *float64 `json:"cost"`
}

// decoder turns the events of one stream into deltas.
type decoder struct {
	provider, model string
	begun           bool // there was a delta with text or reasoning
	text, reasoning joiner
	finish          llm.FinishReason
	usage           *llm.Usage
}

// decode returns the delta of an event. It is empty if the event completes no character. The finish
// reason and the usage are stored for last.
func (d *decoder) decode(line []byte) (llm.Delta, error) {
	var event chunk
	err := json.Unmarshal(line, &event)
	if err != nil && json.Unmarshal(finite(line), &event) == nil {
		err = nil
	}
	if err != nil {
		return llm.Delta{}, &llm.Error{Class: llm.ClassProtocol, Message: fmt.Sprintf("%q is not an event", text.Clip(string(line), 80)), Err: err}
	}
	if err := streamError(event.Error); err != nil {
		return llm.Delta{}, err
	}
	d.count(event.Usage)
	d.count(event.Groq.Usage)
	var delta llm.Delta
	for _, c := range event.Choices {
		if c.Index != 0 {
			continue
		}
		for _, p := range []part{c.Delta, c.Message} {
			delta.Text += d.text.join(textOf(p.Content)) + d.text.join(textOf(p.Refusal))
			thought := textOf(p.ReasoningContent)
			if len(thought) == 0 {
				thought = textOf(p.Reasoning)
			}
			delta.Reasoning += d.reasoning.join(thought)
		}
		if err := d.recordFinish(c.FinishReason); err != nil {
			return llm.Delta{}, err
		}
	}
	if delta.Empty() {
		return delta, nil
	}
	if !d.begun {
		d.begun = true
		if event.Model != "" {
			d.model = event.Model
		}
		delta.Provider, delta.Model = d.provider, d.model
	}
	return delta, nil
}

// finite returns a JSON value with null in place of the numbers that JSON does not have and that Python
// writes: NaN, Infinity and -Infinity. Strings stay as they are.
func finite(value []byte) []byte {
	var out []byte
	for quoted := false; len(value) > 0; {
		size, null := 1, false
		switch {
		case quoted && value[0] == '\\' && len(value) > 1:
			size = 2
		case value[0] == '"':
			quoted = !quoted
		case !quoted:
			for _, number := range []string{"NaN", "-Infinity", "Infinity"} {
				if bytes.HasPrefix(value, []byte(number)) {
					size, null = len(number), true
				}
			}
		}
		if null {
			out = append(out, "null"...)
		} else {
			out = append(out, value[:size]...)
		}
		value = value[size:]
	}
	return out
}

// recordFinish records why the reply is complete.
func (d *decoder) recordFinish(reason *string) error {
	if reason == nil || *reason == "" {
		return nil
	}
	switch *reason {
	case "length", "max_tokens":
		d.finish = llm.FinishLength
	case "content_filter":
		d.finish = llm.FinishFiltered
	case "tool_calls", "function_call":
		d.finish = llm.FinishTools
	case "error":
		return &llm.Error{Class: llm.ClassServer, Message: "the model stopped with an error"}
	default:
		d.finish = llm.FinishStop
	}
	return nil
}

// count records the usage. The last usage counts.
func (d *decoder) count(raw json.RawMessage) {
	var u *usage
	if len(raw) == 0 || json.Unmarshal(raw, &u) != nil || u == nil {
		return
	}
	d.usage = &llm.Usage{
		Input: u.Prompt, Output: u.Completion,
		Cached: max(u.Input.Cached, u.CacheHit), Reasoning: u.Output.Reasoning,
		Cost: u.Cost,
	}
}

// last returns the delta that ends a complete reply.
func (d *decoder) last() llm.Delta {
	delta := llm.Delta{
		Text: d.text.flush(), Reasoning: d.reasoning.flush(),
		Finish: d.finish, Usage: d.usage,
	}
	if !d.begun {
		delta.Provider, delta.Model = d.provider, d.model
	}
	return delta
}
