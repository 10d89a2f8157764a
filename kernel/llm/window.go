package llm

import "strings"

// Window is how much a model can be shown and say in one request.
type Window struct {
	// Tokens is all of it; 0 when nobody knows.
	Tokens int
	// Reply is how many of them a reply may take; 0 leaves that to whoever asks.
	Reply int
	// Source says who knows: a setting, the server, or the model's name.
	Source string
	// Silent is set for what answers without being a model: it can summarise nothing.
	Silent bool
}

// AssumedWindow is what a model is taken to have of which nobody knows.
const AssumedWindow = 32_768

// Room returns the tokens that a request may take: without those of the reply.
func (w Window) Room() int {
	tokens := w.Tokens
	if tokens <= 0 {
		tokens = AssumedWindow
	}
	reply := w.Reply
	if reply <= 0 {
		const usual = 8192
		reply = min(tokens/5, usual)
	}
	return max(tokens-reply, tokens/4)
}

// NamedWindow is the window that models of a family are known to have, by their names as
// servers have them ("gpt-4o-mini", "anthropic/claude-sonnet-4"); 0 for others.
func NamedWindow(model string) int {
	name := strings.ToLower(model[strings.LastIndexByte(model, '/')+1:])
	for _, family := range []struct {
		prefix string
		tokens int
	}{
		{"gpt-5", 400_000}, {"gpt-4.1", 1_000_000}, {"gpt-4o", 128_000}, {"gpt-4-turbo", 128_000}, {"gpt-4-32k", 32_768}, {"gpt-4", 8192}, {"gpt-3.5", 16_385},
		{"o1", 200_000}, {"o3", 200_000}, {"o4", 200_000}, {"claude-", 200_000}, {"gemini-", 1_000_000},
	} {
		if strings.HasPrefix(name, family.prefix) {
			return family.tokens
		}
	}
	return 0
}
