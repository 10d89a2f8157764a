package reply

import (
	"context"
	"fmt"
	"strings"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/suggest"
)

// value returns the value of an ask: the text of the reply, or the canonical action of the functions that
// it calls. Several calls that only read are one action. Of others only the first is used, and the model
// is told so.
func (a *asker) value(ctx context.Context, reply llm.Reply) string {
	a.last.calls, a.last.original = reply.Calls, reply.Original
	if len(reply.Calls) == 0 {
		return reply.Text
	}
	a.turn.Screen.Retract()
	if a.last.commentary = a.commentaryOf(ctx, reply.Text); a.last.commentary != "" && a.stream {
		a.turn.Screen.AddCommentary(a.last.commentary)
	}
	if reply.Finish == llm.FinishLength {
		a.last.unusable = "the reply ran into the model's limit in the middle of a call, so nothing was done: make the call shorter, or do it in several"
		return writtenCalls(reply.Calls)
	}
	action, err := a.action(reply.Calls)
	if err != nil {
		a.last.unusable = err.Error()
		return writtenCalls(reply.Calls)
	}
	return action
}

// commentaryOf returns the text beside calls, which is no reply and ends nothing. It is "" if skill and policy
// would not let the text pass as one. People see it as a quiet line, and the model in the history.
func (a *asker) commentaryOf(ctx context.Context, text string) string {
	if text = strings.TrimSpace(text); text == "" || !a.turn.Gate.Previews(ctx, a.turn.Answer(text).List()) {
		return ""
	}
	return text
}

// action returns the action of calls.
func (a *asker) action(calls []llm.FunctionCall) (string, error) {
	var actions []string
	together := true
	for i, c := range calls {
		action, reads, err := a.propose(c)
		if err != nil && i == 0 {
			return "", err
		}
		if err != nil {
			a.last.remark = fmt.Sprintf("The call of %s was not made: %v.", c.Name, err)
			break
		}
		if together = together && reads; i > 0 && !together {
			break
		}
		actions = append(actions, action)
	}
	var skipped []llm.FunctionCall
	if len(a.rendered.Tools) > 0 { // else the model wrote its calls as text, and the server knows none
		skipped = calls[len(actions):]
	}
	a.last.stepReply = stepReply(a.last.original, a.last.commentary, skipped)
	if left := len(calls) - len(actions); left > 0 && a.last.remark == "" {
		a.last.remark = fmt.Sprintf("One at a time: of your %d calls only the first was made.", len(calls))
		if len(actions) > 1 {
			a.last.remark = fmt.Sprintf("Of your %d calls only the first %d were made: what does more than read is called by itself.", len(calls), len(actions))
		}
	}
	if len(actions) == 1 {
		return actions[0], nil
	}
	return a.turn.Together(actions)
}

// stepReply returns the reply as the journal stores it, nil if there is nothing to store. skipped are the
// calls that are not made.
func stepReply(original *llm.Original, commentary string, skipped []llm.FunctionCall) *journal.StepReply {
	if original == nil && commentary == "" && len(skipped) == 0 {
		return nil
	}
	stored := &journal.StepReply{Commentary: commentary}
	if original != nil {
		stored.Writer, stored.Data = original.Writer, original.Data
	}
	for _, c := range skipped {
		stored.Skipped = append(stored.Skipped, journal.StepFunction{Name: c.Name, Arguments: c.Arguments})
	}
	return stored
}

// propose returns the action of a call. The error is for the model.
func (a *asker) propose(c llm.FunctionCall) (action string, reads bool, err error) {
	function, offered := llm.Named(a.request.Tools, strings.TrimSpace(c.Name))
	if !offered {
		var names []string
		for _, t := range a.request.Tools {
			names = append(names, llm.FunctionName(t.Name))
		}
		hint := "; none is offered here: answer with text"
		if near := suggest.Of(c.Name, names); near != "" {
			hint = fmt.Sprintf("; %s is one", near)
		} else if len(names) > 0 {
			hint = "; there is " + strings.Join(names[:min(len(names), 40)], ", ")
		}
		return "", false, fmt.Errorf("there is no function %.80q%s", c.Name, hint)
	}
	if action, err = function.Propose([]byte(c.Arguments)); err != nil {
		return "", false, fmt.Errorf("the call of %s: %w", function.Name, err)
	}
	return action, function.Reads, nil
}

// refused returns the messages that tell a model why its calls could not be used: the calls, and an error
// for each of them.
func (a *asker) refused(reason string) []llm.Message {
	reply := llm.Message{Role: llm.RoleAssistant, Text: a.last.commentary, Original: a.last.original}
	outcome := &llm.Outcome{}
	for i, c := range a.last.calls {
		call := llm.Call{Function: &c}
		reply.Calls = append(reply.Calls, call)
		text := reason
		if i > 0 {
			text = "not made, because of the first call"
		}
		outcome.Results = append(outcome.Results, llm.Result{Call: call, Verdict: "refused", Text: text, Failure: &llm.Failure{Code: "unusable"}})
	}
	return []llm.Message{reply, {Role: llm.RoleKernel, Outcome: outcome}}
}

// writtenCalls returns calls as text, for a note that asked for them.
func writtenCalls(calls []llm.FunctionCall) string {
	var b strings.Builder
	for _, c := range calls {
		fmt.Fprintf(&b, "%s %s\n", c.Name, c.Arguments)
	}
	return b.String()
}
