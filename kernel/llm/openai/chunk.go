package openai

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/transport"
	"org-agent/kernel/text"
)

// chunk is an event of the stream. The fields in which servers differ are raw and are read
// leniently.
type chunk struct {
	Model   string          `json:"model"`
	Choices []choice        `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
	Error   json.RawMessage `json:"error"`
	Sources json.RawMessage `json:"citations"` // Perplexity's: a list of addresses
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
	Annotations      json.RawMessage `json:"annotations"`
	Images           json.RawMessage `json:"images"` // OpenRouter's
	Details          json.RawMessage `json:"reasoning_details"`
	Calls            []callPart      `json:"tool_calls"`
	Call             *callPart       `json:"function_call"` // of servers before there were tool_calls
}

// usage is the server's count of tokens.
type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Total      int `json:"total_tokens"`
	CacheHit   int `json:"prompt_cache_hit_tokens"`
	Input      struct {
		Cached  int `json:"cached_tokens"`
		Written int `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
	Output struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"completion_tokens_details"`
	Cost *float64 `json:"cost"`
}

// decoder turns the events of one stream into deltas.
type decoder struct {
	provider, model string
	begun           bool   // there was a delta with text or reasoning
	asked           string // the model as it was asked for
	text, reasoning joiner
	thought         strings.Builder // what goes back of the reasoning
	details         details
	calls           calls
	sources         llm.Citations
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
	if err := transport.StreamError(event.Error); err != nil {
		return llm.Delta{}, err
	}
	d.count(event.Usage)
	d.count(event.Groq.Usage)
	d.cite(event.Sources)
	var delta llm.Delta
	for _, c := range event.Choices {
		if c.Index != 0 {
			continue
		}
		for _, p := range []part{c.Delta, c.Message} {
			delta.Text += d.text.join(textOf(p.Content)) + d.text.join(textOf(p.Refusal))
			d.think(p, &delta)
			d.annotate(p.Annotations)
			delta.Pictures = append(append(delta.Pictures, picturesOf(p.Content)...), picturesOf(p.Images)...)
			calling, written, err := d.calls.add(p)
			if err != nil {
				return llm.Delta{}, err
			}
			delta.Calling, delta.CallText = cmp.Or(calling, delta.Calling), delta.CallText+written
		}
		if err := d.recordFinish(c.FinishReason); err != nil {
			return llm.Delta{}, err
		}
	}
	d.sources.Wrote(delta.Text)
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

// picturesOf returns the addresses of the pictures in a list of parts.
func picturesOf(raw json.RawMessage) (addresses []string) {
	var parts []struct {
		Type  string `json:"type"`
		Image struct {
			URL string `json:"url"`
		} `json:"image_url"`
	}
	if len(raw) == 0 || raw[0] != '[' || json.Unmarshal(raw, &parts) != nil {
		return nil
	}
	for _, p := range parts {
		if p.Type == "image_url" && p.Image.URL != "" {
			addresses = append(addresses, p.Image.URL)
		}
	}
	return addresses
}

// cite adds a list of addresses.
func (d *decoder) cite(raw json.RawMessage) {
	var addresses []string
	if len(raw) == 0 || json.Unmarshal(raw, &addresses) != nil {
		return
	}
	for _, address := range addresses {
		d.sources.Add(address, "")
	}
}

// annotate adds the sources among annotations of the text.
func (d *decoder) annotate(raw json.RawMessage) {
	var list []struct {
		Citation struct {
			URL   string `json:"url"`
			Title string `json:"title"`
		} `json:"url_citation"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &list) != nil {
		return
	}
	for _, a := range list {
		d.sources.Add(a.Citation.URL, a.Citation.Title)
	}
}

// think adds the thinking of an event. What goes back is bounded as a reply is.
func (d *decoder) think(p part, delta *llm.Delta) {
	thought := textOf(p.ReasoningContent)
	back := len(thought) > 0
	if !back {
		thought = textOf(p.Reasoning)
	}
	text := d.reasoning.join(thought)
	delta.Reasoning += text
	if back && d.thought.Len() <= llm.ReplyLimit {
		d.thought.WriteString(text)
	}
	d.details.add(p.Details)
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
	thought := u.thoughtApart()
	d.usage = &llm.Usage{
		Input: u.Prompt, Output: u.Completion + thought,
		Cached: max(u.Input.Cached, u.CacheHit), Written: u.Input.Written, Reasoning: max(u.Output.Reasoning, thought),
		Cost: u.Cost,
	}
}

// thoughtApart returns the tokens of thinking that the server does not count as part of the completion. By
// the protocol they are part of it. Gemini and xAI count them only in the total, and they are paid for.
func (u usage) thoughtApart() int {
	if apart := u.Total - u.Prompt - u.Completion; apart > 0 && u.Prompt >= 0 && u.Completion >= 0 {
		return apart
	}
	return 0
}

// last returns the delta that ends a complete reply.
func (d *decoder) last() llm.Delta {
	delta := llm.Delta{
		Text: d.text.flush() + d.sources.Text(), Reasoning: d.reasoning.flush(),
		Finish: d.finish, Usage: d.usage, Calls: d.calls.all(),
	}
	delta.Original = d.originalOf(delta.Calls)
	if len(delta.Calls) > 0 && delta.Finish == llm.FinishStop {
		delta.Finish = llm.FinishTools // many servers say "stop" beside calls
	}
	if !d.begun {
		delta.Provider, delta.Model = d.provider, d.model
	}
	return delta
}
