package responses

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/openai/openai-go/v3/packages/param"
	library "github.com/openai/openai-go/v3/responses"
	"github.com/openai/openai-go/v3/shared"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/openai"
)

// leastOutput is the smallest bound of a reply that the protocol accepts, in tokens.
const leastOutput = 16

// sending says how a request is sent, and what it had.
type sending struct {
	model        string
	encrypted    bool // the model is to send its thinking encrypted
	originals    bool // replies go back as they came
	hasOriginals bool // there was such a reply
}

// parameters returns the request without the conversation and the functions.
func (p *Provider) parameters(request llm.Request, sent *sending) library.ResponseNewParams {
	parameters := library.ResponseNewParams{Model: sent.model, Store: param.NewOpt(false)}
	takes := func(field string) bool { return !slices.Contains(p.refused.Of(sent.model), field) }
	if takes(fieldEffort) {
		parameters.Reasoning.Effort = shared.ReasoningEffort(p.config.Effort)
	}
	if system := request.System(); system != "" {
		parameters.Instructions = param.NewOpt(system)
	}
	if sent.encrypted {
		parameters.Include = []library.ResponseIncludable{library.ResponseIncludableReasoningEncryptedContent}
	}
	if request.MaxTokens > 0 {
		parameters.MaxOutputTokens = param.NewOpt(int64(max(request.MaxTokens, leastOutput)))
	}
	if request.Temperature != nil && !openai.IsReasoningModel(sent.model) && takes(fieldTemperature) {
		parameters.Temperature = param.NewOpt(*request.Temperature)
	}
	if key := cacheKey(request); key != "" && takes(fieldCacheKey) {
		parameters.PromptCacheKey = param.NewOpt(key)
	}
	return parameters
}

// cacheKey returns a name for the conversation, by which its requests come to the same machine of the
// server. It depends on how the conversation begins, which stays.
func cacheKey(request llm.Request) string {
	if len(request.Messages) == 0 {
		return ""
	}
	hash := sha256.Sum256([]byte(request.Messages[0].Text))
	return "org-agent-" + hex.EncodeToString(hash[:8])
}

// tool offers a function. Strict is false, because it is true for OpenAI where it is left out, and then
// every argument is required.
type tool struct {
	Type        string `json:"type"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Parameters  any    `json:"parameters"`
	Strict      bool   `json:"strict"`
}

// noParameters is the schema of a function without arguments.
type noParameters struct {
	Type       string   `json:"type"`
	Properties struct{} `json:"properties"`
}

// body returns the rest of the request.
func (p *Provider) body(request llm.Request, sent *sending) (body, error) {
	fields := map[string]any{}
	var tools []tool
	for _, t := range request.Tools {
		one := tool{Type: "function", Name: llm.FunctionName(t.Name), Description: t.Description}
		if t.Schema != nil {
			one.Parameters = t.Schema()
		}
		if one.Parameters == nil {
			one.Parameters = noParameters{Type: "object"}
		}
		tools = append(tools, one)
	}
	if len(tools) > 0 {
		fields["tools"] = tools
	} else if request.Schema == nil { // servers refuse both together
		maps.Copy(fields, request.GrammarFields(p.config.GrammarField))
	}
	input, err := p.input(request, sent)
	maps.Copy(fields, p.config.Body)
	if request.Schema != nil {
		text := map[string]any{"format": map[string]any{"type": "json_schema", "name": llm.SchemaName, "strict": true, "schema": request.Schema(-1)}}
		if set, ok := fields["text"].(map[string]any); ok {
			maps.Copy(text, set)
		}
		fields["text"] = text
	}
	return body{input: input, fields: fields}, err
}

// item is an item of the conversation.
type item struct {
	Type      string   `json:"type,omitempty"`
	Role      llm.Role `json:"role,omitempty"`
	Content   any      `json:"content,omitempty"` // a string or []part
	CallID    string   `json:"call_id,omitempty"`
	Name      string   `json:"name,omitempty"`
	Arguments *string  `json:"arguments,omitempty"`
	Output    *string  `json:"output,omitempty"`
}

// part is a text or an image in a message.
type part struct {
	Type   string `json:"type"`
	Text   string `json:"text,omitempty"`
	Image  string `json:"image_url,omitempty"`
	Detail string `json:"detail,omitempty"`
}

// conversation is the input of a request while it is made.
type conversation struct {
	items []any             // item, or json.RawMessage as the server sent it
	ids   map[string]string // the server's ids of calls by those of the dialect
	used  map[string]bool   // the ids of calls so far
}

// input returns the conversation as JSON.
func (p *Provider) input(request llm.Request, sent *sending) ([]byte, error) {
	c := conversation{items: make([]any, 0, len(request.Messages)), ids: map[string]string{}, used: map[string]bool{}}
	size := 0
	for _, m := range request.Messages {
		size += len(m.Text) + len(m.Text)/16 + 64 // some of it is escaped
		calls, results, ok := m.Functions()
		switch {
		case !ok:
			return nil, &llm.Error{Class: llm.ClassBadRequest, Message: "a message is in no dialect that this server is asked in"}
		case len(calls) > 0:
			data := m.Original.By(llm.Writer(p.config.Name, sent.model))
			if sent.originals && c.addOriginal(m, data) {
				sent.hasOriginals = true
				continue
			}
			c.addText(m)
			for _, call := range calls {
				c.used[call.ID] = true
				c.items = append(c.items, callItem(call.ID, call))
			}
		case len(results) > 0:
			for _, r := range results {
				size += len(r.Text) + len(r.Text)/16 + 64
				c.addResult(r)
			}
		default:
			c.addText(m)
		}
	}
	var b bytes.Buffer
	b.Grow(size)
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(c.items); err != nil {
		return nil, fmt.Errorf("encode the conversation: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
}

// addText adds the text and the images of a message.
func (c *conversation) addText(m llm.Message) {
	switch {
	case len(m.Images) > 0:
		var parts []part
		for _, image := range m.Images {
			parts = append(parts, part{Type: "input_image", Detail: "auto", Image: "data:" + image.Media + ";base64," + base64.StdEncoding.EncodeToString(image.Data)})
		}
		if m.Text != "" {
			parts = append(parts, part{Type: "input_text", Text: m.Text})
		}
		c.items = append(c.items, item{Role: m.Role, Content: parts})
	case m.Text != "":
		c.items = append(c.items, item{Role: m.Role, Content: m.Text})
	}
}

// callItem returns a call.
func callItem(id string, call llm.FunctionCall) item {
	arguments := call.Arguments
	if arguments == "" {
		arguments = "{}"
	}
	return item{Type: "function_call", CallID: id, Name: call.Name, Arguments: &arguments}
}

// addResult adds the result of a call.
func (c *conversation) addResult(r llm.Result) {
	id := r.Call.Function.ID
	if original, ok := c.ids[id]; ok {
		id = original
	}
	c.items = append(c.items, item{Type: "function_call_output", CallID: id, Output: &r.Text})
}

// addOriginal adds a message with calls as the server sent it, and reports whether it could: the calls
// are still those. A call whose arguments were changed since is sent as it was made. An id that was used
// before is replaced.
func (c *conversation) addOriginal(m llm.Message, data json.RawMessage) bool {
	items, names := originalItems(data)
	if len(names) == 0 || !m.Matches(names) {
		return false
	}
	next := 0
	for _, original := range items {
		if original.Type != typeCall {
			c.items = append(c.items, original.raw)
			continue
		}
		call := *m.Calls[next].Function
		next++
		id := original.CallID
		if id == "" || c.used[id] {
			id = call.ID
		}
		c.used[id], c.ids[call.ID] = true, id
		arguments := llm.ArgumentsOf(original.Arguments, call.Arguments)
		if id == original.CallID && arguments == original.Arguments && original.Name == call.Name {
			c.items = append(c.items, original.raw)
			continue
		}
		call.Arguments = arguments
		c.items = append(c.items, callItem(id, call))
	}
	return true
}

// original is an item of a reply as the server sent it.
type original struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	raw       json.RawMessage
}

// originalItems returns the items of a reply, and the names of the functions that it calls. It returns
// none if they cannot be read.
func originalItems(data json.RawMessage) (items []original, names []string) {
	var raw []json.RawMessage
	if len(data) == 0 || json.Unmarshal(data, &raw) != nil {
		return nil, nil
	}
	for _, r := range raw {
		one := original{raw: r}
		if json.Unmarshal(r, &one) != nil {
			return nil, nil
		}
		if one.Type == typeCall {
			names = append(names, one.Name)
		}
		items = append(items, one)
	}
	return items, names
}
