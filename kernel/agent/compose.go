package agent

import (
	"context"
	"slices"

	"org-agent/kernel/agent/history"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/prompt"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
)

// compose is the request that asks: the system prompt, the history, the message with what
// went along with it, and what this turn has come to so far.
func (r *run) compose(ctx context.Context, ask skill.Ask) (request llm.Request, err error) {
	r.findWindow(ctx)
	if request.System, err = r.systemOf(ctx, ask); err != nil {
		return request, err
	}
	request.Model, request.Grammar = r.turn.Record.Wanted, r.grammar(ctx, ask)
	r.set(&request)
	items, err := r.sentAlong(ctx, ask)
	if err != nil {
		return request, err
	}
	kept, err := r.reminded(ctx, ask, request.System)
	if err != nil {
		return request, err
	}
	message := asked(ask.Text, items)
	if len(kept) > 0 && len(items) == 0 {
		message.Content = MessageLine + "\n" + message.Content
	}
	message.Content = remind(message.Content, kept)
	plain := message.Content
	if !ask.NoStream { // what the reply answers is the person's
		message.Content = llm.Stamped(r.turn.Record.Stamp, plain)
	}
	if r.looked != nil {
		r.looked.context = slices.Concat(kept, items)
	}
	said := []string{r.turn.Record.Question.Text, ask.Text, message.Content, request.System}
	past := &history.Shown{}
	if !ask.NoHistory {
		if past, err = r.shownBefore(ctx, &request, message); err != nil {
			return request, err
		}
		if r.looked == nil && !ask.NoStream {
			r.keepAsked(ctx, plain, items)
		}
		said = append(append(said, past.Preface), past.Input...)
	}
	if r.looked != nil {
		r.looked.earlier = len(request.Messages)
	}
	request.Messages = slices.Concat(request.Messages, []llm.Message{message}, r.exchange)
	request.Messages[0].Content = past.Preface + request.Messages[0].Content
	// A reply that repeats what stands here quotes it.
	r.input = append(said, r.input...)
	return request, nil
}

// sentAlong is what the person sent with the question, if the ask wants it, and has what they
// said meanwhile shown.
func (r *run) sentAlong(ctx context.Context, ask skill.Ask) (items []protocol.ContextItem, err error) {
	if !ask.NoContext {
		if items, err = r.attached(ctx); err != nil {
			return nil, err
		}
	}
	if r.looked == nil {
		err = r.hear(ctx)
	}
	return items, err
}

// shownBefore puts the earlier turns into the request, as many as there is room for beside the
// message.
func (r *run) shownBefore(ctx context.Context, request *llm.Request, message llm.Message) (*history.Shown, error) {
	fixed := prompt.Tokens(request.System) + history.Tokens(message) + history.Total(r.exchange) - r.later()
	past, err := r.earlier(ctx, fixed)
	if err != nil {
		return nil, err
	}
	request.Messages = past.Messages
	r.fit(request, message)
	return past, nil
}

// hear adds what a person said to the turn while it ran to what the model is shown.
func (r *run) hear(ctx context.Context) error {
	told, err := r.turn.Told(ctx)
	for _, text := range told {
		r.keepRound(ctx, journal.Round{Said: text})
	}
	return err
}
