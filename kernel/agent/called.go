package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"org-agent/kernel/action"
	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
	"org-agent/kernel/skill"
)

// AwaitCall has the outcome of the call that an event will be sent to the channel, and has to be
// called before the event is submitted: a call that nobody waits for is not made. Whoever waits
// calls forget.
func (a *Agent) AwaitCall(event string) (outcome <-chan protocol.ToolCallResult, forget func()) {
	return a.calls.wait(event), func() { a.calls.forget(event) }
}

// called makes the one call that another program wants made. There is neither a skill nor a model:
// what the program sent is judged and, where that is so, asked about as a model's proposal is.
func (r *run) called(ctx context.Context) error {
	record := r.turn.Record
	if !r.agent.calls.waits(record.Event) {
		return ended{protocol.TurnInterrupted, "the program that wanted this is gone, so it was not done"}
	}
	proposed, err := action.Read(record.Question.Text)
	if err != nil {
		return fmt.Errorf("read the call: %w", err)
	}
	if proposed, err = r.agent.config.Policy.Usable(proposed); err != nil {
		return failf("it is no call: %v", err)
	}
	r.doing = time.Now()
	if _, err := r.decide(ctx, proposed.Action(), "", action.Action{}); err != nil {
		return err
	}
	if len(r.results) == 0 {
		return errors.New("nothing came of the call")
	}
	last := r.results[len(r.results)-1]
	text := fmt.Sprintf("%s: %s", toolOf(last.action), last.verdict)
	if last.verdict != "performed" {
		text += "\n" + last.text
	}
	verified := r.agent.config.Policy.Notice(text)
	order := r.order()
	order.ID, order.Action = r.turn.AnswerID(), verified
	if _, err := r.agent.config.Kinds.Perform(context.WithoutCancel(ctx), order); err != nil {
		return fmt.Errorf("put what became of the call into the conversation: %w", err)
	}
	r.agent.calls.say(record.Event, protocol.ToolCallResult{
		Turn: record.ID, Verdict: protocol.Keyword(last.verdict), Text: last.text, Code: last.failure.Code, Retryable: last.failure.Retryable,
	})
	return nil
}

// nameOf is the name of the skill that answers, "" for another program's call.
func nameOf(k *skill.Skill) string {
	if k == nil {
		return ""
	}
	return k.Name
}

// toolOf is the name of the tool that an action calls, for people.
func toolOf(a action.Action) string {
	if name := calledTool(a); name != "" {
		return name
	}
	return "The call"
}

// CallOf is a call of a tool as an event's text.
func CallOf(p protocol.ToolCallParams) (string, error) {
	arguments, err := plist.Marshal(p.Args)
	if err != nil {
		return "", fmt.Errorf("write the arguments: %w", err)
	}
	text := "(:type :request :target :tool :action :call :tool " + plist.Print(plist.String(strings.TrimSpace(p.Tool)))
	if len(p.Args) > 0 {
		text += " :args " + plist.Print(arguments)
	}
	return text + ")", nil
}
