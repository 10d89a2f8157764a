package composer

import (
	"context"
	"org-agent/kernel/envelope"
	"slices"
	"strings"

	"org-agent/kernel/agent/history"
	"org-agent/kernel/llm"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
)

// Composition is a request with its parts, and with the data that the caller has to record.
type Composition struct {
	Request llm.Request
	// Purpose is different for asks of a turn that have different system prompts.
	Purpose string
	// Quotable are the texts that a reply may quote.
	Quotable []string
	// Question is the text of the question as it was sent, without the time. It is "" if the person did
	// not write it, or if the ask wants no earlier turns.
	Question string
	// Reminders has the reminders of the turn, if they were found for this request.
	Reminders *Reminders
	// Past is the shown part of the earlier turns, if this request selected it.
	Past *history.Excerpt
	// SummaryDue is set if the earlier turns should be summarised and a model can do so.
	SummaryDue bool
	// Warning says that the model has little room. It is set once in a turn.
	Warning string

	system       system
	items        []protocol.ContextItem // beside the question
	pastMessages int                    // the number of messages of earlier turns
}

// Compose returns the request of an ask: the system prompt, the earlier turns, the message with its items,
// and the steps of this turn.
func (t *Turn) Compose(ctx context.Context, ask skill.Ask) (Composition, error) {
	t.findWindow(ctx)
	c := Composition{Purpose: t.purpose(ask)}
	var err error
	if c.system, err = t.system(ctx, ask, c.Purpose); err != nil {
		return c, err
	}
	c.Request = t.request(ctx, ask)
	c.Request.Sections = c.system.sections()
	if t.offersActions(ask) {
		c.Request.Tools = t.tools(ctx)
	}
	c.Request.TextCalls = teachesText(ask.System)
	var items []protocol.ContextItem
	if !ask.NoContext && t.program.Items != nil {
		if items, err = t.program.Items(ctx); err != nil {
			return c, err
		}
	}
	recalled, isNew, err := t.findReminders(ctx, ask, c.system.Text)
	if err != nil {
		return c, err
	}
	if isNew {
		c.Reminders = &recalled
	}
	c.items = slices.Concat(recalled.Items, items)
	message, plain := t.message(ask, items, recalled.Items)
	c.Quotable = []string{t.Record.Question.Text, ask.Text, message.Text, c.system.Text}
	if ask.NoHistory {
		c.Request.Messages = slices.Concat([]llm.Message{message}, t.Exchange.messages)
		return c, nil
	}
	fixed := prompt.Tokens(c.system.Text) + history.Tokens(t.dialect(), message) + t.Exchange.tokens(t.dialect())
	if isNew, err = t.findPast(ctx, fixed); err != nil {
		return c, err
	}
	less, err := t.fit(ctx, c.system.Text, message)
	if err != nil {
		return c, err
	}
	if isNew {
		c.Warning = t.windowWarning()
	}
	if isNew || less {
		c.Past, c.SummaryDue = t.past, t.past.SummaryDue && !t.window.NoModel
	}
	c.pastMessages = len(t.past.Messages)
	c.Request.Messages = slices.Concat(t.past.Messages, []llm.Message{message}, t.Exchange.messages)
	c.Request.Messages[0].Text = t.past.Preface + c.Request.Messages[0].Text
	c.Quotable = append(append(c.Quotable, t.past.Preface), t.past.Input...)
	if !ask.NoStream {
		c.Question = recordedQuestion(plain, items)
	}
	return c, nil
}

// teachesText reports whether a note's own part of the system prompt teaches the model to write property
// lists.
func teachesText(system string) bool { return strings.Contains(strings.ToLower(system), "(:type") }

// request returns a request with the settings of the turn and without messages.
func (t *Turn) request(ctx context.Context, ask skill.Ask) llm.Request {
	set := t.program.Settings
	return llm.Request{Model: set.Model, Grammar: t.grammar(ctx, ask), Temperature: set.Temperature, MaxTokens: set.MaxTokens}
}

// message returns the message of an ask, with the items that the person sent along and with the
// reminders. plain is its text without the time.
func (t *Turn) message(ask skill.Ask, items, recalled []protocol.ContextItem) (message llm.Message, plain string) {
	message = question(envelope.Show(t.Record.Question.Payload, ask.Text), items)
	if len(recalled) > 0 && len(items) == 0 {
		message.Text = messageLine + "\n" + message.Text
	}
	plain = withReminders(message.Text, recalled)
	message.Text = llm.Stamped(t.stamp(ask), plain)
	return message, plain
}

// recordedQuestion returns a question as later turns show it: images are shown only once.
func recordedQuestion(content string, items []protocol.ContextItem) string {
	for _, item := range items {
		if now := itemLine(item); len(item.Data) > 0 {
			item.Data = nil
			content = strings.Replace(content, now, itemLine(item), 1)
		}
	}
	return content
}
