package llm

import "strings"

// Window is how much one request and its reply may hold.
type Window struct {
	// Tokens is the size of the window, or 0 if it is unknown.
	Tokens int
	// Reply is the part of the window that a reply may take. 0 leaves it to the caller.
	Reply int
	// Source is where the size comes from: a setting, the server, or the model's name.
	Source string
	// NoModel is set for a responder that is no language model. It cannot summarise.
	NoModel bool
}

// AssumedWindow is the size that is assumed for a model whose window is unknown, in tokens.
const AssumedWindow = 32_768

// Room returns the tokens that a request may take, without those of the reply.
func (w Window) Room() int {
	tokens := w.Tokens
	if tokens <= 0 {
		tokens = AssumedWindow
	}
	reply := w.Reply
	if reply <= 0 {
		const defaultReply = 8192
		reply = min(tokens/5, defaultReply)
	}
	return max(tokens-reply, tokens/4)
}

// NamedWindow returns the window of a model by its name on servers ("gpt-4o-mini",
// "anthropic/claude-sonnet-4"), in tokens, or 0 for an unknown name.
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
