// Package notekind makes kinds of actions from those that notes define with defaction. A person is
// always asked about them, unless a row of policy.org about the action says otherwise. The note's
// Lisp performs them, within what the note was granted.
package notekind

import (
	"context"
	"fmt"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/action"
	"org-agent/kernel/describe"
	"org-agent/kernel/kind"
	"org-agent/kernel/plist"
	"org-agent/kernel/policy"
	"org-agent/kernel/skill"
)

// Live returns a function that returns the present kinds of actions: the fixed ones, followed by those
// that live notes define.
func Live(fixed *kind.Set, notes *skill.Registry) func() *kind.Set {
	return func() *kind.Set { return fixed.With(Kinds(notes.Current().Actions())...) }
}

// Kinds returns the kinds of the actions. They hold the versions of the notes that define them.
func Kinds(actions []*skill.Action) []kind.Kind {
	var kinds []kind.Kind
	for _, a := range actions {
		kinds = append(kinds, kindOf(a))
	}
	return kinds
}

// digest is the field with the digest of the note's code in a judged action. An approval holds as
// long as the code stays the same.
const digest = "digest"

// kindOf returns the kind of one action.
func kindOf(a *skill.Action) kind.Kind {
	key, file := a.Key(), skill.ShownFile(a.File)
	spec := a.Spec
	spec.Fields = append(spec.Fields[:len(spec.Fields):len(spec.Fields)], action.Field{Name: digest, Kind: action.AnyText})
	return kind.Kind{
		Spec: spec,
		Judge: func(ctx context.Context, turn *policy.Turn, proposed action.Action) policy.Verdict {
			v := policy.Verdict{
				Kind: policy.Ask, Reason: fmt.Sprintf("it does %s, which %s defines", key, file), ByName: true,
				Action: proposed.With(digest, plist.String(a.Digest)),
			}
			ask, err := a.Consult(ctx, payload(proposed), turn.Where.Session)
			switch {
			case err != nil:
				return policy.Refused("%s of %s: %v", key, file, err)
			case ask != "": // each time, whatever a row or a person allowed
				v.Reason, v.ByName, v.OnceOnly = ask, false, true
			}
			return v
		},
		Describe: func(judged action.Action, _ describe.Deps) describe.Description {
			return describe.Description{
				Summary: fmt.Sprintf("Do %s, %s", key, a.Does), Language: "lisp", Text: describe.Pretty(shown(a, judged)),
				Effects: []string{"a function of " + file + " does it, " + rights(a), "what it does cannot be taken back"},
			}
		},
		Calls: func(judged action.Action) []action.Call {
			return []action.Call{{Tool: kind.CallName(key), Args: shown(a, judged)}}
		},
		Outside: func(action.Action) string {
			if len(a.Granted()) == 0 {
				return ""
			}
			return fmt.Sprintf("what %s returned", key)
		},
		Subagent: func(action.Action) ([]string, string) {
			return nil, "a subagent does nothing that notes define: say in the answer what is left to do"
		},
		Perform: func(ctx context.Context, o kind.Order) (kind.Result, error) {
			text, err := a.Perform(ctx, payload(o.Action.Action()), o.Session)
			if err == nil && text == "" {
				text = "done"
			}
			return kind.Result{Text: text}, err
		},
	}
}

// payload returns what was proposed, without the digest.
func payload(judged action.Action) sexp.List { return plist.Without(judged.Payload(), digest) }

// shown returns what a person and a hook see: the fields that the note declared, with their values. The
// action of an actuator is one of them.
func shown(a *skill.Action, judged action.Action) sexp.List {
	if a.Name == "" {
		return payload(judged)
	}
	return plist.Without(payload(judged), "action")
}

// rights says what the note was granted.
func rights(a *skill.Action) string {
	if granted := a.Granted(); len(granted) > 0 {
		return "which was granted " + strings.Join(granted, " ")
	}
	return "which can reach no files and no servers"
}
