package loop

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
func (l *Loop) propose(ctx context.Context) (none action.Proposed, err error) {
	asker := l.Asker()
	out, err := l.Skill.Neuro(ctx, l.Steps.Event(), asker)
	if err != nil {
		return none, l.neuroFault(ctx, asker, err)
	}
	switch out.Kind {
	case skill.Proposal:
		if l.proposedAll() {
			return none, errNothingMore
		}
		list, _ := l.HideIn(out.Proposal).(sexp.List)
		proposed := action.Propose(list)
		l.Rows.Record(ctx, journal.KindProposal, map[string]any{"skill": l.SkillName, "action": proposed.String()})
		usable, err := l.Policy.Usable(proposed)
		if err != nil {
			return none, fmt.Errorf("the skill %s proposed what is no action: %v", l.SkillName, err)
		}
		return usable, nil
	case skill.Prompt:
		text, err := asker.Ask(ctx, skill.Ask{Text: out.Text})
		if err != nil {
			return none, l.neuroFault(ctx, asker, err)
		}
		out.Text = text
	case skill.None:
		if !l.Where().Route.AwaitsAnswer() {
			return none, errNothingMore
		}
		return none, fmt.Errorf("the skill %s had nothing to say to this", l.SkillName)
	}
	return l.usable(ctx, asker, out.Text)
}

// errNothingMore: the skill has nothing more to propose, on a route on which nobody waits for an
// answer. The turn ends with what was done.
var errNothingMore = errors.New("nothing more is proposed")

// proseIsNoReply is the reason why prose cannot be used on a route that takes only actions.
const proseIsNoReply = "prose is no reply here: what is to be said or done is an action of its own"

// proposedAll reports whether the skill's own proposal has been done on a route on which nobody waits
// for an answer. The skill would propose the same again.
func (l *Loop) proposedAll() bool {
	return l.Steps.Count() > 0 && !l.Where().Route.AwaitsAnswer()
}

// neuroFault is the error of a neuro function. If the model had written the beginning of an answer
// before a cut or a cancellation, that becomes the answer: it was paid for, and people saw it.
func (l *Loop) neuroFault(ctx context.Context, asker Asker, err error) error {
	last := asker.Last()
	if last.Fault == nil {
		return fmt.Errorf("the skill %s failed: %v", l.SkillName, err)
	}
	if proposal, answers := l.partial(ctx, last.Partial); answers {
		state := protocol.TurnInterrupted
		if errors.Is(context.Cause(ctx), session.ErrCancelled) {
			state = protocol.TurnCancelled
		}
		l.Turn.Incomplete(state)
		ended, err := l.pass(context.WithoutCancel(ctx), proposal)
		l.cut = ended && err == nil
	}
	if end, ok := errors.AsType[Ended](last.Fault); ok {
		return end
	}
	return Ended{protocol.TurnFailed, NoticeOf(last.Fault)}
}

// partial is the reply as far as it came, when it is an answer to show.
func (l *Loop) partial(ctx context.Context, text string) (proposed action.Proposed, answers bool) {
	if blank(text) {
		return proposed, false
	}
	got := plist.Recover(text, plist.RecoverOptions{Input: l.Steps.Input(), IsReply: l.Kinds.IsReply})
	switch {
	case got.Proposal != nil:
		proposed = action.Propose(got.Proposal)
	case !blank(got.Text):
		proposed = l.Reply(strings.TrimRight(got.Text, " \n") + "…")
	}
	proposed, err := l.Policy.Usable(proposed)
	return proposed, err == nil && l.Policy.Answers(ctx, proposed.Action(), l.Where())
}

// NoticeOf is a model's error as people are shown it, with what to do.
func NoticeOf(err error) string {
	if hint := llm.HintOf(err); hint != "" {
		return fmt.Sprintf("%v. What to do: %s", err, hint)
	}
	return err.Error()
}

// usable turns a reply into a proposal, with one more try.
func (l *Loop) usable(ctx context.Context, asker Asker, reply string) (none action.Proposed, err error) {
	proposal, reason := l.recover(ctx, reply, asker)
	if reason == "" {
		return proposal, nil
	}
	if reason == proseIsNoReply && !l.Where().Route.AwaitsAnswer() {
		return none, errNothingMore
	}
	l.Log.Info("reply not usable, asking again", "reason", reason)
	again, err := asker.Again(ctx, reply, reason)
	if err != nil {
		return none, l.neuroFault(ctx, asker, err)
	}
	proposal, reason = l.recover(ctx, again, asker)
	if reason == "" {
		return proposal, nil
	}
	return none, fmt.Errorf("the model's reply could not be used, twice: %s. Try again, or use another model", reason)
}

// recover reads one reply; reason says why it cannot be used.
func (l *Loop) recover(ctx context.Context, reply string, asker Asker) (proposed action.Proposed, reason string) {
	reply, finish := l.Hide(reply), asker.Last().Finish // it is the skill's as well
	got := plist.Recover(reply, plist.RecoverOptions{Input: l.Steps.Input(), Finished: finish != "" && finish != llm.FinishLength, IsReply: l.Kinds.IsReply})
	l.notice = ""
	if finish == llm.FinishLength {
		l.notice = "the reply ran into the model's limit; the answer is incomplete"
	}
	switch {
	case got.Err != nil:
		reason = got.Err.Error()
	case got.Proposal == nil && blank(got.Text):
		reason = "it is empty"
	case got.Proposal == nil && !l.Where().Route.TakesProse():
		reason = proseIsNoReply
	case got.Proposal == nil:
		proposed = l.Reply(got.Text)
	default:
		if proposed = action.Propose(got.Proposal); proposed.Stripped() {
			l.Log.Warn("a reply set fields that nobody outside may set")
		}
	}
	if reason == "" {
		var err error
		if proposed, err = l.Policy.Usable(proposed); err != nil {
			reason = err.Error()
		}
	}
	entry := map[string]any{"skill": l.SkillName, "steps": got.Steps, "candidates": got.Candidates}
	if !proposed.Empty() {
		entry["action"] = proposed.String()
	}
	if reason != "" {
		entry["unusable"] = reason
	}
	l.Rows.Record(ctx, journal.KindProposal, entry)
	return proposed, reason
}

// blank reports whether there is nothing to show in text.
func blank(text string) bool { return strings.TrimSpace(text) == "" }
