package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"

	goopenai "github.com/sashabaranov/go-openai"

	"org-agent/kernel/llm"
)

// message is one of a conversation. The library's own type is encoded twice each time, which
// takes longer than all else that is done for a request with a long conversation.
type message struct {
	Role    llm.Role `json:"role"`
	Content any      `json:"content"` // a string or []goopenai.ChatMessagePart
}

// messages is the conversation as JSON.
func messages(request llm.Request) ([]byte, error) {
	list := make([]message, 0, len(request.Messages)+1)
	if request.System != "" {
		list = append(list, message{llm.RoleSystem, request.System})
	}
	for _, m := range request.Messages {
		switch {
		case len(m.Images) > 0:
			list = append(list, message{m.Role, parts(m)})
		case m.Content != "":
			list = append(list, message{m.Role, m.Content})
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

// parts is a message with images: each in the address that stands for it, then the text.
func parts(message llm.Message) []goopenai.ChatMessagePart {
	var list []goopenai.ChatMessagePart
	for _, image := range message.Images {
		list = append(list, goopenai.ChatMessagePart{
			Type:     goopenai.ChatMessagePartTypeImageURL,
			ImageURL: &goopenai.ChatMessageImageURL{URL: "data:" + image.Media + ";base64," + base64.StdEncoding.EncodeToString(image.Data)},
		})
	}
	if message.Content != "" {
		list = append(list, goopenai.ChatMessagePart{Type: goopenai.ChatMessagePartTypeText, Text: message.Content})
	}
	return list
}
