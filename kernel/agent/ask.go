package agent

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
)

// What has come of a reply is verified and shown in batches. Models send hundreds of
// pieces a second, people read none of them one by one, and each batch costs every client
// a change of its buffer and a redisplay. So the next one waits for shortPause, twelve times
// a second, and for readingTime more for each byte of the last: text that comes faster than
// anyone reads comes in fewer and larger batches, at least one in longPause.
const (
	shortPause  = 80 * time.Millisecond
	readingTime = time.Millisecond
	longPause   = 200 * time.Millisecond
)

// pause is how long to wait behind a batch of so many bytes.
func pause(bytes int) time.Duration {
	return min(shortPause+time.Duration(bytes)*readingTime, longPause)
}

// asker answers a skill's ask-neuro with the model's reply, and shows the reply
// while it is written.
type asker struct {
	run     *run
	request llm.Request // the last one
	stream  bool
	finish  llm.FinishReason // of the last reply
	fault   error            // of the model, not of the skill
	partial string           // what had come before the fault
	first   time.Duration    // until it began
}

// Ask implements [skill.Asker].
func (a *asker) Ask(ctx context.Context, ask skill.Ask) (string, error) {
	r := a.run
	request, err := r.compose(ctx, ask)
	if err != nil {
		return "", err
	}
	a.request, a.stream = request, !ask.NoStream
	return a.send(ctx)
}

// compose is the request that asks: the system prompt, the history, the message with what
// went along with it, and what this turn has come to so far.
func (r *run) compose(ctx context.Context, ask skill.Ask) (request llm.Request, err error) {
	request.Model, request.System = r.turn.Record.Wanted, r.system(ctx, ask)
	if !ask.NoHistory {
		if request.Messages, err = r.history(ctx); err != nil {
			return request, err
		}
	}
	var items []protocol.ContextItem
	if !ask.NoContext {
		if items, err = r.attached(ctx); err != nil {
			return request, err
		}
	}
	if r.looked == nil {
		if err := r.hear(ctx); err != nil {
			return request, err
		}
	}
	message := asked(ask.Text, items)
	if r.looked != nil {
		r.looked.earlier, r.looked.context = len(request.Messages), items
	}
	request.Messages = append(append(request.Messages, message), r.exchange...)
	// A reply that repeats what stands here quotes it.
	r.input = strings.Join([]string{r.turn.Record.Question.Text, ask.Text, message.Content, request.System, r.input}, "\n")
	return request, nil
}

// again asks for a usable reply, once.
func (a *asker) again(ctx context.Context, reply, reason string) (string, error) {
	if len(a.request.Messages) == 0 {
		a.request.Messages = []llm.Message{{Role: llm.RoleUser, Content: a.run.turn.Record.Question.Text}}
	}
	a.request.Messages = append(a.request.Messages,
		llm.Message{Role: llm.RoleAssistant, Content: reply},
		llm.Message{Role: llm.RoleUser, Content: "Your reply could not be used: " + reason + ".\n" +
			"Answer again with exactly one property list and nothing else, for example:\n" +
			plist.Print(a.run.reply("Your answer"))})
	return a.send(ctx)
}

// send streams one reply. A second request takes the first's preview back.
func (a *asker) send(ctx context.Context) (string, error) {
	r := a.run
	if r.looked != nil {
		return "", r.looked.take(a.request)
	}
	r.turn.Retract()
	a.request.System = r.agent.Hide(a.request.System)
	for i, message := range a.request.Messages {
		a.request.Messages[i].Content = r.agent.Hide(message.Content)
	}
	if r.model == "" {
		r.describe(cmp.Or(a.request.Model, r.agent.config.Model))
	}
	r.record(ctx, journal.KindModelRequest, a.request)
	begun := time.Now()
	reply, err := a.read(ctx)
	a.finish = reply.Finish
	spent := llm.Usage{}
	if reply.Usage != nil {
		spent = *reply.Usage
	}
	entry := map[string]any{
		"text": reply.Text, "finish": reply.Finish, "model": r.model, "input": spent.Input, "output": spent.Output,
		"cost": spent.Cost, "first": a.first.Seconds(), "seconds": time.Since(begun).Seconds(),
	}
	if reply.Reasoning != "" {
		entry["thoughts"] = reply.Reasoning
	}
	if err != nil {
		a.fault, a.partial = err, reply.Text
		entry["err"] = err.Error()
	}
	r.record(ctx, journal.KindModelReply, entry)
	r.spend(ctx, reply.Usage)
	return reply.Text, err
}

// read takes the deltas as they come and shows a batch at a time. With an error
// it returns what had come until then. Thoughts between tags are part of the
// text; Reasoning has those that came apart from it.
func (a *asker) read(ctx context.Context) (reply llm.Reply, err error) {
	ctx, cancel := context.WithCancel(ctx)
	type piece struct {
		delta llm.Delta
		err   error
	}
	pieces := make(chan piece)
	go func() { // ends with the sequence, which ends with ctx
		defer close(pieces)
		for delta, err := range a.run.agent.config.Provider.Stream(ctx, a.request) {
			pieces <- piece{delta, err}
		}
	}()
	defer func() {
		cancel()
		for range pieces { // until the reader is gone
		}
	}()

	var text strings.Builder
	begun := time.Now()
	a.first = 0
	show := preview{run: a.run, on: a.stream, stream: plist.Stream{Input: a.run.input}}
	thoughts := thoughts{run: a.run}
	defer func() {
		reply.Text, reply.Reasoning = text.String(), thoughts.apart.String()
		thoughts.finish(reply.Text)
	}()
	next := time.NewTimer(shortPause)
	defer next.Stop()
	for {
		select {
		case p, open := <-pieces:
			if !open {
				show.flush(ctx)
				return reply, nil
			}
			if p.err != nil {
				if cause := context.Cause(ctx); cause != nil && errors.Is(p.err, context.Canceled) {
					p.err = cause
				}
				return reply, p.err
			}
			if a.first == 0 {
				a.first = time.Since(begun)
			}
			text.WriteString(p.delta.Text)
			thoughts.write(p.delta.Reasoning)
			show.write(p.delta.Text)
			if show.shown == 0 {
				show.flush(ctx) // the first words at once
			}
			if p.delta.Model != "" && p.delta.Model != a.run.model {
				a.run.describe(p.delta.Model)
			}
			if p.delta.Usage != nil {
				reply.Usage = p.delta.Usage
			}
			if p.delta.Finish != "" {
				reply.Finish = p.delta.Finish
			}
		case <-next.C:
			next.Reset(pause(show.flush(ctx)))
			thoughts.flush(show.stream.Thought())
		}
	}
}

// hear adds what a person said to the turn while it ran to what the model is shown.
func (r *run) hear(ctx context.Context) error {
	told, err := r.turn.Told(ctx)
	for _, text := range told {
		r.exchange = append(r.exchange, llm.Message{Role: llm.RoleUser, Content: "The user says meanwhile:\n" + text})
	}
	return err
}

// spend counts what a reply took, for the turn and in the journal; nil is nothing
// known.
func (r *run) spend(ctx context.Context, usage *llm.Usage) {
	if usage == nil {
		return
	}
	r.usage = r.usage.Add(*usage)
	r.turn.Spent(r.usage.Input, r.usage.Output, r.usage.Cost)
	err := r.agent.config.Journal.PutSpent(context.WithoutCancel(ctx), journal.Spent{
		Turn: r.turn.Record.ID, Model: r.model, Input: usage.Input, Output: usage.Output,
		Cached: usage.Cached, Reason: usage.Reasoning, Cost: usage.Cost,
	})
	if err != nil {
		r.log.Error("usage not kept", "err", err)
	}
}
