package composer

import (
	"fmt"
	"slices"

	"org-agent/kernel/agent/history"
	"org-agent/kernel/llm"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
)

// Explain adds the parts of the request, as a dialect renders them, to the result.
func (c *Composition) Explain(dialect llm.Dialect, result *protocol.PromptResult) {
	add := func(name protocol.Keyword, message *llm.Message) *protocol.PromptPart {
		part := protocol.PromptPart{Name: name, Role: string(message.Role), Text: message.Text,
			Bytes: len(message.Text), Tokens: prompt.Tokens(message.Text)}
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
	rendered := dialect.Render(llm.Request{Model: c.Request.Model, Sections: c.Request.Sections, TextCalls: c.Request.TextCalls})
	if system := rendered.System(); system != "" {
		add("system", &llm.Message{Role: llm.RoleSystem, Text: system})
		result.Sections, result.Over = c.sections(rendered.Sections), c.system.Over
	}
	past := dialect.Render(llm.Request{Model: c.Request.Model, TextCalls: c.Request.TextCalls, Messages: c.Request.Messages[:c.pastMessages]}).Messages
	for i := range past {
		past[i].Text = dialect.Text(past[i])
		add("history", &past[i])
	}
	for i, message := range c.Request.Messages[c.pastMessages:] {
		if i == 0 {
			question := add("question", &message)
			for _, item := range c.items {
				question.Context = append(question.Context, item.Describe())
			}
			continue
		}
		if message.Role == llm.RoleKernel {
			message.Role = llm.RoleUser
		}
		message.Text = dialect.Text(message)
		add("exchange", &message)
	}
}

// sections describes the sections of the system prompt, also those that were left out. Sections for models
// that are asked in another notation are not described.
func (c *Composition) sections(sent []llm.Section) (list []protocol.PromptSection) {
	for _, part := range c.system.Parts {
		if part.Notation != "" && !slices.ContainsFunc(sent, func(s llm.Section) bool { return s.Name == part.Name }) && part.Text != "" {
			continue
		}
		section := protocol.PromptSection{Name: part.Name, Title: part.Title, Trust: protocol.Keyword(part.Trust), Tier: protocol.Keyword(part.Tier),
			Bytes: part.Bytes(), Lines: part.Lines(), Tokens: part.Tokens, Whole: part.Whole, Why: string(part.Omission), Hash: part.Hash}
		if part.Source != "" {
			section.Sources = append(section.Sources, part.Source)
		}
		for _, file := range c.system.files {
			if part.Text != "" && part.Includes(file) {
				section.Sources = append(section.Sources, file.Path)
			}
		}
		list = append(list, section)
	}
	return list
}
