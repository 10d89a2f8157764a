package composer

import (
	"org-agent/kernel/agent/history"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/prompt"
)

// Exchange is what a turn has come to so far: its rounds, and the messages that tell the model
// of them. The zero value is ready.
type Exchange struct {
	rounds   []journal.ToolStep
	messages []llm.Message
	sent     []journal.RequestSent // requests of before the kernel's end that nothing was fitted to yet
}

// Add adds rounds.
func (e *Exchange) Add(rounds ...journal.ToolStep) {
	e.rounds = append(e.rounds, rounds...)
	e.messages = append(e.messages, messagesOf(rounds)...)
}

// Rounds are all rounds, the first one first. They must not be changed.
func (e *Exchange) Rounds() []journal.ToolStep { return e.rounds }

// Messages are what tells the model of the rounds.
func (e *Exchange) Messages() []llm.Message { return e.messages }

// messagesOf are rounds as the model is told of them when they happen.
func messagesOf(rounds []journal.ToolStep) (messages []llm.Message) {
	for _, round := range rounds {
		messages = append(messages, history.Round(round)...)
	}
	return messages
}

// tokens is what the exchange took at the first request of the turn, in estimated tokens: how
// much is shown of the earlier turns was decided then, also in a turn that goes on after the
// kernel's end.
func (e *Exchange) tokens() int {
	total := history.Total(e.messages)
	if len(e.sent) > 0 {
		total -= history.Total(messagesOf(e.rounds[e.sent[0].Steps:]))
	}
	return total
}

// fit makes the exchange fit when the turn has done so much that it does not any more, and
// returns what is left of the earlier turns. What a turn had done that goes on after the kernel's
// end is made to fit as it came, request by request, because each request goes on where the last
// one was made shorter.
func (e *Exchange) fit(past *history.Shown, room int) []llm.Message {
	shown := past.Messages
	within := func(rounds []journal.ToolStep) {
		shown = past.Messages
		if past.Tokens+history.Total(e.messages) > room {
			shown, e.messages = history.Fit(past.Messages, rounds, room-prompt.Tokens(past.Preface)) // which stands before one of the messages
		}
	}
	if sent := e.sent; len(sent) > 0 {
		e.sent, e.messages = nil, nil
		had := 0
		for _, request := range sent {
			e.messages = append(e.messages, messagesOf(e.rounds[had:request.Steps])...)
			had = request.Steps
			within(e.rounds[:had])
		}
		e.messages = append(e.messages, messagesOf(e.rounds[had:])...)
	}
	within(e.rounds)
	return shown
}
