package agent

import (
	"context"
	"errors"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/gate"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
	"org-agent/kernel/tool"
)

// restore takes up what the turn had done before the kernel ended. The model is shown it as if the
// kernel had not ended, and nothing that is known to be done is done again.
func (r *run) restore(ctx context.Context) error {
	begun := r.turn.Begun
	r.questionKept = begun.First() > 0
	for _, done := range begun.Steps {
		if done.IsResult() {
			if err := r.restoreResult(ctx, &done); err != nil {
				return err
			}
		}
		r.steps.Restore(done.ToolStep)
	}
	r.meter.Restore(begun.Taken)
	r.meter.HandedOn = r.questionKept // a turn that had asked the model may have started subagents
	steps := r.compose.Exchange.Steps()
	if n := len(steps); n > 0 && steps[n-1].Last && !r.turn.Waits() {
		r.steps.AddNote(ctx, "The user has you go on: actions are performed again, as many as before.")
	}
	return nil
}

// restoreResult shows the skill the result of a step.
func (r *run) restoreResult(ctx context.Context, done *journal.StepDone) error {
	if done.Question != "" {
		if err := r.restoreAnswers(ctx, done); err != nil {
			return err
		}
	}
	step := gate.Step{Action: action.Recorded(done.Action), Verdict: done.Verdict, Text: done.Text,
		Failure: protocol.ToolError{Code: done.Code, Retryable: done.Retryable}}
	for _, c := range done.Calls {
		step.Calls = append(step.Calls, kind.Call(c))
	}
	r.steps.Add(step, done.Took)
	return nil
}

// restoreAnswers finds what a person answered in a step. Secrets are kept nowhere: if there was one,
// the step has failed, and its skill and the model are shown that.
func (r *run) restoreAnswers(ctx context.Context, done *journal.StepDone) error {
	question, err := r.agent.config.Journal.Asks.Ask(ctx, done.Question)
	if err != nil {
		return err
	}
	_, err = r.answerText(*question.Form, session.Decision{AskOutcome: question.AskOutcome})
	if _, declined := errors.AsType[tool.Declined](err); err != nil && !declined {
		done.Verdict, done.Text = "failed", err.Error()
	}
	return nil
}

// recordUntold records, as steps, the answers that a person gave just before the kernel ended, so
// that nobody is asked twice. The answer to the ask with the id except is left out: whoever waits for
// it records it. An action that was being performed then is a failed step, because it is not known
// whether it happened.
func (r *run) recordUntold(ctx context.Context, except string) error {
	begun := r.turn.Begun
	for _, id := range begun.Untold {
		if id == except {
			continue
		}
		question, err := r.agent.config.Journal.Asks.Ask(ctx, id)
		if err != nil {
			return err
		}
		text, err := r.answerText(*question.Form, session.Decision{AskOutcome: question.AskOutcome})
		r.steps.Record(ctx, gate.Done(action.Recorded(question.Action), text, err))
	}
	if begun.Acting != "" && !r.turn.Waits() {
		r.steps.Record(ctx, gate.Step{Action: action.Recorded(begun.Acting), Verdict: gate.Failed, Text: "the kernel ended while this was being done: it is not known whether it happened, so look before you do it again"})
	}
	return nil
}
