package act

import (
	"context"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/describe"
	"org-agent/kernel/kind"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// shellTool is the tool that does the same as a :shell action.
const shellTool = "exec"

// shell runs a command line, as the call of [shellTool] does.
func shell(d Deps) kind.Kind {
	k := kind.Kind{
		Spec: action.Spec{Target: "shell", Tool: shellTool, Does: "to run a command", Fields: []action.Field{
			{Name: "cmd", Kind: action.Text, Required: true, Example: plist.String("<command>")}, {Name: "cwd", Kind: action.Text}, {Name: "timeout", Kind: action.Integer}}},
		Judge:    judgeShell,
		Describe: describeShell,
		Calls:    func(a action.Action) []action.Call { return []action.Call{shellCall(a)} },
		Outside:  func(action.Action) string { return "what a command wrote" },
		Subagent: func(action.Action) ([]string, string) { return []string{shellTool}, "" },
		Check: func(ctx context.Context, o kind.Order, a action.Action) error {
			arguments, err := shellCall(a).Arguments()
			if err != nil {
				return err
			}
			return o.Tools.Check(ctx, shellTool, arguments)
		},
	}
	if d.Commands {
		k.Perform = func(ctx context.Context, o kind.Order) (kind.Result, error) {
			arguments, err := shellCall(o.Action.Action()).Arguments()
			if err != nil {
				return kind.Result{}, err
			}
			text, _, err := o.Tools.Call(ctx, shellTool, arguments)
			return kind.Result{Text: text}, err
		}
	}
	return k
}

// shellCall returns the call that does the same as a :shell action.
func shellCall(a action.Action) action.Call {
	command, _ := a.Field("cmd")
	arguments := sexp.List{plist.Keyword("command"), command}
	for _, key := range [...]string{"cwd", "timeout"} {
		if value, there := a.Field(key); there && !plist.IsNil(value) {
			arguments = append(arguments, plist.Keyword(key), value)
		}
	}
	return action.Call{Tool: shellTool, Args: arguments}
}

// judgeShell judges a command line as the call of the tool that runs it. Without that tool, the
// directory of the command line is the home unless the action names another one.
func judgeShell(ctx context.Context, turn *policy.Turn, a action.Action) policy.Verdict {
	arguments, err := shellCall(a).Arguments()
	if err != nil {
		return policy.Refused("%v", err)
	}
	if resolved, v, known := turn.As(ctx, shellTool, arguments); known {
		if cwd := resolved.Text("cwd"); cwd != "" {
			v.Action = a.With("cwd", plist.String(cwd))
		}
		return v
	}
	directory, err := turn.Directory(a.Text("cwd"))
	if err != nil {
		return policy.Refused("%v", err)
	}
	return turn.Reach(protocol.Reach{Kind: protocol.ReachRuns, Command: a.Text("cmd"), Path: directory})
}

func describeShell(a action.Action, deps describe.Deps) describe.Description {
	text := a.Text("cmd")
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	d := describe.Description{Summary: "Run " + first, Language: "text", Text: text}
	if c := deps.ChangeOf(shellTool, shellCall(a).Args); c.Text != "" {
		d.Effects = c.Effects
		return d
	}
	where := a.Text("cwd")
	if where == "" {
		where = "an empty directory"
	}
	d.Effects = []string{
		"it runs a program on this machine as you, in " + where,
		"what it reads, writes or sends over the network cannot be foretold",
	}
	return d
}
