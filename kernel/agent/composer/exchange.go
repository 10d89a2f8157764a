package composer

import (
	"context"

	"org-agent/kernel/agent/history"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
)

// Exchange has the steps of a turn so far, and the messages that show them to the model. The zero value is
// ready.
type Exchange struct {
	steps    []journal.ToolStep
	messages []llm.Message
	fitting  history.Fitting       // what of the steps is shown
	requests []journal.RequestSent // requests from before a restart of the kernel, which are still to be fitted
}

// Add adds steps.
func (e *Exchange) Add(steps ...journal.ToolStep) {
	e.steps = append(e.steps, steps...)
	e.messages = append(e.messages, e.messagesOf(len(e.steps)-len(steps), len(e.steps))...)
}

// Steps returns all steps in their order. The caller must not change them.
func (e *Exchange) Steps() []journal.ToolStep { return e.steps }

// Messages returns the messages that show the steps to the model.
func (e *Exchange) Messages() []llm.Message { return e.messages }

// messagesOf returns the messages of the steps with these indexes, whole.
func (e *Exchange) messagesOf(from, until int) (messages []llm.Message) {
	for i := from; i < until; i++ {
		messages = append(messages, history.RunningMessages(i, e.steps[i])...)
	}
	return messages
}

// tokens returns the size of the exchange at the first request of the turn, in estimated tokens. That
// request decides how much is shown of the earlier turns, also in a turn that goes on after a restart of
// the kernel.
func (e *Exchange) tokens(dialect llm.Dialect) int {
	total := history.Total(dialect, e.messages)
	if len(e.requests) > 0 {
		total -= history.Total(dialect, e.messagesOf(e.requests[0].Steps, len(e.steps)))
	}
	return total
}

// fit shortens the earlier turns and the exchange if both no longer fit the room. In a turn that goes on after a
// restart of the kernel it repeats that for each earlier request, because each request continues the shortened
// messages of the one before.
func (e *Exchange) fit(ctx context.Context, turns history.Past, past *history.Excerpt, room int) (err error) {
	for _, request := range e.requests {
		if _, err = e.fitting.Fit(ctx, turns, past, e.steps[:request.Steps], room); err != nil {
			return err
		}
	}
	e.requests = nil
	e.messages, err = e.fitting.Fit(ctx, turns, past, e.steps, room)
	return err
}
