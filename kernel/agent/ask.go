package agent

import (
	"cmp"
	"context"
	"time"

	"org-agent/kernel/agent/composer"
	"org-agent/kernel/agent/history"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/prompt"
	"org-agent/kernel/skill"
)

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
	composed, err := a.compose(ctx, ask)
	if err != nil {
		a.fault = err
		return "", err
	}
	a.request, a.stream = composed.Request, !ask.NoStream
	reply, err := a.send(ctx)
	if a.partial == "" && llm.ClassOf(err) == llm.ClassTooLong && r.compose.Shorten(ctx, r.estimate) {
		r.log.Info("the model found the request too long, asking with less", "tokens", r.compose.Window())
		a.fault = nil
		return a.Ask(ctx, ask)
	}
	return reply, err
}

// again asks for a usable reply, once.
func (a *asker) again(ctx context.Context, reply, reason string) (string, error) {
	if len(a.request.Messages) == 0 {
		a.request.Messages = []llm.Message{{Role: llm.RoleUser, Content: a.run.turn.Record.Question.Words()}}
	}
	a.request.Messages = append(a.request.Messages,
		llm.Message{Role: llm.RoleAssistant, Content: reply},
		llm.Message{Role: llm.RoleUser, Content: "Your reply could not be used: " + reason + ".\n" +
			"Answer again with exactly one property list and nothing else, for example:\n" +
			a.run.reply("Your answer").String()})
	return a.send(ctx)
}

// send streams one reply. A second request takes the first's preview back.
func (a *asker) send(ctx context.Context) (string, error) {
	r := a.run
	r.countBeside(ctx)
	if err := r.budget.allows(); err != nil {
		a.fault = err
		return "", err
	}
	r.turn.Retract()
	a.request.System = r.agent.Hide(a.request.System)
	a.request.Messages = history.Joined(a.request.Messages)
	for i, message := range a.request.Messages {
		a.request.Messages[i].Content = r.agent.Hide(message.Content)
	}
	if r.model == "" {
		r.describe(cmp.Or(a.request.Model, r.agent.config.Model))
	}
	r.estimate = composer.Estimate(a.request)
	begun := time.Now()
	reply, err := a.read(ctx)
	a.finish = reply.Finish
	a.keepReply(ctx, reply, time.Since(begun), err)
	return reply.Text, err
}

// keepReply records a reply and counts what it took.
func (a *asker) keepReply(ctx context.Context, reply llm.Reply, took time.Duration, err error) {
	r := a.run
	var spent llm.Usage
	tokens := 0
	switch {
	case reply.Usage != nil:
		spent = *reply.Usage
		tokens = spent.Input + spent.Output
	case reply.Text+reply.Reasoning != "": // nobody counted
		tokens = r.compose.Corrected(r.estimate) + prompt.Tokens(reply.Text+reply.Reasoning)
	}
	entry := map[string]any{
		"text": reply.Text, "finish": reply.Finish, "model": r.model, "input": spent.Input, "output": spent.Output,
		"cost": spent.Cost, "first": a.first.Seconds(), "seconds": took.Seconds(), "taken": tokens,
	}
	if reply.Reasoning != "" {
		entry["thoughts"] = reply.Reasoning
	}
	if err != nil {
		a.fault, a.partial = err, reply.Text
		entry["err"] = err.Error()
	}
	r.record(ctx, journal.KindModelReply, entry)
	r.budget.spent(tokens, spent.Cost, took)
	r.spend(ctx, reply.Usage, r.compose.Model())
}
