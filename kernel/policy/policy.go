// Package policy decides what may be done. A proposal becomes a [Verified]
// action here and nowhere else; actuators take nothing but that type.
//
// The decision has two parts. [Policy.Usable] asks whether the proposal is an
// action at all: its type, target and action are known, its fields present and
// of the right kind; what fails goes back to the model once. [Policy.Judge]
// asks whether this turn may perform it: allowed, refused with a reason, or to
// be asked of a person. Both look only at their arguments, at the names of files and at
// policy.org, which a person writes, and are safe for many goroutines. [Policy.Verify] adds what people have approved,
// which the journal keeps; it reads the journal each time, so that a decision
// counts from the moment it is durable, and judges anew when an approved action
// is about to run.
//
// Everything here works on the kernel's own view of an action, in which all
// fields but :type :target :id stand under :payload.
package policy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
)

// Approvals tells which actions a person has allowed beyond one time. The
// journal implements it.
type Approvals interface {
	// Allowed reports the widest decision for an action with this hash that
	// covers this turn.
	Allowed(ctx context.Context, hash, turn, session string) (protocol.Decision, bool, error)
}

// Policy judges actions. The zero value judges as a fresh installation does.
type Policy struct {
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

	projects func() []string // of the turn that is judged, nil for none: see [Policy.in]
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
	Channel protocol.Channel
	// ChatID names the conversation on its channel; "" for Emacs and the command line.
	ChatID string
	// Projects are the directories of what the conversation is about, whose files may be read
	// unless a rule says otherwise; nil means that there are none. See [ProjectOf].
	Projects func(ctx context.Context) []string
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
// model. Action is the kernel's view of what was judged, paths resolved; Hash
// identifies it for approvals.
type Verdict struct {
	Kind   Kind
	Reason string
	Action sexp.List
	Hash   string
	// Failure is what the tool said that cannot be called so, if it did.
	Failure *protocol.ToolError
	// OnceOnly: an approval of this action may not outlast its one use.
	OnceOnly bool
	// Decisions are what was decided of each thing that it touches, where that is known.
	Decisions []Decision
}

// Target is the :target of the judged action, for a :response or a :log its
// type.
func (v Verdict) Target() (target, action string) { return Target(v.Action) }

// Target is the :target and the :action of an action in the kernel's view, of a :response or
// a :log the type.
func Target(of sexp.List) (target, action string) {
	a := view{of}
	if t := a.word("target"); t != "" {
		return t, a.payloadWord("action")
	}
	return a.word("type"), ""
}

// forbidden are the fields that nobody outside the kernel may set.
var forbidden = [...]string{"approved", "verified", "policy", "origin"}

// Strip removes the fields that nobody outside may set, from the top level and
// from :payload, never from :args. Changed reports whether there were any.
func Strip(action sexp.List) (stripped sexp.List, changed bool) {
	return plist.StripForbidden(action, forbidden[:]...)
}

// Judge says what this turn may do with the action. An unusable action is
// refused with what is wrong with it.
func (p *Policy) Judge(ctx context.Context, action sexp.List, where Where) Verdict {
	if err := p.Usable(action); err != nil {
		return Verdict{Kind: Refuse, Reason: err.Error()}
	}
	action, _ = Strip(action)
	nested, err := plist.Nested(action)
	if err != nil {
		return Verdict{Kind: Refuse, Reason: err.Error()}
	}
	v := p.in(ctx, where).rule(ctx, view{nested}, where)
	if v.Action == nil {
		v.Action = nested
	}
	v.Hash = Hash(v.Action)
	return v
}

// JudgeReach says what a call that touches this may do, whatever the tool.
func (p *Policy) JudgeReach(all ...protocol.Reach) Verdict { return p.judgeReach(all) }

// Verify judges the action, asks the hooks, and counts what people have approved. The Verified
// is valid only when the verdict is Allow.
func (p *Policy) Verify(ctx context.Context, action sexp.List, where Where) (Verified, Verdict, error) {
	verdict := p.Narrowed(ctx, p.Judge(ctx, action, where), where)
	if verdict.Kind == Ask && where.Granted != "" && where.Granted == verdict.Hash {
		verdict.Kind, verdict.Reason = Allow, "allowed once by a person"
	}
	if verdict.Kind == Ask && p.Approvals != nil && !verdict.OnceOnly {
		decision, ok, err := p.Approvals.Allowed(ctx, verdict.Hash, where.Turn, where.Session)
		if err != nil {
			return Verified{}, verdict, fmt.Errorf("look up approvals: %w", err)
		}
		if ok {
			verdict.Kind, verdict.Reason = Allow, "approved before: "+string(decision)
		}
	}
	if verdict.Kind != Allow {
		return Verified{}, verdict, nil
	}
	return Verified{by: p, action: verdict.Action}, verdict, nil
}

// Answers reports whether the action is allowed and puts its text into the
// conversation the turn came from, which ends the turn.
func (p *Policy) Answers(ctx context.Context, action sexp.List, where Where) bool {
	verdict := p.Judge(ctx, action, where)
	return verdict.Kind == Allow && Verified{by: p, action: verdict.Action}.IntoConversation(where.Session)
}

// Notice is the kernel's own text for the turn's conversation: an error, a
// refusal, an interruption. It needs no proposal.
func (p *Policy) Notice(text string) Verified {
	return Verified{by: p, action: sexp.List{
		plist.Keyword("type"), plist.Keyword("response"),
		plist.Keyword("payload"), sexp.List{plist.Keyword("text"), plist.String(text)},
	}}
}

// Hash identifies an action: SHA-256, in hex, of the canonical form of the
// kernel's view of it, whatever the order of its fields.
func Hash(nested sexp.List) string {
	payload := view{nested}.payload()
	sum := sha256.Sum256([]byte(plist.Print(sorted(plist.Put(nested, "payload", sorted(payload))))))
	return hex.EncodeToString(sum[:])
}

// sorted is a plist with its fields in the order of their keys.
func sorted(list sexp.List) sexp.List {
	type field struct {
		key   string
		value sexp.Sexp
	}
	var fields []field
	for i := 0; i+1 < len(list); i += 2 {
		fields = append(fields, field{plist.Print(list[i]), list[i+1]})
	}
	slices.SortFunc(fields, func(a, b field) int { return strings.Compare(a.key, b.key) })
	out := make(sexp.List, 0, len(list))
	for _, f := range fields {
		out = append(out, plist.Keyword(f.key[1:]), f.value)
	}
	return out
}
