package act

import (
	"context"

	"org-agent/kernel/action"
	"org-agent/kernel/describe"
	"org-agent/kernel/kind"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// subagentTool is the tool that does the same as an :agent :spawn action.
const subagentTool = "start_subagent"

// spawn starts a subagent, as the call of [subagentTool] does.
func spawn(d Deps) kind.Kind {
	return kind.Kind{
		Spec: action.Spec{Target: "agent", Name: "spawn", Tool: subagentTool, Does: "to hand on a part of the work",
			Fields: []action.Field{{Name: "task", Kind: action.Text, Required: true, Example: plist.String("<task>")}}},
		Judge: func(_ context.Context, turn *policy.Turn, _ action.Action) policy.Verdict {
			return turn.Named(subagentTool, policy.Verdict{Kind: policy.Ask, Reason: "a subagent spends tokens and time"})
		},
		Describe: func(a action.Action, _ describe.Deps) describe.Description {
			return describe.Description{
				Summary: "Start a subagent", Language: "text", Text: a.Text("task"),
				Effects: []string{"it asks the model as often as its budget lets it: it costs time and tokens, how many is not known before"},
			}
		},
		Subagent: noSubagent("a subagent starts no subagents: do it, or say in the answer what is left to do"),
		Perform: func(ctx context.Context, o kind.Order) (kind.Result, error) {
			text, _, err := o.Tools.Call(ctx, subagentTool, protocol.Object{{Key: "task", Value: o.Action.Action().Text("task")}})
			return kind.Result{Text: text}, err
		},
	}
}
