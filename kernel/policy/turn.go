package policy

import (
	"context"
	"fmt"
	"strings"

	"org-agent/kernel/protocol"
	"org-agent/kernel/shell"
)

// Turn is the policy as the judges of kinds use it, in the turn that the action was proposed in.
type Turn struct {
	Where
	policy *Policy
}

// at is where something is judged, with the tools there are if it says none.
func (p *Policy) at(where Where) Where {
	if where.Tools == nil {
		where.Tools = p.Tools
	}
	return where
}

// turn is the policy with what it has to know of a turn.
func (p *Policy) turn(ctx context.Context, where Where) *Turn {
	q, where := *p, p.at(where)
	q.Tools = where.Tools
	if where.Projects != nil {
		q.projects = func() []string { return where.Projects(ctx) }
	}
	return &Turn{Where: where, policy: &q}
}

// Reach judges what an action would touch.
func (t *Turn) Reach(all ...protocol.Reach) Verdict { return t.policy.judgeReach(all) }

// File is the real path of a regular file that a proposal names: ~ is the user's, a relative
// name is the home's, links are followed. The path is the one that is judged, shown and used.
func (t *Turn) File(name string) (path string, err error) { return resolve(name, t.policy.Home) }

// Directory is the real path of a directory that a proposal names, "" being the home.
func (t *Turn) Directory(name string) (path string, err error) {
	if name == "" {
		return resolved(t.policy.Home), nil
	}
	path, known := placed(shell.Word{Text: name, Home: strings.HasPrefix(name, "~")}, t.policy.Home)
	if !known {
		return "", fmt.Errorf("%q is no directory that a command can run in", name)
	}
	return resolved(path), nil
}

// Home is the instance's directory.
func (t *Turn) Home() string { return t.policy.Home }

// InHome reports whether a real path lies in the home.
func (t *Turn) InHome(path string) bool { return within(path, t.policy.Home) }

// As judges an action as the call of a tool that does the same. Known is false where there is no
// such tool or it does not say what it touches.
func (t *Turn) As(ctx context.Context, tool string, arguments protocol.Object) (resolved protocol.Object, v Verdict, known bool) {
	if t.policy.Tools == nil {
		return nil, v, false
	}
	name, _, found := t.policy.Tools.Find(tool)
	if !found {
		return nil, v, false
	}
	resolved, reach, err := t.policy.Tools.Reach(ctx, name, arguments)
	if err != nil {
		return nil, Verdict{Kind: Refuse, Reason: err.Error()}, true
	}
	if reach == nil {
		return nil, v, false
	}
	return resolved, t.policy.judgeReach(reach), true
}

// Named is a verdict on an action of which nothing is known but that it is the same as a call of
// the tool, with what the rules say of that.
func (t *Turn) Named(tool string, v Verdict) Verdict {
	if t.policy.Tools == nil {
		return v
	}
	if name, _, found := t.policy.Tools.Find(tool); found {
		return t.policy.named(name, v, true)
	}
	return v
}
