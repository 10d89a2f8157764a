package openai

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"

	goopenai "github.com/sashabaranov/go-openai"

	"org-agent/kernel/llm"
)

// message is one message of a conversation. The library encodes its own type twice, which takes
// longer than everything else for a request with a long conversation.
type message struct {
	Role    llm.Role `json:"role"`
	Content any      `json:"content"` // a string or []goopenai.ChatMessagePart; nil beside calls
	Calls   []call   `json:"tool_calls,omitempty"`
	CallID  string   `json:"tool_call_id,omitempty"` // of a result

	Thought string            `json:"reasoning_content,omitempty"` // see original
	Details []json.RawMessage `json:"reasoning_details,omitempty"`
}

// roleTool is the role of a message with the result of a call.
const roleTool llm.Role = "tool"

// call is a call of a function.
type call struct {
	ID       string   `json:"id"`
	Type     string   `json:"type"`
	Function function `json:"function"`

	Extra json.RawMessage `json:"extra_content,omitempty"` // see original
}

type function struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// tool offers a function.
type tool struct {
	Type     string `json:"type"`
	Function struct {
		Name        string `json:"name"`
		Description string `json:"description,omitempty"`
		Parameters  any    `json:"parameters"`
	} `json:"function"`
}

// noParameters is the schema of a function without arguments. Some servers refuse one without a schema.
type noParameters struct {
	Type       string   `json:"type"`
	Properties struct{} `json:"properties"`
}

// tools returns the functions that a request offers.
func tools(request llm.Request) (list []tool) {
	for _, t := range request.Tools {
		one := tool{Type: "function"}
		one.Function.Name, one.Function.Description = llm.FunctionName(t.Name), t.Description
		if t.Schema != nil {
			one.Function.Parameters = t.Schema()
		}
		if one.Function.Parameters == nil {
			one.Function.Parameters = noParameters{Type: "object"}
		}
		list = append(list, one)
	}
	return list
}

// messages returns the conversation as JSON. writer is the model that is asked, "" if no reply is to go
// back to it as it came; back reports whether one does.
func messages(request llm.Request, writer string) (encoded []byte, back bool, err error) {
	ids := map[string]string{} // the server's ids of calls by those of the dialect
	list := make([]message, 0, len(request.Messages)+1)
	if system := request.System(); system != "" {
		list = append(list, message{Role: llm.RoleSystem, Content: system})
	}
	for _, m := range request.Messages {
		calls, results, ok := m.Functions()
		switch {
		case !ok:
			return nil, false, &llm.Error{Class: llm.ClassBadRequest, Message: "a message is in no dialect that this server is asked in"}
		case len(calls) > 0:
			one := withCalls(m, calls)
			if o := readOriginal(m, writer); o != nil && writer != "" {
				one.restore(o, ids)
				back = true
			}
			list = append(list, one)
		case len(results) > 0:
			for _, r := range results {
				list = append(list, message{Role: roleTool, Content: r.Text, CallID: cmp.Or(ids[r.Call.Function.ID], r.Call.Function.ID)})
			}
		case len(m.Images) > 0:
			list = append(list, message{Role: m.Role, Content: parts(m)})
		case m.Text != "":
			list = append(list, message{Role: m.Role, Content: m.Text})
		}
	}
	size := 0
	for _, m := range list {
		if text, ok := m.Content.(string); ok {
			size += len(text) + len(text)/16 + 64 // some of it is escaped
		}
	}
	var b bytes.Buffer
	b.Grow(size)
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(list); err != nil {
		return nil, false, fmt.Errorf("encode the conversation: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), back, nil
}

// restore gives a message what goes back of it. An id that another call has stays that of the dialect.
func (m *message) restore(o *original, ids map[string]string) {
	m.Thought, m.Details = o.Thought, o.Details
	for i := range m.Calls {
		c, written := &m.Calls[i], o.Calls[i]
		c.Extra = written.Extra
		c.Function.Arguments = llm.ArgumentsOf(written.Arguments, c.Function.Arguments)
		if _, taken := ids[" "+written.ID]; written.ID != "" && !taken {
			ids[c.ID], ids[" "+written.ID] = written.ID, written.ID
			c.ID = written.ID
		}
	}
}

// withCalls returns a message of the model with its calls.
func withCalls(m llm.Message, calls []llm.FunctionCall) message {
	with := message{Role: m.Role}
	if m.Text != "" {
		with.Content = m.Text
	}
	for _, c := range calls {
		with.Calls = append(with.Calls, call{ID: c.ID, Type: "function", Function: function{c.Name, cmp.Or(c.Arguments, "{}")}})
	}
	return with
}

// parts returns a message with images: each image as a data URL, then the text.
func parts(message llm.Message) []goopenai.ChatMessagePart {
	var list []goopenai.ChatMessagePart
	for _, image := range message.Images {
		list = append(list, goopenai.ChatMessagePart{
			Type:     goopenai.ChatMessagePartTypeImageURL,
			ImageURL: &goopenai.ChatMessageImageURL{URL: "data:" + image.Media + ";base64," + base64.StdEncoding.EncodeToString(image.Data)},
		})
	}
	if message.Text != "" {
		list = append(list, goopenai.ChatMessagePart{Type: goopenai.ChatMessagePartTypeText, Text: message.Text})
	}
	return list
}
