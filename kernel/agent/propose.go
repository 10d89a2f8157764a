package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
	"org-agent/kernel/skill"
)

// propose runs the skill's neuro function and returns its one usable proposal,
// stripped of what nobody may set. A reply that holds none is sent back to the
// model once, with the reason.
func (r *run) propose(ctx context.Context) (sexp.List, error) {
	asker := &asker{run: r}
	neuro := r.skill.Neuro
	if r.looked != nil {
		neuro = r.skill.Look
	}
	out, err := neuro(ctx, r.event(), asker)
	if err != nil {
		return nil, r.neuroFault(ctx, asker, err)
	}
	switch out.Kind {
	case skill.Proposal:
		proposal, _ := policy.Strip(out.Proposal)
		proposal, _ = r.agent.hideIn(proposal).(sexp.List)
		r.record(ctx, journal.KindProposal, map[string]any{"skill": r.skill.Name, "action": plist.Print(proposal)})
		if err := r.agent.config.Policy.Usable(proposal); err != nil {
			return nil, failf("the skill %s proposed what is no action: %v", r.skill.Name, err)
		}
		return proposal, nil
	case skill.Prompt:
		text, err := asker.Ask(ctx, skill.Ask{Text: out.Text})
		if err != nil {
			return nil, r.neuroFault(ctx, asker, err)
		}
		out.Text = text
	case skill.None:
		return nil, failf("the skill %s had nothing to say to this", r.skill.Name)
	}
	return r.usable(ctx, asker, out.Text)
}

// neuroFault is the error of a neuro function. What the model had written
// before a cut or a cancellation is kept: it was paid for, and seen.
func (r *run) neuroFault(ctx context.Context, asker *asker, err error) error {
	if asker.fault == nil {
		return failf("the skill %s failed: %v", r.skill.Name, err)
	}
	if proposal := r.partial(ctx, asker.partial); proposal != nil {
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
func (r *run) partial(ctx context.Context, text string) sexp.List {
	if blank(text) {
		return nil
	}
	got := plist.Recover(text, plist.RecoverOptions{Input: r.input, Finished: false})
	proposal := got.Proposal
	if proposal == nil {
		if blank(got.Text) {
			return nil
		}
		proposal = r.reply(strings.TrimRight(got.Text, " \n") + "…")
	}
	proposal, _ = policy.Strip(proposal)
	if !r.agent.config.Policy.Answers(ctx, proposal, r.where()) {
		return nil
	}
	return proposal
}

// noticeOf is what a person is told of a model's error.
func noticeOf(err error) string {
	if hint := llm.HintOf(err); hint != "" {
		return fmt.Sprintf("%v. What to do: %s", err, hint)
	}
	return err.Error()
}

// usable turns a reply into a proposal, with one more try.
func (r *run) usable(ctx context.Context, asker *asker, reply string) (sexp.List, error) {
	proposal, reason := r.recover(ctx, reply, asker)
	if reason == "" {
		return proposal, nil
	}
	r.log.Info("reply not usable, asking again", "reason", reason)
	again, err := asker.again(ctx, reply, reason)
	if err != nil {
		return nil, r.neuroFault(ctx, asker, err)
	}
	proposal, reason = r.recover(ctx, again, asker)
	if reason == "" {
		return proposal, nil
	}
	return nil, failf("the model's reply could not be used, twice: %s. Try again, or use another model", reason)
}

// recover reads one reply; reason says why it cannot be used.
func (r *run) recover(ctx context.Context, reply string, asker *asker) (proposal sexp.List, reason string) {
	reply = r.agent.Hide(reply) // it is the skill's as well
	got := plist.Recover(reply, plist.RecoverOptions{Input: r.input, Finished: asker.finish != "" && asker.finish != llm.FinishLength})
	r.notice = ""
	if asker.finish == llm.FinishLength {
		r.notice = "the reply ran into the model's limit; the answer is incomplete"
	}
	switch {
	case got.Err != nil:
		reason = got.Err.Error()
	case got.Proposal == nil && blank(got.Text):
		reason = "it is empty"
	case got.Proposal == nil:
		proposal = r.reply(got.Text)
	default:
		var stripped bool
		proposal, stripped = policy.Strip(got.Proposal)
		if stripped {
			r.log.Warn("a reply set fields that nobody outside may set")
		}
	}
	if reason == "" {
		if err := r.agent.config.Policy.Usable(proposal); err != nil {
			reason = err.Error()
		}
	}
	entry := map[string]any{"skill": r.skill.Name, "steps": got.Steps, "candidates": got.Candidates}
	if proposal != nil {
		entry["action"] = plist.Print(proposal)
	}
	if reason != "" {
		entry["unusable"] = reason
	}
	r.record(ctx, journal.KindProposal, entry)
	return proposal, reason
}
