package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
	"org-agent/kernel/skill"
)

// propose runs the skill's neuro function and returns its one usable proposal,
// stripped of what nobody may set. A reply that holds none is sent back to the
// model once, with the reason.
func (r *run) propose(ctx context.Context) (none action.Proposed, err error) {
	asker := &asker{run: r}
	out, err := r.skill.Neuro(ctx, r.event(), asker)
	if err != nil {
		return none, r.neuroFault(ctx, asker, err)
	}
	switch out.Kind {
	case skill.Proposal:
		if r.proposedAll() {
			return none, errNothingMore
		}
		list, _ := r.agent.hideIn(out.Proposal).(sexp.List)
		proposed := action.Propose(list)
		r.record(ctx, journal.KindProposal, map[string]any{"skill": r.skill.Name, "action": proposed.String()})
		usable, err := r.agent.config.Policy.Usable(proposed)
		if err != nil {
			return none, failf("the skill %s proposed what is no action: %v", r.skill.Name, err)
		}
		return usable, nil
	case skill.Prompt:
		text, err := asker.Ask(ctx, skill.Ask{Text: out.Text})
		if err != nil {
			return none, r.neuroFault(ctx, asker, err)
		}
		out.Text = text
	case skill.None:
		if !r.turn.Record.Question.Route.AwaitsAnswer() {
			return none, errNothingMore
		}
		return none, failf("the skill %s had nothing to say to this", r.skill.Name)
	}
	return r.usable(ctx, asker, out.Text)
}

// errNothingMore: the skill has nothing more to propose, on a route on which nobody waits for an
// answer. The turn ends with what was done.
var errNothingMore = errors.New("nothing more is proposed")

// proseIsNoReply is what a model is told that writes prose on a route where that is no reply.
const proseIsNoReply = "prose is no reply here: what is to be said or done is an action of its own"

// proposedAll reports whether what the skill proposes by itself has been done, where nobody waits
// for an answer: asked again it would propose the same.
func (r *run) proposedAll() bool {
	return len(r.results) > 0 && !r.turn.Record.Question.Route.AwaitsAnswer()
}

// neuroFault is the error of a neuro function. What the model had written
// before a cut or a cancellation is kept: it was paid for, and seen.
func (r *run) neuroFault(ctx context.Context, asker *asker, err error) error {
	if asker.fault == nil {
		return failf("the skill %s failed: %v", r.skill.Name, err)
	}
	if proposal, answers := r.partial(ctx, asker.partial); answers {
		state := protocol.TurnInterrupted
		if errors.Is(context.Cause(ctx), session.ErrCancelled) {
			state = protocol.TurnCancelled
		}
		r.turn.Incomplete(state)
		done, performErr := r.perform(context.WithoutCancel(ctx), proposal)
		r.cut = done && performErr == nil
	}
	if end, ok := errors.AsType[ended](asker.fault); ok {
		return end
	}
	return ended{protocol.TurnFailed, noticeOf(asker.fault)}
}

// partial is the reply as far as it came, when it is an answer to show.
func (r *run) partial(ctx context.Context, text string) (proposed action.Proposed, answers bool) {
	if blank(text) {
		return proposed, false
	}
	got := plist.Recover(text, plist.RecoverOptions{Input: r.input, IsReply: r.agent.config.Kinds.IsReply})
	switch {
	case got.Proposal != nil:
		proposed = action.Propose(got.Proposal)
	case !blank(got.Text):
		proposed = r.reply(strings.TrimRight(got.Text, " \n") + "…")
	}
	proposed, err := r.agent.config.Policy.Usable(proposed)
	return proposed, err == nil && r.agent.config.Policy.Answers(ctx, proposed.Action(), r.where())
}

// noticeOf is what a person is told of a model's error.
func noticeOf(err error) string {
	if hint := llm.HintOf(err); hint != "" {
		return fmt.Sprintf("%v. What to do: %s", err, hint)
	}
	return err.Error()
}

// usable turns a reply into a proposal, with one more try.
func (r *run) usable(ctx context.Context, asker *asker, reply string) (none action.Proposed, err error) {
	proposal, reason := r.recover(ctx, reply, asker)
	if reason == "" {
		return proposal, nil
	}
	if reason == proseIsNoReply && !r.turn.Record.Question.Route.AwaitsAnswer() {
		return none, errNothingMore
	}
	r.log.Info("reply not usable, asking again", "reason", reason)
	again, err := asker.again(ctx, reply, reason)
	if err != nil {
		return none, r.neuroFault(ctx, asker, err)
	}
	proposal, reason = r.recover(ctx, again, asker)
	if reason == "" {
		return proposal, nil
	}
	return none, failf("the model's reply could not be used, twice: %s. Try again, or use another model", reason)
}

// recover reads one reply; reason says why it cannot be used.
func (r *run) recover(ctx context.Context, reply string, asker *asker) (proposed action.Proposed, reason string) {
	reply = r.agent.Hide(reply) // it is the skill's as well
	got := plist.Recover(reply, plist.RecoverOptions{Input: r.input, Finished: asker.finish != "" && asker.finish != llm.FinishLength, IsReply: r.agent.config.Kinds.IsReply})
	r.notice = ""
	if asker.finish == llm.FinishLength {
		r.notice = "the reply ran into the model's limit; the answer is incomplete"
	}
	switch {
	case got.Err != nil:
		reason = got.Err.Error()
	case got.Proposal == nil && blank(got.Text):
		reason = "it is empty"
	case got.Proposal == nil && !r.turn.Record.Question.Route.TakesProse():
		reason = proseIsNoReply
	case got.Proposal == nil:
		proposed = r.reply(got.Text)
	default:
		if proposed = action.Propose(got.Proposal); proposed.Stripped() {
			r.log.Warn("a reply set fields that nobody outside may set")
		}
	}
	if reason == "" {
		var err error
		if proposed, err = r.agent.config.Policy.Usable(proposed); err != nil {
			reason = err.Error()
		}
	}
	entry := map[string]any{"skill": r.skill.Name, "steps": got.Steps, "candidates": got.Candidates}
	if !proposed.Empty() {
		entry["action"] = proposed.String()
	}
	if reason != "" {
		entry["unusable"] = reason
	}
	r.record(ctx, journal.KindProposal, entry)
	return proposed, reason
}
