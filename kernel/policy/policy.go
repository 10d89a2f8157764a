// Package policy decides which actions may be performed. Only this package makes a [Verified]
// action, and only a Verified action is performed.
//
// [Policy.Judge] decides whether a turn may perform an action. The verdict is to allow it, to
// refuse it with a reason, or to ask a person. The general rules stand in this package: the fence
// around files, the rules of policy.org, the files and addresses that a tool reports, and hooks.
// The rules for one kind of action are the [Judge] of that kind. Judging reads only its arguments,
// file names and policy.org, which a person writes, and is safe for many goroutines.
//
// [Policy.Verify] also counts the approvals of people, which the journal keeps. It reads the
// journal each time, so a decision counts as soon as it is durable. An approved action is judged
// again when it is about to run.
package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"org-agent/kernel/action"
	"org-agent/kernel/protocol"
)

// Approvals looks up the actions that a person has allowed for more than one time. The journal
// implements it.
type Approvals interface {
	// Allowed returns the widest decision for an action with this hash that covers this turn.
	Allowed(ctx context.Context, hash, turn, session string) (protocol.Decision, bool, error)
}

// Judge decides what a turn may do with a usable action of one kind. If judging changed the action,
// for example by resolving its paths, the verdict's Action is the changed one.
type Judge func(ctx context.Context, turn *Turn, a action.Action) Verdict

// Kinds is the set of all kinds of actions.
type Kinds interface {
	// Specs returns the specs against which proposals are checked.
	Specs() action.Specs
	// Judge calls the Judge of the kind that a usable action has.
	Judge(ctx context.Context, turn *Turn, a action.Action) Verdict
	// Ends reports whether the action ends the turn, for example because it puts its text into the
	// conversation of the turn.
	Ends(a action.Action, where Where) bool
	// Calls returns the calls of tools that an action stands for. Hooks judge each of them.
	Calls(a action.Action) []action.Call
	// Sends returns the receiver of the action's text. sends is false if the action sends no text.
	Sends(a action.Action) (to string, sends bool)
}

// Policy judges actions. Without Kinds it refuses all of them. With Kinds alone it judges as a new
// installation does.
type Policy struct {
	// Kinds are the kinds that can be proposed.
	Kinds Kinds
	// Home is the directory of the instance. Files in it may be opened.
	Home string
	// State is the directory of the journal and the token. Both are protected.
	State string
	// Approvals is read by Verify. nil: nothing was approved.
	Approvals Approvals
	// Rules are the rules of policy.org. nil: there are none.
	Rules *RuleFile
	// Tools are the tools that can be called. nil: there are none.
	Tools Tools
	// Hooks are called by Verify and can refuse an allowed action. nil: there are none.
	Hooks Hooks

	program   bool                     // another program proposed what is judged, and only rules and the person let it read
	projectOf func(path string) string // the project of the judged turn that contains path; nil: the turn has no projects
	read      *Rules                   // the rules of one judgement; nil: those that the file has now
}

// Tools is what the policy needs to know about tools.
type Tools interface {
	// Find returns the current name of a tool and the effect of a call.
	Find(name string) (written string, effect protocol.ToolEffect, found bool)
	// Reach returns what a call would touch, and the arguments with their names resolved. The
	// resolved arguments are judged, shown and performed. A nil reach means that the tool does not
	// say, and its effect decides. An empty reach means that the call touches nothing. An error
	// refuses the call.
	Reach(ctx context.Context, name string, arguments protocol.Object) (resolved protocol.Object, reach []protocol.Reach, err error)
	// Digest identifies a tool of another program or of a note. It is "" for a tool of the kernel. An
	// approval of such a tool holds as long as its digest stays the same.
	Digest(name string) string
	// Trust returns why a person is asked about a call of such a tool, or why nobody has to be. One
	// of the two is "".
	Trust(name string) (asks, trusted string)
	// Guard returns the reason of the tool's owner why a person has to be asked about a call, or "".
	// The error is the reason why the owner refuses the call.
	Guard(ctx context.Context, name string, arguments protocol.Object) (ask string, err error)
	// Nearest returns the tool name that was probably meant, or "" if none is similar.
	Nearest(name string) string
}

// Where is the turn in which an action was proposed.
type Where struct {
	Session string
	Turn    string
	// Route is where the turn came from and where its answer goes.
	Route protocol.Route
	// Projects are those of the conversation. Their files may be read unless a rule forbids it.
	Projects *Projects
	// Tools and Kinds are those of the turn. nil: those of the [Policy].
	Tools Tools
	Kinds Kinds
	// Granted is the hash of the one action that a person has just allowed once.
	Granted string
	// Outside names the text by others that entered the turn: a page, a file, the output of a
	// command. It is "" if the turn holds only the person's own words.
	Outside string
}

// Kind is the outcome of a judgement.
type Kind int

const (
	Refuse Kind = iota // the zero verdict allows nothing
	Ask
	Allow
)

// String returns the kind in one word, for the journal.
func (k Kind) String() string { return [...]string{"refuse", "ask", "allow"}[k] }

// Verdict is a judgement with its reason, which the person and the model read. Action is the action
// that was judged, with its paths resolved.
type Verdict struct {
	Kind   Kind
	Reason string
	Action action.Action
	// Failure is the tool's own error if the tool rejected the call.
	Failure *protocol.ToolError
	// OnceOnly is true if an approval of this action holds for one use only.
	OnceOnly bool
	// Changes is true if the action changes the text of files, so that an equal one does not come
	// again.
	Changes bool
	// ByName is true if only the name of the action is known, not what it would touch. A row of
	// policy.org about the action itself may then allow it.
	ByName bool
	// Ends is true if the action ends the turn, for example because it answers. Neither rows of
	// policy.org nor hooks are about such an action.
	Ends bool
	// Decisions are the decisions about each thing that the action touches, as far as that is
	// known.
	Decisions []Decision
	// Reading is the read-only set of a project, which would allow the action too. [Policy.Verify] sets it
	// for an action that a person is asked about.
	Reading *protocol.ReadingOffer

	reach []protocol.Reach // what the action touches; nil if that is not known
}

// AllowedBy returns the names of the rules of policy.org that decided an allowed action, each once.
func (v Verdict) AllowedBy() (rules []string) {
	if v.Kind != Allow {
		return nil
	}
	for _, d := range v.Decisions {
		if d.Kind == Allow && d.Rule != "" && !slices.Contains(rules, d.Rule) {
			rules = append(rules, d.Rule)
		}
	}
	return rules
}

// Tells reports whether it may be told, before a person decides, why the action could not be performed.
// Such a reason can have text of the files that the action reads, so each of them has to be one that is
// read without asking.
func (v Verdict) Tells() bool {
	return !slices.ContainsFunc(v.Decisions, func(d Decision) bool { return d.Kind != Allow && strings.HasPrefix(d.What, "reads ") })
}

// Refused returns a verdict that refuses with this reason.
func Refused(format string, arguments ...any) Verdict {
	return Verdict{Kind: Refuse, Reason: fmt.Sprintf(format, arguments...)}
}

// With returns the policy with other kinds of actions.
func (p *Policy) With(kinds Kinds) *Policy {
	q := *p
	q.Kinds = kinds
	return &q
}

// rules returns the rules of the judgement, or those that the file has now.
func (p *Policy) rules() *Rules {
	if p.read != nil {
		return p.read
	}
	return p.Rules.Rules()
}

// specs returns the specs of the kinds, or none without Kinds.
func (p *Policy) specs() action.Specs {
	if p.Kinds == nil {
		return nil
	}
	return p.Kinds.Specs()
}

// Usable checks a proposal against the specs; see [action.Specs.Usable].
func (p *Policy) Usable(proposed action.Proposed) (action.Proposed, error) {
	return p.specs().Usable(proposed)
}

// Judge decides what this turn may do with the action. It refuses an unusable action and says what
// is wrong with it.
func (p *Policy) Judge(ctx context.Context, a action.Action, where Where) Verdict {
	usable, err := p.specs().Check(a)
	if err != nil {
		return Verdict{Kind: Refuse, Reason: err.Error(), Action: a}
	}
	turn := p.turn(ctx, where)
	v := p.Kinds.Judge(ctx, turn, usable)
	if v.Action.IsZero() {
		v.Action = usable
	}
	if v.Ends = p.Kinds.Ends(v.Action, where); v.Ends {
		return v
	}
	return turn.policy.applyActionRows(v.Action, v)
}

// JudgeReachIn does the same as [Policy.JudgeReach] in a turn.
func (p *Policy) JudgeReachIn(ctx context.Context, where Where, all ...protocol.Reach) Verdict {
	return p.turn(ctx, where).Reach(all...)
}

// Verify judges the action, calls the hooks, and counts approvals. The Verified is valid only if
// the verdict is Allow.
func (p *Policy) Verify(ctx context.Context, a action.Action, where Where) (Verified, Verdict, error) {
	verdict := p.Standing(p.Narrowed(ctx, p.Judge(ctx, a, where), where))
	if verdict.Kind == Ask {
		if err := p.approved(ctx, &verdict, where); err != nil {
			return Verified{}, verdict, err
		}
	}
	if verdict.Kind != Allow {
		verdict.Reading = p.reading(ctx, verdict, where)
		return Verified{}, verdict, nil
	}
	return Verified{by: p, action: verdict.Action}, verdict, nil
}

// Standing allows an action about which a person would be asked, if a row of policy.org allows this
// very action. The decision "always" writes such a row. Like every approval it covers what asks for
// the action, also a row that asks about more, but nothing that is asked about each time.
func (p *Policy) Standing(v Verdict) Verdict {
	if v.Kind != Ask || v.OnceOnly {
		return v
	}
	rules := p.rules()
	if len(rules.faults) > 0 {
		return v
	}
	hash := sync.OnceValue(v.Action.Hash)
	for n := range rules.rules {
		r := &rules.rules[n]
		if r.hash == "" || r.Verdict != Allow || r.hash != hash() {
			continue
		}
		what := "does this very action"
		v.Kind, v.Reason = Allow, "it "+r.reason(what)
		v.Decisions = append(slices.Clone(v.Decisions), Decision{What: what, Kind: Allow, Line: r.Line, Rule: r.Name(), Reason: r.reason(what)})
		return v
	}
	return v
}

// approved changes the verdict to Allow if a person has allowed the action.
func (p *Policy) approved(ctx context.Context, verdict *Verdict, where Where) error {
	if where.Granted == "" && (p.Approvals == nil || verdict.OnceOnly) {
		return nil
	}
	hash := verdict.Action.Hash()
	if where.Granted == hash {
		verdict.Kind, verdict.Reason = Allow, "allowed once by a person"
		return nil
	}
	if p.Approvals == nil || verdict.OnceOnly {
		return nil
	}
	decision, ok, err := p.Approvals.Allowed(ctx, hash, where.Turn, where.Session)
	if err != nil {
		return fmt.Errorf("look up approvals: %w", err)
	}
	if ok {
		verdict.Kind, verdict.Reason = Allow, "approved before: "+string(decision)
	}
	return nil
}

// Answers reports whether the action ends the turn and is allowed.
func (p *Policy) Answers(ctx context.Context, a action.Action, where Where) bool {
	return p.Kinds != nil && p.Kinds.Ends(a, where) && p.Judge(ctx, a, where).Kind == Allow
}

// Notice returns a text of the kernel for the turn's conversation: an error, a refusal or an
// interruption. The kernel makes it without a proposal.
func (p *Policy) Notice(text string) Verified {
	return Verified{by: p, action: action.Response(text)}
}
