package openai

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"org-agent/kernel/llm"
)

// original is what goes back of a reply with calls, to the model that wrote it: its thinking, by the names
// that its server has for it, and what the server attached to its calls. Servers refuse the results of
// calls without it.
type original struct {
	Thought string            `json:"reasoning_content,omitempty"` // DeepSeek, llama.cpp
	Details []json.RawMessage `json:"reasoning_details,omitempty"` // OpenRouter
	Calls   []originalCall    `json:"calls"`
}

type originalCall struct {
	ID        string          `json:"id,omitempty"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Extra     json.RawMessage `json:"extra,omitempty"` // Gemini's signature of a thought
}

// readOriginal returns what goes back of a message, nil if there is nothing, or if its calls are not those
// that the model wrote.
func readOriginal(m llm.Message, writer string) *original {
	data := m.Original.By(writer)
	if data == nil {
		return nil
	}
	var o original
	if json.Unmarshal(data, &o) != nil {
		return nil
	}
	var names []string
	for _, c := range o.Calls {
		names = append(names, c.Name)
	}
	if !m.Matches(names) {
		return nil
	}
	return &o
}

// originalOf returns what goes back of the reply, nil without calls or if its server sent only what every
// server does.
func (d *decoder) originalOf(calls []llm.FunctionCall) *llm.Original {
	if len(calls) == 0 || len(calls) != len(d.calls.open) || d.calls.bytes+d.thought.Len() > llm.ReplyLimit {
		return nil
	}
	o := original{Thought: d.thought.String(), Details: d.details.all()}
	wanted := o.Thought != "" || len(o.Details) > 0
	for i, c := range d.calls.open {
		wanted = wanted || len(c.extra) > 0
		o.Calls = append(o.Calls, originalCall{ID: c.id, Name: c.name, Arguments: calls[i].Arguments, Extra: c.extra})
	}
	if !wanted {
		return nil
	}
	data, err := json.Marshal(o)
	if err != nil { // what a server attached was read as JSON before
		return nil
	}
	return &llm.Original{Writer: llm.Writer(d.provider, d.asked), Data: data}
}

// details are the parts of a thought as OpenRouter sends them. A part comes in pieces, which have its index.
type details struct {
	parts []map[string]json.RawMessage
	texts []map[string]*strings.Builder // of each part, by their keys
	bytes int
}

// add adds pieces. What is no list of objects is ignored.
func (d *details) add(raw json.RawMessage) {
	var pieces []map[string]json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &pieces) != nil {
		return
	}
	if d.bytes += len(raw); d.bytes > llm.ReplyLimit {
		return
	}
	for _, piece := range pieces {
		last := len(d.parts) - 1
		same := last >= 0 && piece["index"] != nil && bytes.Equal(d.parts[last]["index"], piece["index"]) && bytes.Equal(d.parts[last]["type"], piece["type"])
		if !same {
			d.parts, d.texts = append(d.parts, map[string]json.RawMessage{}), append(d.texts, map[string]*strings.Builder{})
			last++
		}
		for key, value := range piece {
			var text string
			switch {
			case slices.Contains([]string{"text", "summary", "data"}, key) && json.Unmarshal(value, &text) == nil && string(value) != "null":
				if d.texts[last][key] == nil {
					d.texts[last][key] = &strings.Builder{}
				}
				d.texts[last][key].WriteString(text)
			case string(value) != "null" || d.parts[last][key] == nil:
				d.parts[last][key] = value
			}
		}
	}
}

// all returns the parts. They are not whole, and none is returned, if they are too long.
func (d *details) all() (all []json.RawMessage) {
	if d.bytes > llm.ReplyLimit {
		return nil
	}
	for i, part := range d.parts {
		whole := map[string]any{}
		for key, value := range maps.All(part) {
			whole[key] = value
		}
		for key, text := range d.texts[i] {
			whole[key] = text.String()
		}
		if encoded, err := json.Marshal(whole); err == nil {
			all = append(all, encoded)
		}
	}
	return all
}
