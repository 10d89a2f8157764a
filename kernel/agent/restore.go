package agent

import (
	"context"
	"errors"
	"fmt"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/gate"
	"org-agent/kernel/agent/loop"
	"org-agent/kernel/agent/person"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/protocol"
	"org-agent/kernel/tool"
)

// restore restores the steps of the turn from before a restart of the kernel. The model sees them as
// without the restart, and no performed action is repeated.
func (r *run) restore(ctx context.Context) error {
	begun := r.turn.Checkpoint
	for _, done := range begun.Steps {
		if done.IsResult() {
			if err := r.restoreResult(ctx, &done); err != nil {
				return err
			}
		}
		r.steps.Restore(done.ToolStep)
	}
	r.meter.Budget.Restore(begun.Used)
	r.meter.HasSubagents = begun.First() > 0 // a turn that asked the model may have started subagents
	steps := r.requests.Exchange.Steps()
	if n := len(steps); n > 0 && steps[n-1].Last && !r.turn.Waits() {
		r.steps.AddNote(ctx, "The user wants you to go on: actions are performed again, as many as before.")
	}
	return nil
}

// restoreResult restores a step with a result for the skill.
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

// restoreAnswers restores a person's answers in a step. Secrets are not stored: if an answer was
// secret, the step has failed, for the skill and for the model.
func (r *run) restoreAnswers(ctx context.Context, done *journal.StepDone) error {
	question, err := r.agent.config.Journal.Asks.Ask(ctx, done.Question)
	if err != nil {
		return err
	}
	_, err = r.person.AnswerText(*question.Form, person.Decision{AskOutcome: question.AskOutcome})
	if _, declined := errors.AsType[tool.Declined](err); err != nil && !declined {
		done.Verdict, done.Text = "failed", err.Error()
	}
	return nil
}

// recordLostAnswers records, as steps, the answers that a person gave just before the kernel ended, so
// that nobody is asked twice. It leaves out the answer to the ask with the id except, which its waiting
// turn records. An action that was running then becomes a failed step, because it is unknown whether it
// happened.
func (r *run) recordLostAnswers(ctx context.Context, except string) error {
	begun := r.turn.Checkpoint
	for _, id := range begun.UnshownAnswers {
		if id == except {
			continue
		}
		question, err := r.agent.config.Journal.Asks.Ask(ctx, id)
		if err != nil {
			return err
		}
		text, err := r.person.AnswerText(*question.Form, person.Decision{AskOutcome: question.AskOutcome})
		r.steps.Record(ctx, gate.PerformedStep(action.Recorded(question.Action), text, err))
	}
	if begun.Acting != "" && !r.turn.Waits() {
		r.steps.Record(ctx, gate.Step{Action: action.Recorded(begun.Acting), Verdict: gate.Failed, Text: "the kernel ended while this was being done: it is not known whether it happened, so look before you do it again"})
	}
	return nil
}

// resumeWaiting waits again for the ask for which the turn waited before a restart of the kernel. A
// decision that a person has made meanwhile counts.
func (r *run) resumeWaiting(ctx context.Context) (ended bool, err error) {
	rows, err := r.agent.config.Journal.Records.Entries(ctx, journal.Query{
		Turn: r.turn.Record.ID, Kinds: []journal.Kind{journal.KindApproval, journal.KindQuestion}, Latest: true, Limit: 1})
	if err != nil {
		return false, err
	}
	if len(rows) == 0 {
		return false, interruptedWaiting()
	}
	opened, closed, err := r.person.Reopen(ctx, rows[0].ID)
	if err != nil {
		return false, err
	}
	if closed {
		return false, interruptedWaiting()
	}
	defer opened.Close()
	if err := r.chooseSkill(ctx); err != nil {
		return false, err
	}
	if err := r.recordLostAnswers(ctx, opened.Ask.ID); err != nil {
		return false, err
	}
	if opened.Ask.Sort == protocol.AskQuestion {
		return false, r.resumeQuestion(ctx, opened)
	}
	return r.resumeApproval(ctx, opened)
}

// interruptedWaiting is the error of a turn whose ask the last kernel closed.
func interruptedWaiting() error {
	return loop.EndError{State: protocol.TurnInterrupted, Notice: "the kernel ended while this waited for you"}
}

// resumeApproval waits again for the decision on an approval. A decision that the last kernel did not
// carry out counts.
func (r *run) resumeApproval(ctx context.Context, approval *person.Waiting) (ended bool, err error) {
	asked, err := action.Read(approval.Ask.Action)
	if err != nil {
		return false, fmt.Errorf("read the action that waits: %w", err)
	}
	decision, err := approval.Decide(ctx)
	if err != nil {
		return false, err
	}
	result, err := r.gate.ApplyDecision(ctx, asked.Action(), approval.Ask.Hash, decision)
	if err != nil {
		return false, err
	}
	return r.loop.Record(ctx, result)
}

// resumeQuestion waits again for the answer to a question. An answer that the last kernel did not record
// in the turn counts.
func (r *run) resumeQuestion(ctx context.Context, question *person.Waiting) error {
	text, err := question.Answer(ctx)
	if still, ok := errors.AsType[gate.StillWaitingError](err); ok {
		return still.Cause
	}
	r.gate.RecordReceipt(ctx, question.Ask.Act, kind.Result{Text: text}, err)
	r.steps.Record(ctx, gate.PerformedStep(action.Recorded(question.Ask.Action), text, err))
	return nil
}
