package composer

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"org-agent/kernel/agent/history"
	"org-agent/kernel/llm"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
)

// Composition is a request with what it was made of.
type Composition struct {
	Request llm.Request
	// Purpose tells asks of a turn apart that have different system prompts.
	Purpose string
	// Quotable are the texts that a reply may quote.
	Quotable []string
	// Question is the question as it was asked, without the time; "" where it is not the
	// person's, or no earlier turns were asked for.
	Question string
	// Recalled is what the turn is reminded of, if that was found for this request.
	Recalled *Recalled
	// Past is what is shown of the earlier turns, if that was found for this request.
	Past *history.Shown
	// SummaryDue says that the earlier turns should be summarised, by a model that can do so.
	SummaryDue bool
	// Warning says that the model has little room, once in a turn.
	Warning string

	system  system
	items   []protocol.ContextItem // beside the question
	earlier int                    // how many messages are of earlier turns
}

// Compose returns the request that asks: the system prompt, the history, the message with what
// goes along with it, and what this turn has come to so far.
func (t *Turn) Compose(ctx context.Context, ask skill.Ask) (Composition, error) {
	t.findWindow(ctx)
	c := Composition{Purpose: t.purpose(ask)}
	var err error
	if c.system, err = t.system(ctx, ask, c.Purpose); err != nil {
		return c, err
	}
	c.Request = t.request(ctx, ask)
	c.Request.System = c.system.Text
	var items []protocol.ContextItem
	if !ask.NoContext && t.program.Items != nil {
		if items, err = t.program.Items(ctx); err != nil {
			return c, err
		}
	}
	recalled, isNew, err := t.recall(ctx, ask, c.system.Text)
	if err != nil {
		return c, err
	}
	if isNew {
		c.Recalled = &recalled
	}
	c.items = slices.Concat(recalled.Items, items)
	message, plain := t.message(ask, items, recalled.Items)
	c.Quotable = []string{t.Record.Question.Text, ask.Text, message.Content, c.system.Text}
	if ask.NoHistory {
		c.Request.Messages = slices.Concat([]llm.Message{message}, t.Exchange.messages)
		return c, nil
	}
	fixed := prompt.Tokens(c.system.Text) + history.Tokens(message) + t.Exchange.tokens()
	if isNew, err = t.earlier(ctx, fixed); err != nil {
		return c, err
	}
	if isNew {
		c.Past, c.Warning, c.SummaryDue = t.past, t.small(), t.past.Due && !t.window.Silent
	}
	shown := t.fit(c.system.Text, message)
	c.earlier = len(shown)
	c.Request.Messages = slices.Concat(shown, []llm.Message{message}, t.Exchange.messages)
	c.Request.Messages[0].Content = t.past.Preface + c.Request.Messages[0].Content
	c.Quotable = append(append(c.Quotable, t.past.Preface), t.past.Input...)
	if !ask.NoStream {
		c.Question = keptQuestion(plain, items)
	}
	return c, nil
}

// request is the request with what holds for the turn, and no message.
func (t *Turn) request(ctx context.Context, ask skill.Ask) llm.Request {
	request := llm.Request{Model: t.Record.Wanted, Grammar: t.grammar(ctx, ask)}
	settings := t.Record.Settings
	if degrees, err := strconv.ParseFloat(settings.Value(protocol.SettingTemperature), 64); err == nil {
		request.Temperature = &degrees
	}
	if tokens, err := strconv.Atoi(settings.Value(protocol.SettingMaxTokens)); err == nil {
		request.MaxTokens = tokens
	}
	return request
}

// message is the message that asks, with the items that the person sent along and those that the
// turn is reminded of. Plain is its text without the time.
func (t *Turn) message(ask skill.Ask, items, recalled []protocol.ContextItem) (message llm.Message, plain string) {
	message = question(ask.Text, items)
	if len(recalled) > 0 && len(items) == 0 {
		message.Content = messageLine + "\n" + message.Content
	}
	plain = remind(message.Content, recalled)
	message.Content = llm.Stamped(t.stamp(ask), plain)
	return message, plain
}

// keptQuestion is a question as later turns show it: an image is shown once only.
func keptQuestion(content string, items []protocol.ContextItem) string {
	for _, item := range items {
		if now := Enclosed(item); len(item.Data) > 0 {
			item.Data = nil
			content = strings.Replace(content, now, Enclosed(item), 1)
		}
	}
	return content
}
