package agent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"org-agent/kernel/action"
	"org-agent/kernel/agent/history"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
	"org-agent/kernel/tool"
)

// restore takes up what the turn had done before the kernel's end cut it short: the model is
// told of it as if nothing had happened, and nothing that is known to be done is done again.
func (r *run) restore(ctx context.Context) error {
	begun := r.turn.Begun
	r.requests, r.kept = begun.Requests, begun.First() > 0
	for _, done := range begun.Rounds {
		if done.Came() {
			if err := r.restoreResult(ctx, &done); err != nil {
				return err
			}
		}
		r.input = append(r.input, textsOf(done.Hooks)...)
		r.rounds = append(r.rounds, done.Round)
	}
	r.exchange = exchangeOf(r.rounds)
	r.budget.taken, r.spawned = begun.Taken, r.kept // if it had begun, it may have
	if n := len(r.rounds); n > 0 && r.rounds[n-1].Last && !r.turn.Waits() {
		r.keepRound(ctx, journal.Round{Note: "The user has you go on: actions are performed again, as many as before."})
	}
	return nil
}

// restoreResult tells the skill of a round that was.
func (r *run) restoreResult(ctx context.Context, done *journal.RoundDone) error {
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
	r.came(res, done.Took)
	return nil
}

// restoreAnswers finds what a person answered in a round. What was secret of it is gone, and
// so is what the round was good for: that is what its skill and the model are told.
func (r *run) restoreAnswers(ctx context.Context, done *journal.RoundDone) error {
	question, err := r.agent.config.Journal.Question(ctx, done.Question)
	if err != nil {
		return err
	}
	_, err = r.told(question.Form, said{answer: question.Answer})
	if _, declined := errors.AsType[tool.Declined](err); err != nil && !declined {
		done.Verdict, done.Text = "failed", err.Error()
	}
	return nil
}

// tellUntold tells the model what a person answered just before the kernel ended: nobody is to
// be asked twice. What was asked under the id that is left out is told by whoever waits for it.
// Of what was being done then nobody knows whether it was.
func (r *run) tellUntold(ctx context.Context, except string) error {
	begun := r.turn.Begun
	for _, id := range begun.Untold {
		if id == except {
			continue
		}
		question, err := r.agent.config.Journal.Question(ctx, id)
		if err != nil {
			return err
		}
		text, err := r.told(question.Form, said{answer: question.Answer})
		r.toldOf(ctx, action.Recorded(question.Action), text, err)
	}
	if begun.Acting != "" && !r.turn.Waits() {
		r.goOn(ctx, action.Recorded(begun.Acting), result{verdict: "failed", text: "the kernel ended while this was being done: it is not known whether it happened, so look before you do it again"})
	}
	return nil
}

// later is what the rounds take that came behind the first request, in estimated tokens, in a
// turn that goes on after the kernel's end: what is shown of the earlier turns was decided before.
func (r *run) later() int {
	if len(r.requests) == 0 {
		return 0
	}
	return history.Total(exchangeOf(r.rounds[r.requests[0].Rounds:]))
}

// systemOf is what the model is told before the conversation. A turn that waited for a person
// while the kernel was started anew tells it what it did before, though files may have changed
// since: so would it have done without that.
func (r *run) systemOf(ctx context.Context, ask skill.Ask) (string, error) {
	r.asksFor = r.purpose(ask)
	for _, sent := range r.turn.Begun.Requests {
		if sent.For != r.asksFor || !r.turn.Waits() {
			continue
		}
		rows, err := r.agent.config.Journal.Entries(ctx, journal.Query{
			Turn: r.turn.Record.ID, Kinds: []journal.Kind{journal.KindModelRequest}, After: sent.Seq - 1, Limit: 1})
		if err != nil || len(rows) == 0 {
			return "", fmt.Errorf("read what the model was told: %w", err)
		}
		var told struct{ System string }
		if err := json.Unmarshal(rows[0].Data, &told); err != nil {
			return "", fmt.Errorf("read what the model was told: %w", err)
		}
		return told.System, nil
	}
	return r.system(ctx, ask).Text, nil
}

// purpose tells the asks of a turn apart that have system prompts of their own: by the skill's
// part, by how much the kernel says, by the model, and by the kernel itself.
func (r *run) purpose(ask skill.Ask) string {
	hash := sha256.Sum256(fmt.Appendf(nil, "%q %q %t %q %q %q", r.skill.Hash, ask.System, ask.NoStream, r.modeOf(ask), r.asks(), r.agent.config.Runtime))
	return hex.EncodeToString(hash[:8])
}
