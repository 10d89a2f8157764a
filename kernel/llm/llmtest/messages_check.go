package llmtest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// messagesRequest is a request for a reply by Anthropic's Messages. Its blocks are as they were sent.
type messagesRequest struct {
	Model       string          `json:"model"`
	MaxTokens   int             `json:"max_tokens"`
	System      json.RawMessage `json:"system"`
	Messages    []turn          `json:"messages"`
	Tools       []fields        `json:"tools"`
	ToolChoice  *fields         `json:"tool_choice"`
	Stream      *bool           `json:"stream"`
	Temperature *float64        `json:"temperature"`
	TopP        *float64        `json:"top_p"`
	TopK        *int            `json:"top_k"`
	Stop        []string        `json:"stop_sequences"`
	Thinking    *struct {
		Type    string `json:"type"`
		Budget  int    `json:"budget_tokens"`
		Display string `json:"display"`
	} `json:"thinking"`
	Output *struct {
		Effort string          `json:"effort"`
		Format json.RawMessage `json:"format"`
	} `json:"output_config"`
	Metadata    *fields `json:"metadata"`
	ServiceTier string  `json:"service_tier"`

	bound    bool
	prefixes []prefix // one for each block
	begins   []int    // of the messages, in prefixes
}

// turn is one message.
type turn struct {
	Role    string          `json:"role"`
	Content json.RawMessage `json:"content"`
}

// fields are the fields of a block.
type fields map[string]json.RawMessage

// text returns a field that is a string, or "".
func (f fields) text(name string) (text string) {
	_ = json.Unmarshal(f[name], &text) // anything else is no text
	return text
}

// blocks returns the blocks of a content, which may be a text alone.
func blocks(content json.RawMessage) (all []fields, err error) {
	var text string
	if json.Unmarshal(content, &text) == nil {
		quoted, err := json.Marshal(text)
		return []fields{{"type": json.RawMessage(`"text"`), "text": quoted}}, err
	}
	err = json.Unmarshal(content, &all)
	return all, err
}

// messagesOf returns a request that was checked.
func messagesOf(r Received) *messagesRequest {
	var c messagesRequest
	_ = json.Unmarshal(r.Body, &c) // it was checked
	return &c
}

// checkMessages returns an error for a request that Anthropic refuses.
func checkMessages(r Received) error {
	if r.Header.Get("Anthropic-Version") != "2023-06-01" {
		return errors.New("anthropic-version: header is required")
	}
	decoder := json.NewDecoder(bytes.NewReader(r.Body))
	decoder.DisallowUnknownFields()
	c := messagesRequest{bound: r.bound}
	if err := decoder.Decode(&c); err != nil {
		return fmt.Errorf("%w: Extra inputs are not permitted", err)
	}
	for _, check := range []func() error{c.checkFields, c.checkThinking, c.checkTools, c.checkSystem, c.checkMessages, c.checkMarks} {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkFields checks what is one number or one text.
func (c *messagesRequest) checkFields() error {
	switch {
	case c.Model == "":
		return errors.New("model: Field required")
	case c.MaxTokens < 1:
		return errors.New("max_tokens: Field required")
	case c.Temperature != nil && (*c.Temperature < 0 || *c.Temperature > 1):
		return errors.New("temperature: range: 0..1")
	case slices.ContainsFunc(c.Stop, func(s string) bool { return strings.TrimSpace(s) == "" }):
		return errors.New("stop_sequences: each stop sequence must contain non-whitespace")
	case len(c.Messages) == 0:
		return errors.New("messages: at least one message is required")
	case c.Messages[0].Role != "user":
		return errors.New("messages: first message must use the \"user\" role")
	}
	return nil
}

// checkThinking checks how the model is to think.
func (c *messagesRequest) checkThinking() error {
	if c.Output != nil && !slices.Contains([]string{"", "low", "medium", "high", "xhigh", "max"}, c.Output.Effort) {
		return errors.New("output_config.effort: Input should be 'low', 'medium', 'high', 'xhigh' or 'max'")
	}
	if c.Output != nil {
		if err := checkOutputFormat(c.Output.Format); err != nil {
			return err
		}
	}
	if c.Thinking == nil || c.Thinking.Type == "disabled" {
		return nil
	}
	switch t := c.Thinking; {
	case t.Type == "enabled" && t.Budget < 1024:
		return errors.New("thinking.enabled.budget_tokens: Input should be greater than or equal to 1024")
	case t.Type == "enabled" && t.Budget >= c.MaxTokens:
		return errors.New("`max_tokens` must be greater than `thinking.budget_tokens`")
	case t.Type == "adaptive" && t.Budget != 0:
		return errors.New("thinking.adaptive.budget_tokens: Extra inputs are not permitted")
	case t.Type != "enabled" && t.Type != "adaptive":
		return fmt.Errorf("thinking.type: %q is not 'enabled', 'adaptive' or 'disabled'", t.Type)
	case !slices.Contains([]string{"", "summarized", "omitted"}, t.Display):
		return errors.New("thinking.display: Input should be 'summarized' or 'omitted'")
	case c.Temperature != nil && *c.Temperature != 1:
		return errors.New("`temperature` may only be set to 1 when thinking is enabled")
	}
	return nil
}

var (
	toolName     = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,128}$`)
	callID       = regexp.MustCompile(`^[a-zA-Z0-9_-]+$`)
	propertyName = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)
)

// checkTools checks the tools.
func (c *messagesRequest) checkTools() error {
	names := map[string]bool{}
	for i, t := range c.Tools {
		name := t.text("name")
		if err := only(t, "name", "description", "input_schema", "cache_control", "type", "strict", "defer_loading"); err != nil {
			return fmt.Errorf("tools.%d.custom.%w", i, err)
		}
		var schema struct {
			Type                string
			Properties          map[string]json.RawMessage
			OneOf, AnyOf, AllOf json.RawMessage
			Required            []string
		}
		err := json.Unmarshal(t["input_schema"], &schema)
		switch {
		case !toolName.MatchString(name):
			return fmt.Errorf("tools.%d.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'", i)
		case names[name]:
			return errors.New("tools: Tool names must be unique")
		case err != nil || schema.Type != "object":
			return fmt.Errorf("tools.%d.custom.input_schema.type: Input should be 'object'", i)
		case len(schema.OneOf)+len(schema.AnyOf)+len(schema.AllOf) > 0:
			return fmt.Errorf("tools.%d.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level", i)
		}
		for property := range schema.Properties {
			if !propertyName.MatchString(property) {
				return fmt.Errorf("tools.%d.custom.input_schema.properties: Property keys should match pattern '^[a-zA-Z0-9_.-]{1,64}$'", i)
			}
		}
		names[name] = true
	}
	return nil
}

// only returns an error for a field that is none of these.
func only(f fields, names ...string) error {
	for name := range f {
		if !slices.Contains(names, name) {
			return fmt.Errorf("%s: Extra inputs are not permitted", name)
		}
	}
	return nil
}

// checkSystem checks the system prompt.
func (c *messagesRequest) checkSystem() error {
	if len(c.System) == 0 {
		return nil
	}
	all, err := blocks(c.System)
	if err != nil {
		return fmt.Errorf("system: Input should be a valid list: %w", err)
	}
	for i, b := range all {
		if b.text("type") != "text" {
			return fmt.Errorf("system.%d.type: Input should be 'text'", i)
		}
		if err := checkBlock(b, "system"); err != nil {
			return fmt.Errorf("system.%d.%w", i, err)
		}
	}
	return nil
}

// checkMessages checks the messages and what follows on what.
func (c *messagesRequest) checkMessages() error {
	var open []string // calls of the message before
	used := map[string]bool{}
	for i, m := range c.Messages {
		if m.Role != "user" && m.Role != "assistant" {
			return fmt.Errorf("messages.%d.role: Input should be 'user' or 'assistant'", i)
		}
		content, err := blocks(m.Content)
		if err != nil || len(content) == 0 {
			return fmt.Errorf("messages.%d: all messages must have non-empty content", i)
		}
		if err := checkResults(content, m.Role, open); err != nil {
			return fmt.Errorf("messages.%d: %w", i, err)
		}
		open = nil
		for k, b := range content {
			if err := checkBlock(b, m.Role); err != nil {
				return fmt.Errorf("messages.%d.content.%d.%w", i, k, err)
			}
			switch b.text("type") {
			case "tool_use":
				id := b.text("id")
				if used[id] {
					return errors.New("messages: `tool_use` ids must be unique")
				}
				used[id] = true
				open = append(open, id)
			case "thinking":
				if err := c.checkSignature(b, i); err != nil {
					return fmt.Errorf("messages.%d.content.%d: %w", i, k, err)
				}
			}
		}
		if first := content[0].text("type"); len(open) > 0 && c.Thinking != nil && c.Thinking.Type == "enabled" && c.opensTurn(i) && first != "thinking" && first != "redacted_thinking" {
			return fmt.Errorf("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block", i, first)
		}
		if last := content[len(content)-1]; i == len(c.Messages)-1 && m.Role == "assistant" && last.text("type") == "text" && strings.TrimRight(last.text("text"), " \t\r\n") != last.text("text") {
			return errors.New("messages: final assistant content cannot end with trailing whitespace")
		}
	}
	if len(open) > 0 {
		return fmt.Errorf("messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s", len(c.Messages)-1, strings.Join(open, ", "))
	}
	return nil
}

// opensTurn reports whether the model's part of the turn that runs begins with a message.
func (c *messagesRequest) opensTurn(message int) bool {
	if before, err := blocks(c.Messages[message-1].Content); err != nil || before[0].text("type") == "tool_result" {
		return false
	}
	for _, m := range c.Messages[message:] {
		if content, err := blocks(m.Content); m.Role == "user" && (err != nil || content[0].text("type") != "tool_result") {
			return false
		}
	}
	return true
}

// checkResults checks the results at the beginning of a message for the calls of the message before.
func checkResults(content []fields, role string, open []string) error {
	var results []string
	others := false
	for _, b := range content {
		if b.text("type") != "tool_result" {
			others = true
			continue
		}
		id := b.text("tool_use_id")
		switch {
		case role != "user":
			return errors.New("`tool_result` blocks can only be in `user` messages")
		case others:
			return errors.New("`tool_result` blocks must come before other content")
		case !slices.Contains(open, id):
			return fmt.Errorf("unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message", id)
		case slices.Contains(results, id):
			return fmt.Errorf("each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s", id)
		}
		results = append(results, id)
	}
	for _, id := range open {
		if !slices.Contains(results, id) {
			return fmt.Errorf("`tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message", id)
		}
	}
	return nil
}

// blockFields are the fields of the blocks. The first are required.
var blockFields = map[string]struct {
	required, optional []string
	roles              []string
}{
	"text":              {[]string{"text"}, []string{"cache_control", "citations"}, []string{"user", "assistant", "system"}},
	"image":             {[]string{"source"}, []string{"cache_control"}, []string{"user"}},
	"tool_use":          {[]string{"id", "name", "input"}, []string{"cache_control"}, []string{"assistant"}},
	"tool_result":       {[]string{"tool_use_id"}, []string{"content", "is_error", "cache_control"}, []string{"user"}},
	"thinking":          {[]string{"thinking", "signature"}, nil, []string{"assistant"}},
	"redacted_thinking": {[]string{"data"}, nil, []string{"assistant"}},
}

// checkBlock checks a block by itself.
func checkBlock(b fields, role string) error {
	kind := b.text("type")
	has, known := blockFields[kind]
	if !known || !slices.Contains(has.roles, role) {
		return fmt.Errorf("type: Input tag '%s' found using 'type' does not match any of the expected tags of role %s", kind, role)
	}
	if err := only(b, slices.Concat(has.required, has.optional, []string{"type"})...); err != nil {
		return fmt.Errorf("%s.%w", kind, err)
	}
	for _, name := range has.required {
		if len(b[name]) == 0 {
			return fmt.Errorf("%s.%s: Field required", kind, name)
		}
	}
	switch kind {
	case "text":
		if strings.TrimSpace(b.text("text")) == "" {
			return errors.New("text: text content blocks must contain non-whitespace text")
		}
	case "image":
		return checkImage(b["source"])
	case "tool_use":
		var input fields
		if json.Unmarshal(b["input"], &input) != nil || input == nil {
			return errors.New("tool_use.input: Input should be a valid dictionary")
		}
		if !callID.MatchString(b.text("id")) || !toolName.MatchString(b.text("name")) {
			return fmt.Errorf("tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$': %s %s", b["id"], b["name"])
		}
	case "redacted_thinking":
		decoded, err := base64.StdEncoding.DecodeString(b.text("data"))
		_, thought, found := strings.Cut(string(decoded), ".")
		if err != nil || !found || redacted(thought) != b.text("data") {
			return errors.New("redacted_thinking.data: invalid `data` in `redacted_thinking` block")
		}
	}
	return nil
}

// checkImage checks the source of an image.
func checkImage(source json.RawMessage) error {
	var image struct {
		Type  string
		Media string `json:"media_type"`
		Data  string
	}
	if err := json.Unmarshal(source, &image); err != nil || image.Type != "base64" {
		return errors.New("image.source.type: Input should be 'base64'")
	}
	if !slices.Contains([]string{"image/png", "image/jpeg", "image/gif", "image/webp"}, image.Media) {
		return errors.New("image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'")
	}
	if data, err := base64.StdEncoding.DecodeString(image.Data); err != nil || len(data) == 0 {
		return errors.New("image.source.base64: invalid base64 data")
	}
	return nil
}

// checkSignature checks the signature of a thought in a message.
func (c *messagesRequest) checkSignature(b fields, message int) error {
	has, want := b.text("signature"), signature(b.text("thinking"), c.before(message))
	own, _, _ := strings.Cut(has, ".")
	if wanted, _, _ := strings.Cut(want, "."); own != wanted {
		return errors.New("invalid `signature` in `thinking` block")
	}
	if c.bound && has != want {
		return errors.New("invalid `signature` in `thinking` block: the block is bound to a different conversation")
	}
	return nil
}

// before returns a hash of all that comes before a message, or of everything for -1.
func (c *messagesRequest) before(message int) string {
	all := c.flat()
	if message >= 0 {
		all = all[:c.begins[message]]
	}
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1].hash
}

// flat returns the beginnings of the request, one for each block: tools, system prompt, messages.
func (c *messagesRequest) flat() []prefix {
	if c.prefixes != nil {
		return c.prefixes
	}
	hash, size := sha256.New(), 0
	add := func(role string, b fields) {
		_, marked := b["cache_control"]
		plain := fields{}
		for name, value := range b {
			if name != "cache_control" {
				plain[name] = value
			}
		}
		encoded, err := json.Marshal(plain)
		if err != nil {
			panic(fmt.Sprintf("llmtest: encode a block that was decoded: %v", err))
		}
		fmt.Fprintf(hash, "%s %d %s", role, len(encoded), encoded)
		size += len(encoded)
		c.prefixes = append(c.prefixes, prefix{hash: hex.EncodeToString(hash.Sum([]byte(c.Model))), bytes: size, marked: marked})
	}
	for _, t := range c.Tools {
		add("tool", t)
	}
	if system, err := blocks(c.System); err == nil {
		for _, b := range system {
			add("system", b)
		}
	}
	for _, m := range c.Messages {
		c.begins = append(c.begins, len(c.prefixes))
		if content, err := blocks(m.Content); err == nil {
			for _, b := range content {
				add(m.Role, b)
			}
		}
	}
	return c.prefixes
}

// messagePrefixes returns the beginnings of a request that was checked.
func messagePrefixes(r Received) []prefix {
	return messagesOf(r).flat()
}

// marksLimit is how many beginnings a request may have kept.
const marksLimit = 4

// checkMarks checks the marks of beginnings that are to be kept.
func (c *messagesRequest) checkMarks() error {
	marks := 0
	for _, p := range c.flat() {
		if p.marked {
			marks++
		}
	}
	if marks > marksLimit {
		return fmt.Errorf("a maximum of %d blocks with cache_control may be provided. Found %d", marksLimit, marks)
	}
	return nil
}
