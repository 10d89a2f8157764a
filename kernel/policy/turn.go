package policy

import (
	"context"
	"fmt"
	"strings"

	"org-agent/kernel/protocol"
	"org-agent/kernel/shell"
)

// Turn is the policy as the judges of kinds use it, for the turn in which the action was proposed.
type Turn struct {
	Where
	policy *Policy
}

// at fills in the policy's tools and kinds if where has none.
func (p *Policy) at(where Where) Where {
	if where.Tools == nil {
		where.Tools = p.Tools
	}
	if where.Kinds == nil {
		where.Kinds = p.Kinds
	}
	return where
}

// turn returns the policy for one judgement of a turn, with the rules as they are now.
func (p *Policy) turn(ctx context.Context, where Where) *Turn {
	q, where := *p, p.at(where)
	q.Tools, q.read = where.Tools, p.rules()
	q.program = where.Route.Kind == protocol.RouteMCP
	q.projectOf = func(path string) string { return where.Projects.containing(ctx, path) }
	return &Turn{Where: where, policy: &q}
}

// Reach judges an action by what it would touch.
func (t *Turn) Reach(all ...protocol.Reach) Verdict { return t.policy.JudgeReach(all...) }

// File returns the real path of a regular file that a proposal names. ~ is the user's directory, a
// relative name lies in the home, and links are followed. The path is judged, shown and used. It is
// an error if there is no such file.
func (t *Turn) File(name string) (path string, err error) { return resolve(name, t.policy.Home) }

// Directory returns the real path of a directory that a proposal names. "" is the home.
func (t *Turn) Directory(name string) (path string, err error) {
	if name == "" {
		return resolved(t.policy.Home), nil
	}
	path, known := absolutePath(shell.Word{Text: name, Home: strings.HasPrefix(name, "~")}, t.policy.Home)
	if !known {
		return "", fmt.Errorf("%q is no directory that a command can run in", name)
	}
	return resolved(path), nil
}

// Home returns the directory of the instance.
func (t *Turn) Home() string { return t.policy.Home }

// InHome reports whether a real path lies in the home.
func (t *Turn) InHome(path string) bool { return within(path, t.policy.Home) }

// As judges an action as the call of a tool that does the same. known is false if there is no such
// tool, or if the tool does not report what it touches.
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
	return resolved, t.policy.JudgeReach(reach...), true
}

// Named applies the rules about a tool to an action that does the same as a call of the tool, and
// of which nothing else is known.
func (t *Turn) Named(tool string, v Verdict) Verdict {
	if t.policy.Tools == nil {
		return v
	}
	if name, _, found := t.policy.Tools.Find(tool); found {
		return t.policy.named(name, v, true)
	}
	return v
}
