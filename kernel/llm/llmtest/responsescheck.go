package llmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// responsesFields are the fields of a request that are documented and not in [responsesRequest]. What they
// hold is not checked.
var responsesFields = []string{
	"background", "context_management", "conversation", "max_tool_calls", "metadata", "moderation", "previous_response_id", "prompt", "prompt_cache_options",
	"prompt_cache_retention", "safety_identifier", "service_tier", "stream_options", "tool_choice", "top_logprobs", "top_p", "truncation", "user",
}

// responsesRequest is a request of the Responses API, with the fields that are checked.
type responsesRequest struct {
	Model             string            `json:"model"`
	Instructions      string            `json:"instructions"`
	Input             []json.RawMessage `json:"input"`
	Tools             []functionTool    `json:"tools"`
	Include           []string          `json:"include"`
	Stream            bool              `json:"stream"`
	Store             *bool             `json:"store"`
	MaxOutputTokens   *int              `json:"max_output_tokens"`
	Temperature       *float64          `json:"temperature"`
	Reasoning         reasoningSetting  `json:"reasoning"`
	PromptCacheKey    string            `json:"prompt_cache_key"`
	ParallelToolCalls *bool             `json:"parallel_tool_calls"`
	Text              struct {
		Format    *textFormat `json:"format"`
		Verbosity string      `json:"verbosity"`
	} `json:"text"`
}

type reasoningSetting struct {
	Effort  string `json:"effort"`
	Summary string `json:"summary"`
	Context string `json:"context"`
}

type textFormat struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Schema      json.RawMessage `json:"schema"`
	Strict      bool            `json:"strict"`
}

type functionTool struct {
	Type        string          `json:"type"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      *bool           `json:"strict"` // true if it is left out
}

// inputItem is an item of the input: a message, a call, a result or a thought.
type inputItem struct {
	Type      string          `json:"type"`
	ID        string          `json:"id"`
	Status    string          `json:"status"`
	Role      string          `json:"role"`
	Phase     string          `json:"phase"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"call_id"`
	Name      string          `json:"name"`
	Arguments string          `json:"arguments"`
	Output    json.RawMessage `json:"output"`
	Summary   json.RawMessage `json:"summary"`
	Encrypted string          `json:"encrypted_content"`
}

// inputPart is a part of a message.
type inputPart struct {
	Type        string          `json:"type"`
	Text        string          `json:"text"`
	ImageURL    string          `json:"image_url"`
	Detail      string          `json:"detail"`
	Refusal     string          `json:"refusal"`
	Annotations json.RawMessage `json:"annotations"`
	Logprobs    json.RawMessage `json:"logprobs"`
}

// message returns an item that is one.
func (i inputItem) message() Message {
	m := Message{Role: i.Role}
	if json.Unmarshal(i.Content, &m.Content) == nil {
		return m
	}
	var parts []inputPart
	if json.Unmarshal(i.Content, &parts) != nil {
		return m
	}
	for _, p := range parts {
		m.Content += p.Text + p.Refusal
		if p.ImageURL != "" {
			m.Images = append(m.Images, p.ImageURL)
		}
	}
	return m
}

// refusal is an error in the words of OpenAI. A word with a colon before it is its code.
type refusal string

func (r refusal) Error() string { return string(r) }

func refusef(format string, values ...any) error { return refusal(fmt.Sprintf(format, values...)) }

// strictly decodes JSON and refuses fields that are not known.
func strictly(data []byte, value any) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(value); err != nil {
		if name, ok := strings.CutPrefix(err.Error(), "json: unknown field "); ok {
			return refusef("unknown_parameter: Unknown parameter: %s", name)
		}
		return refusef("invalid_type: Invalid type: %v", err)
	}
	return nil
}

// readResponsesRequest reads a request.
func readResponsesRequest(body []byte) (responsesRequest, error) {
	var w responsesRequest
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return w, refusef("invalid_type: Invalid type: %v", err)
	}
	for _, name := range responsesFields {
		delete(fields, name)
	}
	checked, err := json.Marshal(fields)
	if err != nil {
		return w, err
	}
	return w, strictly(checked, &w)
}

// thinks reports whether a model is one that thinks, by its name.
func thinks(model string) bool { return !strings.HasPrefix(model, "gpt-4") }

// checkResponse returns an error for a request that OpenAI refuses.
func checkResponse(received Received) error {
	w, err := readResponsesRequest(received.Body)
	if err != nil {
		return err
	}
	switch {
	case w.Model == "":
		return refusef("missing_required_parameter: Missing required parameter: 'model'.")
	case len(w.Input) == 0:
		return refusef("missing_required_parameter: Missing required parameter: 'input'.")
	case w.MaxOutputTokens != nil && *w.MaxOutputTokens < 16:
		return refusef("integer_below_min_value: Invalid 'max_output_tokens': integer below minimum value. Expected a value >= 16")
	case len(w.PromptCacheKey) > 64:
		return refusef("string_above_max_length: Invalid 'prompt_cache_key': string too long")
	case w.Temperature != nil && strings.HasPrefix(w.Model, "gpt-5"):
		return refusef("Unsupported parameter: 'temperature' is not supported with this model.")
	case len(w.Include) > 0 && !thinks(w.Model):
		return refusef("Encrypted content is not supported with this model.")
	case w.Reasoning.Effort != "" && !slices.Contains([]string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}, w.Reasoning.Effort):
		return refusef("invalid_value: Invalid value: '%s'", w.Reasoning.Effort)
	case w.Text.Format != nil && w.Text.Format.Strict:
		if !functionName(w.Text.Format.Name) {
			return refusef("missing_required_parameter: Missing required parameter: 'text.format.name'.")
		}
		if err := StrictSchema(w.Text.Format.Schema); err != nil {
			return err
		}
	}
	for _, name := range w.Include {
		if name != "reasoning.encrypted_content" {
			return refusef("invalid_value: Invalid value: '%s'", name)
		}
	}
	if err := checkFunctionTools(w.Tools); err != nil {
		return err
	}
	return checkInput(w)
}

// checkFunctionTools checks the functions that are offered.
func checkFunctionTools(tools []functionTool) error {
	names := map[string]bool{}
	for i, t := range tools {
		var schema struct{ Type string }
		switch {
		case t.Type != "function" || !functionName(t.Name):
			return refusef("invalid_value: Invalid 'tools[%d].name': %q", i, t.Name)
		case names[t.Name]:
			return refusef("invalid_value: tools: Tool names must be unique: %q", t.Name)
		case json.Unmarshal(t.Parameters, &schema) != nil || schema.Type != "object":
			return refusef("invalid_function_parameters: Invalid schema for function '%s': schema must be a JSON Schema of 'type: \"object\"'", t.Name)
		}
		names[t.Name] = true
		if t.Strict == nil || *t.Strict {
			if err := strictSchema("function '"+t.Name+"'", t.Parameters); err != nil {
				return err
			}
		}
	}
	return nil
}

// inputCheck is the state of the conversation while it is checked.
type inputCheck struct {
	model   string
	open    []string // calls without results
	results bool     // some of the open calls have had theirs
	ids     map[string]bool
	calls   map[string]bool
	thought *inputItem // the thought before, whose item has to follow
}

// checkInput checks the items of the conversation and their order.
func checkInput(w responsesRequest) error {
	c := inputCheck{model: w.Model, ids: map[string]bool{}, calls: map[string]bool{}}
	for at, raw := range w.Input {
		var i inputItem
		if err := strictly(raw, &i); err != nil {
			return refusef("%v (input[%d])", err, at)
		}
		if err := c.item(&i, at); err != nil {
			return err
		}
	}
	if c.thought != nil {
		return withoutFollowing(c.thought)
	}
	return c.answered()
}

// answered returns an error if a call has no result.
func (c *inputCheck) answered() error {
	if len(c.open) > 0 {
		return refusef("No tool output found for function call %s.", c.open[0])
	}
	return nil
}

// withoutFollowing returns the error for a thought from which nothing follows.
func withoutFollowing(thought *inputItem) error {
	return refusef("Item '%s' of type 'reasoning' was provided without its required following item.", thought.ID)
}

// item checks an item.
func (c *inputCheck) item(i *inputItem, at int) error {
	if i.ID != "" && c.ids[i.ID] {
		return refusef("Duplicate item found with id %s. Remove duplicate items from your input and try again.", i.ID)
	}
	c.ids[i.ID] = true
	if c.thought != nil {
		if _, _, following, _ := decrypted(c.thought.Encrypted); following != i.CallID && following != "" || i.Type == "reasoning" || following == "" && (i.Type != "message" || i.Role != "assistant") {
			return withoutFollowing(c.thought)
		}
		c.thought = nil
	}
	switch i.Type {
	case "", "message":
		if err := c.answered(); err != nil {
			return err
		}
		return checkInputMessage(i, at)
	case "function_call":
		return c.call(i, at)
	case "function_call_output":
		var text string
		if index := slices.Index(c.open, i.CallID); index < 0 {
			return refusef("No tool call found for function call output with call_id %s.", i.CallID)
		} else if c.open = slices.Delete(c.open, index, index+1); json.Unmarshal(i.Output, &text) != nil {
			return refusef("invalid_type: Invalid type for 'input[%d].output': expected a string", at)
		}
		c.results = len(c.open) > 0
		return nil
	case "reasoning":
		return c.reasoning(i, at)
	}
	return refusef("invalid_value: Invalid value: '%s'. (input[%d].type)", i.Type, at)
}

// call checks a call.
func (c *inputCheck) call(i *inputItem, at int) error {
	switch {
	case c.results:
		return c.answered()
	case i.CallID == "" || !functionName(i.Name) || !object(i.Arguments):
		return refusef("invalid_value: Invalid 'input[%d]': %+v", at, *i)
	case i.ID != "" && !strings.HasPrefix(i.ID, "fc"):
		return refusef("invalid_value: Invalid 'input[%d].id': '%s'. Expected an ID that begins with 'fc'.", at, i.ID)
	case c.calls[i.CallID]:
		return refusef("Duplicate function call found with call_id %s.", i.CallID)
	}
	c.calls[i.CallID] = true
	c.open = append(c.open, i.CallID)
	return nil
}

// reasoning checks a thought: it is one that this server has sent to this model, and it is unchanged.
func (c *inputCheck) reasoning(i *inputItem, at int) error {
	if c.results {
		return c.answered()
	}
	if i.Encrypted == "" {
		return refusef("Item with id '%s' not found. Items are not persisted when `store` is set to false.", i.ID)
	}
	model, id, _, ok := decrypted(i.Encrypted)
	if !ok || id != i.ID || model != c.model {
		return refusef("invalid_encrypted_content: The encrypted content for item %s could not be verified. Reason: Encrypted content could not be decrypted or parsed.", i.ID)
	}
	if len(i.Summary) == 0 {
		return refusef("missing_required_parameter: Missing required parameter: 'input[%d].summary'.", at)
	}
	c.thought = i
	return nil
}

// checkInputMessage checks a message.
func checkInputMessage(i *inputItem, at int) error {
	if !slices.Contains([]string{"user", "assistant", "system", "developer"}, i.Role) {
		return refusef("invalid_value: Invalid value: '%s'. Supported values are: 'assistant', 'system', 'developer', and 'user'. (input[%d].role)", i.Role, at)
	}
	var text string
	if json.Unmarshal(i.Content, &text) == nil && len(i.Content) > 0 && string(i.Content) != "null" {
		return nil
	}
	var parts []json.RawMessage
	if json.Unmarshal(i.Content, &parts) != nil || len(parts) == 0 {
		return refusef("invalid_type: Invalid type for 'input[%d].content': expected one of an array of objects or string", at)
	}
	supported := []string{"input_text", "input_image", "input_file"}
	if i.Role == "assistant" {
		supported = []string{"output_text", "refusal"}
	}
	for _, raw := range parts {
		var p inputPart
		if err := strictly(raw, &p); err != nil {
			return err
		}
		if !slices.Contains(supported, p.Type) {
			return refusef("invalid_value: Invalid value: '%s'. Supported values are: '%s'. (input[%d].content)", p.Type, strings.Join(supported, "', '"), at)
		}
	}
	return nil
}
