package anthropic

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"

	"org-agent/kernel/llm"
)

// message is one message of a conversation. Its content are blocks: a *block, or one as the server sent it.
type message struct {
	Role    llm.Role `json:"role"`
	Content []any    `json:"content"`
}

// block is a block of a message or of the system prompt, or a tool.
type block struct {
	Type        string          `json:"type,omitempty"`
	Text        string          `json:"text,omitempty"`
	ID          string          `json:"id,omitempty"`
	Name        string          `json:"name,omitempty"`
	Description string          `json:"description,omitempty"`
	Schema      json.RawMessage `json:"input_schema,omitempty"`
	Input       json.RawMessage `json:"input,omitempty"`
	CallID      string          `json:"tool_use_id,omitempty"`
	Content     string          `json:"content,omitempty"` // of a result
	IsError     bool            `json:"is_error,omitempty"`
	Source      *source         `json:"source,omitempty"` // of an image
	Cache       *breakpoint     `json:"cache_control,omitempty"`
}

// source is an image.
type source struct {
	Type  string `json:"type"`
	Media string `json:"media_type"`
	Data  string `json:"data"`
}

// breakpoint says that all up to the end of its block will be sent again. The server keeps it for minutes.
type breakpoint struct {
	Type string `json:"type"`
}

// cache marks the end of the block.
func (b *block) cache() { b.Cache = &breakpoint{"ephemeral"} }

// written are the fields of a block that a model wrote.
type written struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

// isThought reports whether a block is a thought, shown or not.
func (w written) isThought() bool { return w.Type == "thinking" || w.Type == "redacted_thinking" }

// conversation makes the messages of a request.
type conversation struct {
	writer   string
	messages []message
	ids      map[string]string // of calls, as they are sent
	used     map[string]bool   // the ids that are sent
	thoughts bool
}

// messages returns the conversation. Thoughts are in it if writer wrote them, so that "" leaves them out.
func messages(request llm.Request, writer string) (all []message, thoughts bool, err error) {
	c := conversation{writer: writer, ids: map[string]string{}, used: map[string]bool{}}
	for _, m := range request.Messages {
		calls, results, ok := m.Functions()
		switch {
		case !ok:
			return nil, false, &llm.Error{Class: llm.ClassBadRequest, Message: "a message is in no dialect that this server is asked in"}
		case len(calls) > 0:
			c.add(llm.RoleAssistant, c.withCalls(m, calls)...)
		case len(results) > 0:
			for _, r := range results {
				c.add(llm.RoleUser, &block{Type: "tool_result", CallID: c.ids[r.Call.Function.ID], Content: r.Text, IsError: r.Failure != nil})
			}
		default:
			c.add(m.Role, plain(m)...)
		}
	}
	if last := len(c.messages) - 1; last >= 0 && c.messages[last].Role == llm.RoleAssistant {
		c.trim(last)
	}
	return c.messages, c.thoughts, nil
}

// add adds blocks of a role. Messages of the same role that follow one another are one.
func (c *conversation) add(role llm.Role, content ...any) {
	if len(content) == 0 {
		return
	}
	if last := len(c.messages) - 1; last >= 0 && c.messages[last].Role == role {
		c.messages[last].Content = append(c.messages[last].Content, content...)
		return
	}
	c.messages = append(c.messages, message{role, content})
}

// trim removes the white space at the end of a message of the model that the model is to continue.
func (c *conversation) trim(last int) {
	content := c.messages[last].Content
	if b, ok := content[len(content)-1].(*block); ok {
		b.Text = strings.TrimRight(b.Text, " \t\r\n")
	}
}

// plain returns the blocks of a message without calls and results: the images, then the text.
func plain(m llm.Message) (content []any) {
	for _, image := range m.Images {
		content = append(content, &block{Type: "image", Source: &source{"base64", image.Media, base64.StdEncoding.EncodeToString(image.Data)}})
	}
	if strings.TrimSpace(m.Text) != "" {
		content = append(content, &block{Type: "text", Text: m.Text})
	}
	return content
}

// withCalls returns the blocks of a message with calls. If the same model wrote it and it still has the
// same calls, that is what the model wrote. If its calls have changed, at least its thoughts are kept.
func (c *conversation) withCalls(m llm.Message, calls []llm.FunctionCall) (content []any) {
	var original []json.RawMessage
	if data := m.Original.By(c.writer); data == nil || json.Unmarshal(data, &original) != nil {
		original = nil
	}
	blocks := make([]written, len(original))
	var made []written
	for i, raw := range original {
		if json.Unmarshal(raw, &blocks[i]) != nil {
			blocks[i] = written{}
		}
		if blocks[i].Type == "tool_use" {
			made = append(made, blocks[i])
		}
		c.thoughts = c.thoughts || blocks[i].isThought()
	}
	if c.same(m, calls, made) {
		for i, w := range made {
			c.ids[calls[i].ID] = w.ID
			c.used[w.ID] = true
		}
		for _, raw := range original {
			content = append(content, raw)
		}
		return content
	}
	for i, w := range blocks {
		if w.isThought() {
			content = append(content, original[i])
		}
	}
	content = append(content, plain(m)...)
	for _, call := range calls {
		content = append(content, &block{Type: "tool_use", ID: c.id(call.ID), Name: llm.FunctionName(call.Name), Input: input(call.Arguments)})
	}
	return content
}

// same reports whether the calls of a message are those that the model wrote.
func (c *conversation) same(m llm.Message, calls []llm.FunctionCall, made []written) bool {
	names := make([]string, len(made))
	for i, w := range made {
		names[i] = w.Name
	}
	if len(made) == 0 || !m.Matches(names) {
		return false
	}
	ids := map[string]bool{}
	for i, w := range made {
		if c.used[w.ID] || ids[w.ID] || !isID(w.ID) || llm.ArgumentsOf(string(w.Input), string(input(calls[i].Arguments))) != string(w.Input) {
			return false
		}
		ids[w.ID] = true
	}
	return true
}

// input returns arguments as a JSON object.
func input(arguments string) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &fields) == nil && fields != nil {
		return json.RawMessage(arguments)
	}
	unreadable, err := json.Marshal(map[string]string{"unreadable": arguments})
	if err != nil || strings.TrimSpace(arguments) == "" {
		return json.RawMessage("{}")
	}
	return unreadable
}

// id returns the id of a call as the server takes it. It depends on the id alone, so that a longer
// conversation begins with the same ones.
func (c *conversation) id(of string) string {
	sent := of
	if !isID(of) || c.used[of] {
		hash := sha256.Sum256([]byte(of))
		sent = "toolu_" + hex.EncodeToString(hash[:12])
	}
	c.ids[of], c.used[sent] = sent, true
	return sent
}

// isID reports whether the server takes an id.
func isID(id string) bool {
	return id != "" && !strings.ContainsFunc(id, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-'
	})
}

// lacksThought reports whether the model's part of the running turn does not begin with a thought.
func lacksThought(all []message) bool {
	last := len(all) - 1
	for i := last; i >= 0; i-- {
		if !begins(all[i]) {
			continue
		}
		if i == last {
			return false // it has not begun
		}
		var first written
		raw, ok := all[i+1].Content[0].(json.RawMessage)
		return !ok || json.Unmarshal(raw, &first) != nil || !first.isThought()
	}
	return false
}

// begins reports whether a message begins a turn: it is the user's and has no results.
func begins(m message) bool {
	first, ok := m.Content[0].(*block)
	return m.Role == llm.RoleUser && (!ok || first.Type != "tool_result")
}

// marksLimit is how many marks the messages have, beside the one of the system prompt or the tools. The
// server refuses more than four together.
const marksLimit = 3

// mark puts marks into the messages: at the end of what is sent now; at the end of what was sent before,
// because the server looks back only 20 blocks for it; and at the last beginning of a turn before that,
// because what is behind it may be shown in another way when the turn is over.
func (b *body) mark() {
	marks := 0
	for i := len(b.Messages) - 1; i >= 0 && marks < marksLimit; i-- {
		if m := b.Messages[i]; m.Role == llm.RoleUser && (marks < marksLimit-1 || begins(m)) {
			markEnd(m)
			marks++
		}
	}
}

// markEnd marks the end of a message.
func markEnd(m message) {
	if b, ok := m.Content[len(m.Content)-1].(*block); ok {
		b.cache()
	}
}
