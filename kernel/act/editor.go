package act

import (
	"context"

	"org-agent/kernel/action"
	"org-agent/kernel/kind"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// emacs is the target of what an editor does.
const emacs = "emacs"

// actOf returns an act of an editor, with the fields that it needs.
func actOf(name string, fields ...protocol.Field) protocol.Act {
	return protocol.Act{
		Type: protocol.TypeRequest, Target: emacs,
		Payload: append(protocol.Object{{Key: "action", Value: protocol.Keyword(name)}}, fields...),
	}
}

// InEditor completes a kind that a client performs and announces by its name. If changes is true,
// the kind changes a text. The client then checks whether something prevents the change, and tells
// whether it was made when the receipt never came.
func InEditor(d Deps, k kind.Kind, changes bool) kind.Kind {
	k.ByClient = true
	k.Perform = func(ctx context.Context, o kind.Order) (kind.Result, error) {
		order, err := o.Act(o.Action.Action())
		if err != nil {
			return kind.Result{}, err
		}
		client, receipt, err := d.Editors.Perform(ctx, order)
		return kind.Result{Text: "done in Emacs", Client: client, Receipt: receipt}, err
	}
	if !changes {
		return k
	}
	k.Check = func(ctx context.Context, o kind.Order, a action.Action) error {
		order, err := o.Act(a)
		if err != nil {
			return err
		}
		order.Check = true
		return d.Editors.Check(ctx, order)
	}
	k.Reconcile = func(ctx context.Context, o kind.Order, lost error) (kind.Result, error) {
		return reconcile(ctx, d, o, lost)
	}
	return k
}

const showsNothing = "a subagent shows nothing in Emacs: its answer is its report"

// messageLimit is the maximum length of a message in Emacs's echo area, in characters.
const messageLimit = 200

// message shows a line in the echo area.
func message(d Deps) kind.Kind {
	return InEditor(d, kind.Kind{
		Spec: action.Spec{Target: emacs, Name: "message", Does: "to show a line that is not kept",
			Fields: []action.Field{{Name: "text", Kind: action.Text, Required: true, Limit: messageLimit, Example: plist.String("<line>")}}},
		Judge: func(context.Context, *policy.Turn, action.Action) policy.Verdict {
			return policy.Verdict{Kind: policy.Allow, Reason: "a line in the echo area"}
		},
		Subagent: noSubagent(showsNothing),
		Undo:     leavesNothing,
	}, false)
}

// open shows a file of the home.
func open(d Deps) kind.Kind {
	return InEditor(d, kind.Kind{
		Spec: action.Spec{Target: emacs, Name: "open", Does: "to show a file of the home", Fields: []action.Field{
			{Name: "file", Kind: action.Text, Required: true, Example: plist.String("<path>")}, {Name: "line", Kind: action.Integer}}},
		Judge: func(_ context.Context, turn *policy.Turn, a action.Action) policy.Verdict {
			path, err := turn.File(a.Text("file"))
			if err != nil {
				return policy.Refused("%v", err)
			}
			if !turn.InHome(path) {
				return policy.Refused("%s is not under %s: only files there are opened", path, turn.Home())
			}
			return policy.Verdict{Kind: policy.Allow, Reason: "it shows a file of the home", Action: a.With("file", plist.String(path))}
		},
		Subagent: noSubagent(showsNothing),
		Undo:     leavesNothing,
	}, false)
}

// eval runs Lisp in Emacs. Nothing performs it.
func eval() kind.Kind {
	return kind.Kind{
		Spec:     action.Spec{Target: emacs, Name: "eval", Off: ":eval does not exist unless the user sets org-agent-allow-eval"},
		Subagent: noSubagent(showsNothing),
	}
}
