package composer

import (
	"fmt"

	"org-agent/kernel/agent/history"
	"org-agent/kernel/llm"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
)

// Explain says what the request is made of, part by part.
func (c *Composition) Explain(result *protocol.PromptResult) {
	add := func(name protocol.Keyword, message llm.Message) *protocol.PromptPart {
		part := protocol.PromptPart{Name: name, Role: string(message.Role), Text: message.Content,
			Bytes: len(message.Content), Tokens: prompt.Tokens(message.Content)}
		for _, image := range message.Images {
			part.Images = append(part.Images, fmt.Sprintf("%s, %s, %d bytes", image.Name, image.Media, len(image.Data)))
			part.Bytes += len(image.Data)
			part.Tokens += history.ImageTokens
		}
		result.Bytes += part.Bytes
		result.Tokens += part.Tokens
		result.Parts = append(result.Parts, part)
		return &result.Parts[len(result.Parts)-1]
	}
	result.Parts = make([]protocol.PromptPart, 0, len(c.Request.Messages)+1)
	if c.Request.System != "" {
		add("system", llm.Message{Role: llm.RoleSystem, Content: c.Request.System})
		result.Sections, result.Over = c.sections(), c.system.Over
	}
	for i, message := range c.Request.Messages {
		switch {
		case i < c.earlier:
			add("history", message)
		case i == c.earlier:
			question := add("question", message)
			for _, item := range c.items {
				question.Context = append(question.Context, item.Describe())
			}
		default:
			add("exchange", message)
		}
	}
}

// sections are what became of the sections of the system prompt.
func (c *Composition) sections() (list []protocol.PromptSection) {
	for _, part := range c.system.Parts {
		section := protocol.PromptSection{Name: part.Name, Title: part.Title, Trust: protocol.Keyword(part.Trust), Tier: protocol.Keyword(part.Tier),
			Bytes: part.Bytes(), Lines: part.Lines(), Tokens: part.Tokens, Whole: part.Whole, Why: string(part.Why), Hash: part.Hash}
		if part.Source != "" {
			section.Sources = append(section.Sources, part.Source)
		}
		for _, file := range c.system.files {
			if part.Text != "" && part.Tells(file) {
				section.Sources = append(section.Sources, file.Path)
			}
		}
		list = append(list, section)
	}
	return list
}
