package loop

import (
	"cmp"
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

// propose runs the skill's neuro function and returns its one usable proposal, without the fields that
// nobody outside may set. A reply without one goes back to the model once, with the reason.
func (l *Loop) propose(ctx context.Context) (none action.Proposed, err error) {
	asker := l.Asker()
	out, err := l.Skill.Neuro(ctx, l.Steps.Event(), asker)
	if err != nil {
		return none, l.neuroError(ctx, asker, err)
	}
	switch out.Kind {
	case skill.Proposal:
		if l.alreadyPerformed() {
			return none, errNoProposal
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
			return none, l.neuroError(ctx, asker, err)
		}
		out.Text = text
	case skill.None:
		if !l.Where().Route.AwaitsAnswer() {
			return none, errNoProposal
		}
		return none, fmt.Errorf("the skill %s had nothing to say to this", l.SkillName)
	}
	return l.usableProposal(ctx, asker, out.Text)
}

// errNoProposal ends a turn that needs no answer when the skill proposes nothing more.
var errNoProposal = errors.New("nothing more is proposed")

// proseReason is why prose cannot be used on a route that takes only actions.
const proseReason = "prose is no reply here: what is to be said or done is an action of its own"

// alreadyPerformed reports whether the skill's own proposal has been performed in a turn that needs no
// answer. Asked again, the skill would propose the same action.
func (l *Loop) alreadyPerformed() bool {
	return l.Steps.Count() > 0 && !l.Where().Route.AwaitsAnswer()
}

// neuroError returns the error of a neuro function. If the model had written the beginning of an answer
// before the error or a cancellation, this beginning becomes the answer: it was paid for, and people
// saw it.
func (l *Loop) neuroError(ctx context.Context, asker Asker, err error) error {
	last := asker.Outcome()
	if last.Fault == nil {
		return fmt.Errorf("the skill %s failed: %v", l.SkillName, err)
	}
	if proposal, answers := l.partialAnswer(ctx, last.Partial); answers {
		state := protocol.TurnInterrupted
		if errors.Is(context.Cause(ctx), session.ErrCancelled) {
			state = protocol.TurnCancelled
		}
		l.Turn.SetIncomplete(state)
		ended, err := l.pass(context.WithoutCancel(ctx), proposal)
		l.partial = ended && err == nil
	}
	if end, ok := errors.AsType[EndError](last.Fault); ok {
		return end
	}
	return EndError{protocol.TurnFailed, NoticeOf(last.Fault)}
}

// partialAnswer returns the beginning of a reply as an action. answers is set if the action answers the
// turn.
func (l *Loop) partialAnswer(ctx context.Context, text string) (proposed action.Proposed, answers bool) {
	if blank(text) {
		return proposed, false
	}
	got := plist.Recover(text, plist.RecoverOptions{Input: l.Steps.Input(), IsReply: l.Kinds.IsReply})
	switch {
	case got.Proposal != nil:
		proposed = action.Propose(got.Proposal)
	case !blank(got.Text):
		proposed = l.ReplyAction(strings.TrimRight(got.Text, " \n") + "…")
	}
	proposed, err := l.Policy.Usable(proposed)
	return proposed, err == nil && l.Policy.Answers(ctx, proposed.Action(), l.Where())
}

// NoticeOf returns a model's error for people, with advice.
func NoticeOf(err error) string {
	if hint := llm.HintOf(err); hint != "" {
		return fmt.Sprintf("%v. What to do: %s", err, hint)
	}
	return err.Error()
}

// replyLimit is how many replies in a row may be unusable, callReplyLimit how many with calls that cannot be made:
// a model that got one part of a call wrong often gets another one wrong before it is right.
const replyLimit, callReplyLimit = 2, 3

// usableProposal returns the proposal in a reply. If the reply is unusable the model is asked again.
func (l *Loop) usableProposal(ctx context.Context, asker Asker, reply string) (none action.Proposed, err error) {
	for n := 1; ; n++ {
		proposal, reason := l.readReply(ctx, reply, asker)
		if reason == "" {
			return proposal, nil
		}
		if reason == proseReason && !l.Where().Route.AwaitsAnswer() {
			return none, errNoProposal
		}
		if n >= callReplyLimit || n >= replyLimit && asker.Outcome().Unusable == "" {
			return none, fmt.Errorf("the model's reply could not be used, %s: %s. Try again, or use another model", times[n], reason)
		}
		l.Log.Info("reply unusable, asking again", "reason", reason)
		if reply, err = asker.Retry(ctx, reply, reason); err != nil {
			return none, l.neuroError(ctx, asker, err)
		}
	}
}

var times = [...]string{replyLimit: "twice", callReplyLimit: "three times"}

// readReply reads one reply. reason says why it is unusable, "" if it is usable.
func (l *Loop) readReply(ctx context.Context, reply string, asker Asker) (proposed action.Proposed, reason string) {
	reply, finish := l.Hide(reply), asker.Outcome().Finish // outcome of the reply that the skill got
	got := plist.Recover(reply, plist.RecoverOptions{Input: l.Steps.Input(), Finished: finish != "" && finish != llm.FinishLength, IsReply: l.Kinds.IsReply})
	l.notice = ""
	if finish == llm.FinishLength {
		l.notice = "the reply ran into the model's limit; the answer is incomplete"
	}
	outcome := asker.Outcome()
	switch {
	case outcome.Unusable != "":
		reason = outcome.Unusable
	case errors.Is(got.Err, plist.ErrEmpty):
		reason = "it is empty"
	case got.Err != nil:
		reason = got.Err.Error()
	case got.Proposal == nil && blank(got.Text):
		reason = "it is empty"
	case got.Proposal == nil && !l.Where().Route.TakesProse():
		reason = proseReason
	case got.Proposal == nil:
		proposed = l.ReplyAction(got.Text)
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
	l.Steps.SetRemark(cmp.Or(outcome.Remark, remarkOf(got)))
	l.Steps.SetReply(outcome.Reply)
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

// remarkOf returns what a model is told that proposed several actions at once, "" if it did not.
func remarkOf(got plist.Recovered) string {
	if got.Candidates < 2 || got.Proposal == nil {
		return ""
	}
	return fmt.Sprintf("One at a time: of the %d property lists in your reply only the first was used.", got.Candidates)
}

// blank reports whether the text has only white space.
func blank(text string) bool { return strings.TrimSpace(text) == "" }
