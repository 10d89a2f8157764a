package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"org-agent/kernel/llm"
)

// body is a request for a reply. Its messages are composed from a request of the kernel, again if they are
// to have no thoughts.
type body struct {
	Model         string
	MaxTokens     int
	System, Tools []*block
	Messages      []message
	fields        map[string]any // the others

	request  llm.Request
	writer   string
	thoughts bool // the messages have thoughts of the model
	amended  int  // how often the server's refusal has changed the request
}

// schemaUnions is how many values of two types the server takes in a schema, by "Structured outputs, JSON Schema
// limitations" of its documentation. It bounds the size of what it compiles of one as well, and does not tell it.
const schemaUnions = 16

// compose returns the request for a reply of a model.
func (p *Provider) compose(request llm.Request, model string) (*body, error) {
	asked := &body{Model: model, MaxTokens: request.MaxTokens, request: request, writer: llm.Writer(p.config.Name, model), fields: map[string]any{}}
	if asked.MaxTokens == 0 {
		asked.MaxTokens = p.replyLimit(model)
	}
	switch {
	case p.config.Effort == "none":
		asked.fields["thinking"] = map[string]any{"type": "disabled"}
	case p.config.Effort != "":
		asked.fields["output_config"] = map[string]any{"effort": p.config.Effort}
		if since(model, 4, 6) {
			asked.fields["thinking"] = map[string]any{"type": "adaptive", "display": "summarized"}
		}
	}
	if len(request.Stop) > 0 {
		asked.fields["stop_sequences"] = request.Stop
	}
	maps.Copy(asked.fields, p.config.Body)
	if _, set := asked.fields["temperature"]; !set && request.Temperature != nil && asked.thinking() == "" && !since(model, 4, 7) {
		asked.fields["temperature"] = *request.Temperature
	}
	if request.Schema != nil {
		output := map[string]any{"format": map[string]any{"type": "json_schema", "schema": request.Schema(schemaUnions)}}
		if set, ok := asked.fields["output_config"].(map[string]any); ok {
			maps.Copy(output, set)
		}
		asked.fields["output_config"] = output
	}
	asked.System = system(request)
	tools, err := tools(request)
	if err != nil {
		return nil, err
	}
	asked.Tools = tools
	if asked.Messages, asked.thoughts, err = messages(request, asked.writer); err != nil {
		return nil, err
	}
	if asked.thinking() == "enabled" && lacksThought(asked.Messages) {
		delete(asked.fields, "thinking") // such a turn must begin with a thought, which another model had
	}
	asked.mark()
	return asked, nil
}

// thinking returns how the model is told to think, "" if it is told not to, or nothing.
func (b *body) thinking() string {
	set, ok := b.fields["thinking"].(map[string]any)
	if kind, _ := set["type"].(string); ok && kind != "disabled" {
		return kind
	}
	return ""
}

// forget composes the messages without thoughts, and reports whether they can be.
func (b *body) forget() bool {
	messages, _, err := messages(b.request, "")
	if err != nil {
		return false
	}
	if b.thinking() == "enabled" {
		delete(b.fields, "thinking")
	}
	b.Messages, b.thoughts = messages, false
	b.mark()
	return true
}

// resume adds a reply that has paused, so that the server goes on with it.
func (b *body) resume(content []any) {
	if len(content) == 0 {
		return // it has written nothing yet
	}
	b.Messages = append(b.Messages, message{llm.RoleAssistant, content})
}

// encode returns the request as JSON. Equal parts of requests are equal bytes.
func (b *body) encode() ([]byte, error) {
	fields := map[string]any{"model": b.Model, "max_tokens": b.MaxTokens, "stream": true}
	if len(b.System) > 0 {
		fields["system"] = b.System
	}
	if len(b.Tools) > 0 {
		fields["tools"] = b.Tools
	}
	maps.Copy(fields, b.fields)
	fields["messages"] = b.Messages
	var encoded bytes.Buffer
	encoder := json.NewEncoder(&encoded)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(fields); err != nil {
		return nil, fmt.Errorf("encode the request: %w", err)
	}
	return bytes.TrimSpace(encoded.Bytes()), nil
}

// system returns the system prompt: the sections that stay, and behind them the others.
func system(request llm.Request) (blocks []*block) {
	var stays, changes []llm.Section
	for i, s := range request.Sections {
		if !s.Stable {
			stays, changes = request.Sections[:i], request.Sections[i:]
			break
		}
		stays = request.Sections[:i+1]
	}
	for _, part := range [][]llm.Section{stays, changes} {
		if text := (llm.Request{Sections: part}).System(); strings.TrimSpace(text) != "" {
			blocks = append(blocks, &block{Type: "text", Text: text})
		}
	}
	if len(blocks) > 0 && len(stays) > 0 {
		blocks[0].cache()
	}
	return blocks
}

// tools returns the tools that a request offers.
func tools(request llm.Request) (list []*block, err error) {
	for _, t := range request.Tools {
		var parameters any
		if t.Schema != nil {
			parameters = t.Schema()
		}
		schema, err := schema(parameters)
		if err != nil {
			return nil, fmt.Errorf("encode the schema of %s: %w", t.Name, err)
		}
		list = append(list, &block{Name: llm.FunctionName(t.Name), Description: t.Description, Schema: schema})
	}
	if len(list) > 0 && !slices.ContainsFunc(request.Sections, func(s llm.Section) bool { return s.Stable }) {
		list[len(list)-1].cache() // otherwise the mark of the system prompt, which comes behind, is for both
	}
	return list, nil
}

// alternatives are what the server refuses at the top of a schema.
var alternatives = []string{"oneOf", "anyOf", "allOf"}

// schema returns a schema of parameters as the server takes it: of an object, without alternatives at its
// top, and without fields whose names it refuses. The kernel checks calls by its own schema.
func schema(parameters any) (json.RawMessage, error) {
	encoded, err := json.Marshal(parameters)
	if err != nil {
		return nil, err
	}
	var top map[string]json.RawMessage
	if err := json.Unmarshal(encoded, &top); err != nil || top == nil {
		return json.RawMessage(`{"type":"object","properties":{}}`), nil
	}
	changed := string(top["type"]) != `"object"`
	top["type"] = json.RawMessage(`"object"`)
	for _, name := range alternatives {
		if _, there := top[name]; there {
			delete(top, name)
			changed = true
		}
	}
	var properties map[string]json.RawMessage
	var required []string
	if json.Unmarshal(top["properties"], &properties) == nil {
		before := len(properties)
		maps.DeleteFunc(properties, func(name string, _ json.RawMessage) bool { return !propertyName(name) })
		if len(properties) != before {
			changed = true
			if top["properties"], err = json.Marshal(properties); err != nil {
				return nil, err
			}
			if json.Unmarshal(top["required"], &required) == nil {
				required = slices.DeleteFunc(required, func(name string) bool { return !propertyName(name) })
				if top["required"], err = json.Marshal(append([]string{}, required...)); err != nil {
					return nil, err
				}
			}
		}
	}
	if !changed {
		return encoded, nil
	}
	return json.Marshal(top)
}

// propertyName reports whether the server takes a name of a field.
func propertyName(name string) bool {
	return name != "" && len(name) <= 64 && !strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-' && c != '.'
	})
}
