package openai

import (
	"slices"
	"strings"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/transport"
)

// adapt reports whether a request that failed is to be sent again, in a form that the model's server takes. What the
// server refused is learnt, so that the next request has that form at once. A form is tried once for each model. With
// functions, a template that wants users and assistants by turns may mean the results; the dialect learns that.
func (p *Provider) adapt(failure *llm.Error, request llm.Request, model string, answer *answer) bool {
	switch {
	case answer.back && refusesThoughts(failure):
		p.plain.Set(model, true)
	case !p.systemless.Of(model) && request.System() != "" && len(request.Tools) == 0 && refusesSystem(failure):
		p.systemless.Set(model, true)
	default:
		return p.adaptFields(failure, model)
	}
	return true
}

// The fields that a request has only while the model takes them.
const (
	fieldTemperature   = "temperature"
	fieldMaxTokens     = "max_tokens" // its new name is max_completion_tokens
	fieldStop          = "stop"
	fieldEffort        = "reasoning_effort"
	fieldStreamOptions = "stream_options"
)

// adaptFields is adapt for fields. Those that the person wrote are sent whatever the server says.
func (p *Provider) adaptFields(failure *llm.Error, model string) bool {
	name := transport.RefusedField(failure, fieldTemperature, fieldMaxTokens, fieldStop, fieldEffort, fieldStreamOptions)
	refused := p.refused.Of(model)
	if name == "" || slices.Contains(refused, name) {
		return false
	}
	p.refused.Set(model, append(slices.Clone(refused), name))
	return true
}

// refusesThoughts reports whether a server says that it does not take the thinking that it has sent.
func refusesThoughts(failure *llm.Error) bool {
	if failure.Class != llm.ClassBadRequest {
		return false
	}
	message := strings.ToLower(failure.Message)
	if strings.Contains(message, "missing") { // it wants more of them
		return false
	}
	return strings.Contains(message, "reasoning") || strings.Contains(message, "thought") || strings.Contains(message, "extra_content")
}

// refusesSystem reports whether a server says that the model's template has no system prompt. Templates say it in
// words of their own, and servers pass them on under statuses of their own: these are Gemma's, Mistral's and those of
// models that were made from them.
func refusesSystem(failure *llm.Error) bool {
	if failure.Class != llm.ClassBadRequest && failure.Class != llm.ClassServer {
		return false
	}
	message := strings.ToLower(failure.Message)
	return slices.ContainsFunc([]string{"system role not supported", "system role is not supported", "system message not supported", "system messages are not supported",
		"developer instruction is not enabled", "only user and assistant roles", "roles must alternate", "does not support system"}, func(words string) bool { return strings.Contains(message, words) })
}

// withoutSystem returns a request whose first message, of the user, begins with the system prompt.
func withoutSystem(request llm.Request) llm.Request {
	system := request.System()
	if system == "" {
		return request
	}
	first := llm.Message{Role: llm.RoleUser, Text: system}
	rest := request.Messages
	if len(rest) > 0 && rest[0].Role == llm.RoleUser && !rest[0].NeedsDialect() {
		first.Images = rest[0].Images
		if rest[0].Text != "" {
			first.Text += "\n\n" + rest[0].Text
		}
		rest = rest[1:]
	}
	request.Sections, request.Messages = nil, append([]llm.Message{first}, rest...)
	return request
}
