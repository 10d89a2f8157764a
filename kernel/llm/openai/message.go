package openai

import (
	"bytes"
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
	Content any      `json:"content"` // a string or []goopenai.ChatMessagePart
}

// messages returns the conversation as JSON.
func messages(request llm.Request) ([]byte, error) {
	list := make([]message, 0, len(request.Messages)+1)
	if system := request.System(); system != "" {
		list = append(list, message{llm.RoleSystem, system})
	}
	for _, m := range request.Messages {
		switch {
		case m.NeedsDialect():
			return nil, &llm.Error{Class: llm.ClassBadRequest, Message: "a message is in no dialect that this server is asked in"}
		case len(m.Images) > 0:
			list = append(list, message{m.Role, parts(m)})
		case m.Text != "":
			list = append(list, message{m.Role, m.Text})
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
		return nil, fmt.Errorf("encode the conversation: %w", err)
	}
	return bytes.TrimSpace(b.Bytes()), nil
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
