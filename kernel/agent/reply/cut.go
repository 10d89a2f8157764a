package reply

import (
	"context"
	"fmt"
	"slices"

	"org-agent/kernel/llm"
	"org-agent/kernel/protocol"
)

// isCut reports whether the model was shown only a part of the last request. Some servers, such as Ollama, leave
// out the oldest messages of a request that is too long, and answer as if nothing were missing. If the count of the
// server is a sign of it, the server is asked for its window: one in which the request fits means that the estimate
// is wrong. The person is told once in a conversation.
func (a *asker) isCut(ctx context.Context, counted llm.Usage) bool {
	size := a.turn.Requests.Corrected(a.estimate)
	if !counted.LooksCut(size) || slices.ContainsFunc(a.rendered.Messages, func(m llm.Message) bool { return len(m.Images) > 0 }) {
		return false // what an image counts is a guess
	}
	model := a.turn.Requests.Model()
	window := a.turn.Sender.config.ServedWindow(ctx, a.request.Model)
	if window >= size {
		return false
	}
	a.turn.Log.Warn("the model was shown only a part of the request", "model", model, "counted", counted.Input, "estimate", size, "window", window)
	if a.turn.Sender.warnings.isNew(a.turn.Record.Session + " cut") {
		a.turn.Screen.Notify(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelWarn, Text: cutNotice(model, counted.Input, size, window)})
	}
	return true
}

// cutNotice says what happened and what to do. window is 0 if the server does not tell it.
func cutNotice(model string, counted, size, window int) string {
	has := "what it has"
	if window > 0 {
		has = fmt.Sprintf("the %d tokens that it has", window)
	}
	return fmt.Sprintf("%s was shown %d tokens of about %d: its server has left out the oldest messages without an error. "+
		"Start the server with a larger context (for Ollama OLLAMA_CONTEXT_LENGTH, or num_ctx of the model), or set WINDOW in config.org to %s", model, counted, size, has)
}
