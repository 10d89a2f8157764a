package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/gate"
	"org-agent/kernel/agent/loop"
	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
)

// AwaitCall returns the channel for the outcome of a call that will be submitted as this event. It must
// be called before the event is submitted, because a call is made only if somebody waits for it. The
// caller must call forget when it no longer waits.
func (a *Agent) AwaitCall(event string) (outcome <-chan protocol.ToolCallResult, forget func()) {
	return a.calls.Wait(event), func() { a.calls.Forget(event) }
}

// makeCall answers the event of another program: it makes one call, without a skill or a model. The
// policy judges the call like a model's proposal, and a person is asked if the verdict says so.
func (r *run) makeCall(ctx context.Context) error {
	record := r.turn.Record
	if !r.agent.calls.Waits(record.Event) {
		return loop.EndError{State: protocol.TurnInterrupted, Notice: "the program that requested this call is gone, so the call was not made"}
	}
	proposed, err := action.Read(record.Question.Text)
	if err != nil {
		return fmt.Errorf("read the call: %w", err)
	}
	if proposed, err = r.plan.policy.Usable(proposed); err != nil {
		return fmt.Errorf("it is no call: %v", err)
	}
	r.steps.BeginAction()
	result, err := r.gate.Do(ctx, proposed.Action())
	if err != nil {
		return err
	}
	if result.Ended {
		return errors.New("the call had no result")
	}
	step := result.Step
	r.steps.Record(ctx, step)
	text := fmt.Sprintf("%s: %s", toolOf(step.Action), step.Verdict)
	if step.Verdict != gate.Performed {
		text += "\n" + step.Text
	}
	order := r.orders.AnswerOrder()
	order.Action = r.plan.policy.Notice(text)
	if _, err := r.plan.kinds.Perform(context.WithoutCancel(ctx), order); err != nil {
		return fmt.Errorf("write the outcome of the call into the conversation: %w", err)
	}
	r.agent.calls.Resume(record.Event, protocol.ToolCallResult{
		Turn: record.ID, Verdict: protocol.Keyword(step.Verdict), Text: step.Text, Code: step.Failure.Code, Retryable: step.Failure.Retryable,
	})
	return nil
}

// toolOf returns the name of the tool that an action calls, for people.
func toolOf(a action.Action) string {
	if name := action.CallOf(a.Payload()).Tool; name != "" {
		return name
	}
	return "The call"
}

// CallText returns a call of a tool as the text of an event, from which [Agent.Run] reads it.
func (a *Agent) CallText(p protocol.ToolCallParams) (string, error) {
	arguments, err := plist.Marshal(p.Args)
	if err != nil {
		return "", fmt.Errorf("write the arguments: %w", err)
	}
	return a.config.Kinds().Specs().ProposeCall(action.Call{Tool: strings.TrimSpace(p.Tool), Args: arguments}).String(), nil
}
