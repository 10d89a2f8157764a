package reply

import (
	"cmp"
	"context"
	"time"

	"org-agent/kernel/agent/composer"
	"org-agent/kernel/agent/loop"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/prompt"
	"org-agent/kernel/skill"
)

// asker implements a skill's ask-neuro: it returns the model's reply, and shows it as it comes. It
// serves one proposal.
type asker struct {
	turn       *Turn
	request    llm.Request // the last one
	rendered   llm.Request // the last one, in the dialect of the provider that is asked first
	stream     bool
	fault      error         // the error of the last request, if it failed
	partial    string        // the part of the reply that came before the error
	firstPiece time.Duration // from the request to the first piece of the reply
	last       lastReply
	purpose    string // see [composer.Composition]
	estimate   int    // the size of the request, in estimated tokens
}

// lastReply is what a proposal needs of the last reply. The fields after commentary are those of
// [loop.RequestOutcome].
type lastReply struct {
	finish     llm.FinishReason
	calls      []llm.FunctionCall
	original   *llm.Original
	commentary string // the text beside the calls
	unusable   string
	remark     string
	stepReply  *journal.StepReply
}

// Ask implements [skill.Asker].
func (a *asker) Ask(ctx context.Context, ask skill.Ask) (string, error) {
	composed, err := a.compose(ctx, ask)
	if err != nil {
		a.fault = err
		return "", err
	}
	a.request, a.stream = composed.Request, !ask.NoStream
	reply, err := a.send(ctx)
	if a.partial == "" && llm.ClassOf(err) == llm.ClassTooLong && a.turn.Requests.Shorten(ctx, a.estimate) {
		a.turn.Log.Info("the model refused the request as too long, sending a shorter one", "tokens", a.turn.Requests.Window())
		a.fault = nil
		return a.Ask(ctx, ask)
	}
	return reply, err
}

// Retry implements [loop.Asker].
func (a *asker) Retry(ctx context.Context, reply, reason string) (string, error) {
	if len(a.request.Messages) == 0 {
		a.request.Messages = []llm.Message{{Role: llm.RoleUser, Text: a.turn.Record.Question.Words()}}
	}
	if len(a.last.calls) > 0 {
		a.request.Messages = append(a.request.Messages, a.refused(reason)...)
		return a.send(ctx)
	}
	again := "Answer again with exactly one property list and nothing else, for example:\n" + a.turn.Answer("Your answer").String()
	if len(a.rendered.Tools) > 0 || a.rendered.Schema != nil {
		again = "Answer again: with your answer as text, or with a call of a function that is offered."
	}
	a.request.Messages = append(a.request.Messages,
		llm.Message{Role: llm.RoleAssistant, Text: reply},
		llm.Message{Role: llm.RoleKernel, Text: "Your reply could not be used: " + reason + ".\n" + again})
	return a.send(ctx)
}

// Outcome implements [loop.Asker].
func (a *asker) Outcome() loop.RequestOutcome {
	return loop.RequestOutcome{Finish: a.last.finish, Fault: a.fault, Partial: a.partial, Unusable: a.last.unusable, Remark: a.last.remark, Reply: a.last.stepReply}
}

// send sends the request and reads the reply. It first removes the preview of an earlier reply.
func (a *asker) send(ctx context.Context) (string, error) {
	config := a.turn.Sender.config
	if err := a.turn.Meter.Allows(ctx); err != nil {
		a.fault = err
		return "", err
	}
	a.turn.Screen.Retract()
	a.request = a.request.Map(config.Hide)
	if a.turn.model == "" {
		a.turn.setModel(cmp.Or(a.request.Model, config.Model()))
	}
	a.rendered = config.Dialect.Render(a.request)
	a.estimate = composer.Estimate(config.Dialect, a.rendered)
	begun := time.Now()
	reply, err := a.read(ctx)
	a.last = lastReply{finish: reply.Finish}
	a.recordReply(ctx, reply, time.Since(begun), err)
	if err == nil {
		return a.value(ctx, reply), nil
	}
	return reply.Text, err
}

// recordReply records a reply and counts its usage.
func (a *asker) recordReply(ctx context.Context, reply llm.Reply, took time.Duration, err error) {
	taken := loop.RequestUsage{Counted: reply.Usage, Duration: took, Speed: llm.SpeedOf(reply.Usage, reply.Reasoning != "", a.firstPiece, took)}
	if written := reply.Text + reply.Reasoning + writtenCalls(reply.Calls); written != "" {
		taken.Estimate = a.turn.Requests.Corrected(a.estimate) + prompt.Tokens(written)
	}
	counted := llm.Usage{}
	if reply.Usage != nil {
		counted = *reply.Usage
	}
	entry := map[string]any{
		"text": reply.Text, "finish": reply.Finish, "model": a.turn.model, "input": counted.Input, "output": counted.Output,
		"cost": counted.Cost, "first": a.firstPiece.Seconds(), "seconds": took.Seconds(), "taken": taken.Tokens(),
	}
	if reply.Reasoning != "" {
		entry["thoughts"] = reply.Reasoning
	}
	if len(reply.Calls) > 0 {
		entry["calls"] = reply.Calls
	}
	if err != nil {
		a.fault, a.partial = err, reply.Text
		entry["err"] = err.Error()
	}
	a.turn.Rows.Record(ctx, journal.KindModelReply, entry)
	spent := journal.ReplyUsage{Model: a.turn.model, Estimate: a.estimate, RequestedModel: a.turn.Requests.Model()}
	if a.isCut(ctx, counted) {
		spent.Estimate = 0 // the count says nothing of it
	}
	a.turn.Meter.Count(ctx, taken, spent)
}
