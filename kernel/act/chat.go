package act

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"org-agent/kernel/action"
	"org-agent/kernel/describe"
	"org-agent/kernel/kind"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/text"
)

// Chat returns the kind of a message on a channel. The field names the chat. Such an action is
// known and judged; the channel's driver gives the kind its Perform. A message into the
// conversation of the turn is an answer.
func Chat(channel, field string) kind.Kind {
	spec := action.Spec{Target: channel, Does: "to send a message elsewhere", Reply: true, Fields: []action.Field{
		{Name: field, Kind: action.Name, Required: true, Example: plist.String("<" + strings.TrimSuffix(field, "-id") + ">"), Chat: true},
		{Name: "text", Kind: action.Text, Required: true, Example: plist.String("<message>")},
		{Name: "reply-to", Kind: action.Name}, {Name: "attachments", Kind: action.List}}}
	chat := func(a action.Action) string {
		name, _ := spec.ChatOf(a)
		return name
	}
	ends := func(a action.Action, where policy.Where) bool {
		return action.Specs{spec}.Delivery(where.Route, a) == action.OwnChat
	}
	return kind.Kind{
		Spec: spec,
		Judge: func(_ context.Context, turn *policy.Turn, a action.Action) policy.Verdict {
			if ends(a, turn.Where) {
				return policy.Verdict{Kind: policy.Allow, Reason: "text into its own conversation"}
			}
			return policy.Verdict{Kind: policy.Ask, Reason: fmt.Sprintf("it sends a message to %s on %s", chat(a), channel)}
		},
		Ends: ends,
		Describe: func(a action.Action, _ describe.Deps) describe.Description {
			effects := []string{
				fmt.Sprintf("%s are sent to %s over the network, through %s", text.Count(utf8.RuneCountInString(a.Text("text")), "character"), chat(a), channel),
				"what was sent cannot be taken back",
			}
			if v, ok := a.Field("attachments"); ok && !plist.IsNil(v) {
				effects = append(effects, "with the attachments "+plist.Print(v))
			}
			return describe.Description{
				Summary: fmt.Sprintf("Send a message to %s on %s", chat(a), channel), Language: "text", Text: a.Text("text"), Effects: effects,
			}
		},
		Sends: chat,
	}
}

// peer speaks to another agent. Nothing performs it until another agent is connected.
func peer() kind.Kind {
	return kind.Kind{
		Spec: action.Spec{Target: "peer", Off: "no peer is connected",
			Fields: []action.Field{{Name: "act", Kind: action.Name, Required: true}, {Name: "text", Kind: action.AnyText}}},
		Sends: func(a action.Action) string { return "" },
	}
}
