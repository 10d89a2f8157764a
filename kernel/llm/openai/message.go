package openai

import (
	"encoding/base64"

	goopenai "github.com/sashabaranov/go-openai"

	"org-agent/kernel/llm"
)

// messages returns the conversation as the library wants it.
func messages(request llm.Request) []goopenai.ChatCompletionMessage {
	list := make([]goopenai.ChatCompletionMessage, 0, len(request.Messages)+1)
	if request.System != "" {
		list = append(list, goopenai.ChatCompletionMessage{Role: string(llm.RoleSystem), Content: request.System})
	}
	for _, message := range request.Messages {
		switch {
		case len(message.Images) > 0:
			list = append(list, goopenai.ChatCompletionMessage{Role: string(message.Role), MultiContent: parts(message)})
		case message.Content != "":
			list = append(list, goopenai.ChatCompletionMessage{Role: string(message.Role), Content: message.Content})
		}
	}
	return list
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
