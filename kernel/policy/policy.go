// Package policy decides what may be done. A proposal becomes a [Verified]
// action here and nowhere else; what performs takes nothing but that type.
//
// [Policy.Judge] asks whether a turn may perform an action: allowed, refused with a reason, or to
// be asked of a person. What is general stands here: the fence around files, the rules of
// policy.org, what tools say that they touch, hooks. What is about one kind of action is that
// kind's [Judge]. All look only at their arguments, at the names of files and at policy.org,
// which a person writes, and are safe for many goroutines. [Policy.Verify] adds what people have approved,
// which the journal keeps; it reads the journal each time, so that a decision
// counts from the moment it is durable, and judges anew when an approved action
// is about to run.
package policy

import (
	"context"
	"fmt"

	"org-agent/kernel/action"
	"org-agent/kernel/protocol"
)

// Approvals tells which actions a person has allowed beyond one time. The
// journal implements it.
type Approvals interface {
	// Allowed reports the widest decision for an action with this hash that
	// covers this turn.
	Allowed(ctx context.Context, hash, turn, session string) (protocol.Decision, bool, error)
}

// Judge says what a turn may do with an action of one kind, which is usable. The verdict's Action
// is what was judged where that is not the action as it came: with its paths resolved.
type Judge func(ctx context.Context, turn *Turn, a action.Action) Verdict

// Kinds are the kinds of actions that there are.
type Kinds interface {
	// Specs say what is an action.
	Specs() action.Specs
	// Judge is the verdict of the kind that a usable action is of.
	Judge(ctx context.Context, turn *Turn, a action.Action) Verdict
	// Ends reports whether performing the action puts its text where the turn came from, or is
	// the end of it in another way.
	Ends(a action.Action, where Where) bool
}

// Policy judges actions. Without Kinds it refuses them all; with nothing else it judges as a
// fresh installation does.
type Policy struct {
	// Kinds are those that can be proposed.
	Kinds Kinds
	// Home is the instance's directory, whose files may be opened.
	Home string
	// State is the directory of the journal and the token, which are protected.
	State string
	// Approvals is asked by Verify; nil means that nothing was approved.
	Approvals Approvals
	// Rules are those of policy.org; nil means that there are none.
	Rules *RuleFile
	// Tools are those that can be called; nil means that there are none.
	Tools Tools
	// Hooks are asked by Verify, and can refuse what is allowed; nil means that there are none.
	Hooks Hooks

	projects func() []string // of the turn that is judged, nil for none: see [Policy.turn]
}

// Tools tells what the policy has to know of the tools.
type Tools interface {
	// Find returns the name of a tool as it is written, and what calling it takes.
	Find(name string) (written string, effect protocol.ToolEffect, found bool)
	// Reach says what a call would touch, and returns its arguments with the names in them
	// resolved, which are those that are judged, shown and performed. Nil means that the tool
	// does not say, which leaves it to its effect; empty, that it touches nothing. The error
	// refuses the call.
	Reach(ctx context.Context, name string, arguments protocol.Object) (resolved protocol.Object, reach []protocol.Reach, err error)
	// Digest stands for what somebody else's program says of its tool; "" for a tool of ours.
	// What is approved of such a tool is approved as long as that stays what it was.
	Digest(name string) string
	// Nearest returns the name that was probably meant, "" if none is near.
	Nearest(name string) string
}

// Where is the turn an action was proposed in.
type Where struct {
	Session string
	Turn    string
	// Route says where the turn came from, and so where its answer goes.
	Route protocol.Route
	// Projects are the directories of what the conversation is about, whose files may be read
	// unless a rule says otherwise; nil means that there are none. See [ProjectOf].
	Projects func(ctx context.Context) []string
	// Tools are the tools as the turn calls them; nil for those of the [Policy].
	Tools Tools
	// Granted is the hash of the one action that a person has just allowed once.
	Granted string
	// Outside names what others wrote that came into the turn: a page, a file, what a command
	// wrote. "" when the person's own words are all there is.
	Outside string
}

// Kind is the outcome of a judgement.
type Kind int

const (
	Refuse Kind = iota // the zero verdict allows nothing
	Ask
	Allow
)

// String is the kind in one word, for the journal.
func (k Kind) String() string { return [...]string{"refuse", "ask", "allow"}[k] }

// Verdict is a judgement with its reason, which is for a person and for the
// model. Action is what was judged, paths resolved.
type Verdict struct {
	Kind   Kind
	Reason string
	Action action.Action
	// Failure is what the tool said that cannot be called so, if it did.
	Failure *protocol.ToolError
	// OnceOnly: an approval of this action may not outlast its one use.
	OnceOnly bool
	// Decisions are what was decided of each thing that it touches, where that is known.
	Decisions []Decision
}

// Refused is the verdict that refuses, with the reason.
func Refused(format string, arguments ...any) Verdict {
	return Verdict{Kind: Refuse, Reason: fmt.Sprintf(format, arguments...)}
}

// specs are those of the kinds.
func (p *Policy) specs() action.Specs {
	if p.Kinds == nil {
		return nil
	}
	return p.Kinds.Specs()
}

// Usable is the proposal if it is an action; see [action.Specs.Usable].
func (p *Policy) Usable(proposed action.Proposed) (action.Proposed, error) {
	return p.specs().Usable(proposed)
}

// Judge says what this turn may do with the action. An unusable action is
// refused with what is wrong with it.
func (p *Policy) Judge(ctx context.Context, a action.Action, where Where) Verdict {
	usable, err := p.specs().Check(a)
	if err != nil {
		return Verdict{Kind: Refuse, Reason: err.Error(), Action: a}
	}
	v := p.Kinds.Judge(ctx, p.turn(ctx, where), usable)
	if v.Action.IsZero() {
		v.Action = usable
	}
	return v
}

// JudgeReach says what a call that touches this may do, whatever the tool.
func (p *Policy) JudgeReach(all ...protocol.Reach) Verdict { return p.judgeReach(all) }

// Verify judges the action, asks the hooks, and counts what people have approved. The Verified
// is valid only when the verdict is Allow.
func (p *Policy) Verify(ctx context.Context, a action.Action, where Where) (Verified, Verdict, error) {
	verdict := p.Narrowed(ctx, p.Judge(ctx, a, where), where)
	if verdict.Kind == Ask {
		if err := p.approved(ctx, &verdict, where); err != nil {
			return Verified{}, verdict, err
		}
	}
	if verdict.Kind != Allow {
		return Verified{}, verdict, nil
	}
	return Verified{by: p, action: verdict.Action}, verdict, nil
}

// approved allows what a person has allowed.
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

// Ends reports whether performing the action ends the turn.
func (p *Policy) Ends(a action.Action, where Where) bool {
	return p.Kinds != nil && p.Kinds.Ends(a, where)
}

// Answers reports whether the action ends the turn and is allowed.
func (p *Policy) Answers(ctx context.Context, a action.Action, where Where) bool {
	return p.Ends(a, where) && p.Judge(ctx, a, where).Kind == Allow
}

// Notice is the kernel's own text for the turn's conversation: an error, a
// refusal, an interruption. It needs no proposal.
func (p *Policy) Notice(text string) Verified {
	return Verified{by: p, action: action.Response(text)}
}
