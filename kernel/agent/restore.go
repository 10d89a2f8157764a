package agent

import (
	"context"
	"errors"

	"org-agent/kernel/action"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/protocol"
	"org-agent/kernel/tool"
)

// restore takes up what the turn had done before the kernel's end cut it short: the model is
// told of it as if nothing had happened, and nothing that is known to be done is done again.
func (r *run) restore(ctx context.Context) error {
	begun := r.turn.Begun
	r.asked = begun.First() > 0
	for _, done := range begun.Steps {
		if done.IsResult() {
			if err := r.restoreResult(ctx, &done); err != nil {
				return err
			}
		}
		r.input = append(r.input, textsOf(done.Hooks)...)
		r.compose.Exchange.Add(done.ToolStep)
	}
	r.budget.taken, r.spawned = begun.Taken, r.asked // if it had begun, it may have
	rounds := r.compose.Exchange.Rounds()
	if n := len(rounds); n > 0 && rounds[n-1].Last && !r.turn.Waits() {
		r.keepRound(ctx, journal.ToolStep{Note: "The user has you go on: actions are performed again, as many as before."})
	}
	return nil
}

// restoreResult tells the skill of a round that was.
func (r *run) restoreResult(ctx context.Context, done *journal.StepDone) error {
	if done.Question != "" {
		if err := r.restoreAnswers(ctx, done); err != nil {
			return err
		}
	}
	res := result{action: action.Recorded(done.Action), verdict: done.Verdict, text: done.Text, answers: r.answers,
		failure: protocol.ToolError{Code: done.Code, Retryable: done.Retryable}}
	r.answers = nil
	for _, c := range done.Calls {
		res.calls = append(res.calls, kind.Call(c))
	}
	r.addStep(res, done.Took)
	return nil
}

// restoreAnswers finds what a person answered in a round. What was secret of it is gone, and
// so is what the round was good for: that is what its skill and the model are told.
func (r *run) restoreAnswers(ctx context.Context, done *journal.StepDone) error {
	question, err := r.agent.config.Journal.Question(ctx, done.Question)
	if err != nil {
		return err
	}
	_, err = r.answerText(question.Form, givenAnswer{answer: question.Answer})
	if _, declined := errors.AsType[tool.Declined](err); err != nil && !declined {
		done.Verdict, done.Text = "failed", err.Error()
	}
	return nil
}

// recordUntold has the model told what a person answered just before the kernel ended: nobody is to
// be asked twice. What was asked under the id that is left out is told by whoever waits for it.
// Of what was being done then nobody knows whether it was.
func (r *run) recordUntold(ctx context.Context, except string) error {
	begun := r.turn.Begun
	for _, id := range begun.Untold {
		if id == except {
			continue
		}
		question, err := r.agent.config.Journal.Question(ctx, id)
		if err != nil {
			return err
		}
		text, err := r.answerText(question.Form, givenAnswer{answer: question.Answer})
		r.recordAnswer(ctx, action.Recorded(question.Action), text, err)
	}
	if begun.Acting != "" && !r.turn.Waits() {
		r.recordStep(ctx, action.Recorded(begun.Acting), result{verdict: "failed", text: "the kernel ended while this was being done: it is not known whether it happened, so look before you do it again"})
	}
	return nil
}
