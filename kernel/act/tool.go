package act

import (
	"context"
	"slices"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/describe"
	"org-agent/kernel/diff"
	"org-agent/kernel/kind"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// anyArguments returns the arguments of a call as a prompt shows them.
func anyArguments() sexp.List {
	return sexp.List{plist.Keyword("<argument>"), plist.String("<value>")}
}

// call returns the kind of a call of one tool.
func call(d Deps) kind.Kind {
	return kind.Kind{
		Spec: action.Spec{Target: "tool", Name: "call", Does: "to use a tool", Fields: []action.Field{
			{Name: "tool", Kind: action.Tool, Required: true, Example: plist.String("<name>")}, {Name: "args", Kind: action.Plist, Example: anyArguments()}}},
		Judge: func(ctx context.Context, turn *policy.Turn, a action.Action) policy.Verdict {
			judged, _, v := turn.Call(ctx, action.CallOf(a.Payload()))
			v.Action = a.WithPayload(judged.Fields())
			return v
		},
		Describe: func(a action.Action, deps describe.Deps) describe.Description {
			return describeCall(action.CallOf(a.Payload()), deps)
		},
		Calls:    action.Action.Calls,
		Reads:    func(a action.Action) bool { return d.all(a, protocol.ToolReads) },
		Outside:  d.outside,
		Subagent: d.neededTools,
		Check: func(ctx context.Context, o kind.Order, a action.Action) error {
			one := action.CallOf(a.Payload())
			arguments, err := one.Arguments()
			if err != nil {
				return err
			}
			return o.Tools.Check(ctx, one.Tool, arguments)
		},
		Perform: func(ctx context.Context, o kind.Order) (kind.Result, error) {
			a := o.Action.Action()
			one := action.CallOf(a.Payload())
			arguments, err := one.Arguments()
			if err != nil {
				return kind.Result{}, err
			}
			if err := changedSince(o.Tools, one); err != nil {
				return kind.Result{}, err
			}
			text, changed, err := o.Tools.Call(ctx, one.Tool, arguments)
			return d.result(o, text, changed), err
		},
		Undo: func(a action.Action, receipt protocol.Receipt) (changes []protocol.Change, stays []string) {
			switch {
			case d.all(a, protocol.ToolReads, protocol.ToolAsks):
				return nil, nil
			case len(receipt.Files) > 0:
				return kind.Files(receipt)
			}
			return nil, []string{describeCall(action.CallOf(a.Payload()), describe.Deps{}).Finished(describe.Deps{}).Summary}
		},
	}
}

// changedSince returns an error if the tool is not the one that was judged.
func changedSince(tools kind.Tools, judged action.Call) error {
	if now := tools.Digest(judged.Tool); now != "" && judged.Digest() != now {
		return protocol.ToolErrorf(protocol.ToolChanged, "the tool %s changed while this was decided: look at it again", judged.Tool)
	}
	return nil
}

// result returns the result of an order, and reports the changed files to Changed. The receipt has the
// changes, so that they can be undone.
func (d Deps) result(o kind.Order, text string, changed []protocol.FileChange) kind.Result {
	var names []string
	for _, c := range changed {
		if !slices.Contains(names, c.File) {
			names = append(names, c.File)
		}
	}
	if len(names) > 0 && d.Changed != nil {
		d.Changed(protocol.FileChanged{Turn: o.Turn, Files: names})
	}
	return kind.Result{Text: text, Receipt: protocol.Receipt{Files: changed}}
}

// all reports whether every call of the action has one of these effects. It returns false if the
// action has no calls, or calls an unknown tool.
func (d Deps) all(a action.Action, effects ...protocol.ToolEffect) bool {
	calls := a.Calls()
	if d.Catalog == nil || len(calls) == 0 {
		return false
	}
	return !slices.ContainsFunc(calls, func(c action.Call) bool {
		_, effect, found := d.Catalog.Find(c.Tool)
		return !found || !slices.Contains(effects, effect)
	})
}

// outside names the result of the first tool that may return text by others than the person and the
// kernel.
func (d Deps) outside(a action.Action) string {
	for _, c := range a.Calls() {
		if c.Tool != "" && (d.Catalog == nil || !d.Catalog.Own(c.Tool)) {
			return "what " + c.Tool + " returned"
		}
	}
	return ""
}

// neededTools returns the tools of the calls, which a subagent must have. It skips unknown tools,
// which the policy refuses.
func (d Deps) neededTools(a action.Action) (needs []string, refused string) {
	for _, c := range a.Calls() {
		if d.Catalog == nil {
			needs = append(needs, c.Tool)
		} else if written, _, found := d.Catalog.Find(c.Tool); found {
			needs = append(needs, written)
		}
	}
	return needs, ""
}

// describeCall shows what a call would change, as far as its tool reports that.
func describeCall(c action.Call, deps describe.Deps) describe.Description {
	summary, effects := "Call the tool "+c.Tool, []string{"the tool does more than read"}
	change := deps.ChangeOf(c.Tool, c.Args)
	switch {
	case change.Text != "":
		return describe.Description{Summary: change.Summary, Language: "text", Text: describe.Visible(change.Text), Effects: change.Effects}
	case change.File != "":
		file := deps.Short(change.File)
		return describe.Description{
			Summary: change.Summary, Language: "diff", Text: diff.Unified(change.Before, change.After, diff.Options{OldName: file, NewName: file}),
			Effects: append(change.Effects, "it runs nothing and sends nothing over the network"),
		}
	case change.Summary != "":
		summary, effects = change.Summary, change.Effects
	case len(change.Effects) > 0:
		effects = change.Effects
	}
	return describe.Description{Summary: summary, Language: "lisp", Text: describe.Pretty(c.Args), Effects: effects}
}
