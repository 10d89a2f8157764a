package policy

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"org-agent/kernel/action"
	"org-agent/kernel/protocol"
	"org-agent/kernel/suggest"
)

// Call judges one call with these fields. It returns the call as it was judged: with the current
// name of the tool, the names in its arguments resolved, and the digest of a tool from another
// program or of a note. reads is true if the call may stand in a batch: it only reads, fetches an address that
// is allowed without asking, or starts a subagent.
//
// A tool that reports what a call would touch is judged by that. Otherwise its effect decides. A
// tool that only reads is allowed. A tool that asks the person is allowed, because the person's
// answer is itself the decision. A tool that adds to the memory is allowed while only the person
// has spoken: nothing is lost by it and it can be undone, but text by others could otherwise enter
// every later conversation. Any other call asks.
func (t *Turn) Call(ctx context.Context, call action.Call) (judged action.Call, reads bool, v Verdict) {
	p := t.policy
	refuse := func(err error) (action.Call, bool, Verdict) {
		of := protocol.ToolErrorOf(err)
		return call, reads, Verdict{Kind: Refuse, Reason: of.Message, Failure: &of}
	}
	name, effect, err := p.findTool(call.Tool)
	if err != nil {
		return refuse(err)
	}
	call = call.WithTool(name)
	if err := call.CheckArguments(); err != nil {
		return refuse(err)
	}
	digest := p.Tools.Digest(name)
	if digest != "" { // an approval is for the tool as it is described now
		call = call.WithDigest(digest)
	}
	arguments, err := call.Arguments()
	if err != nil {
		return refuse(err)
	}
	arguments, reach, err := p.Tools.Reach(ctx, name, arguments)
	if err == nil && reach != nil { // what is resolved is judged, shown and performed
		call, err = call.WithArguments(arguments)
	}
	if err != nil {
		return refuse(err)
	}
	v = effectRule(name, effect, t.Where)
	if digest != "" {
		v = p.trustRule(name)
	}
	if reach != nil {
		v = p.JudgeReach(reach...)
	}
	reads = effect == protocol.ToolSpawns || effect == protocol.ToolReads && !slices.ContainsFunc(reach, func(r protocol.Reach) bool {
		return r.Kind != protocol.ReachReads && (r.Kind != protocol.ReachFetches || v.Kind == Ask)
	})
	v = p.named(name, v, reach == nil)
	if v.Kind == Refuse {
		return call, reads, v
	}
	ask, err := p.Tools.Guard(ctx, name, arguments)
	switch {
	case err != nil:
		return refuse(err)
	case ask != "": // each time, whatever a row or a person allowed
		v = Verdict{Kind: Ask, Reason: ask, OnceOnly: true}
	}
	return call, reads, v
}

// trustRule judges a call of a tool that is not the kernel's.
func (p *Policy) trustRule(name string) Verdict {
	asks, trusted := p.Tools.Trust(name)
	if trusted != "" {
		return Verdict{Kind: Allow, Reason: trusted}
	}
	return Verdict{Kind: Ask, Reason: asks}
}

// about reports whether a row is about the tool with this name. The row may use a former name of
// the tool.
func (p *Policy) about(r *rule, name string) bool {
	if r.tool == "*" || strings.EqualFold(r.tool, name) {
		return true
	}
	if p.Tools == nil {
		return false
	}
	written, _, found := p.Tools.Find(r.tool)
	return found && written == name
}

// named applies the rows about the tool itself. They narrow the verdict. They allow a call only if
// nothing but the tool's name is known.
func (p *Policy) named(name string, v Verdict, unknown bool) Verdict {
	return p.applyRows(v, "calls "+name, unknown, func(r *rule) bool { return r.kind == "tool" && p.about(r, name) })
}

// applyActionRows applies the rows about the action itself. They narrow the verdict. They allow an action
// only if nothing but its name is known.
func (p *Policy) applyActionRows(a action.Action, v Verdict) Verdict {
	key := a.Key()
	hash := sync.OnceValue(a.Hash)
	return p.applyRows(v, "does "+key.String(), v.ByName, func(r *rule) bool {
		if r.hash != "" { // a row that allows one action is applied last: see Standing
			return r.Verdict != Allow && r.hash == hash()
		}
		return r.kind == "action" && r.key.Target == key.Target && (r.key.Name == "" || r.key.Name == key.Name)
	})
}

// applyRows applies the worst row that is about the whole action or call. Rows narrow the verdict. If
// unknown is true, they may also allow.
func (p *Policy) applyRows(v Verdict, what string, unknown bool, about func(r *rule) bool) Verdict {
	rules := p.rules()
	if unknown && v.Kind == Ask && len(rules.faults) > 0 {
		refused := verdictOf([]Decision{refuseIfFaulty(rules, Decision{What: what, Kind: Ask})})
		refused.Action = v.Action
		return refused
	}
	worst := -1
	for n := range rules.rules {
		if r := &rules.rules[n]; about(r) && (worst < 0 || r.Verdict < rules.rules[worst].Verdict) {
			worst = n
		}
	}
	if worst < 0 {
		return v
	}
	r := &rules.rules[worst]
	if r.Verdict < v.Kind || unknown && v.Kind == Ask {
		v.Kind, v.Reason = r.Verdict, "it "+r.reason(what)
		v.Decisions = append(v.Decisions, Decision{What: what, Kind: r.Verdict, Line: r.Line, Rule: r.Name(), Reason: r.reason(what)})
	}
	return v
}

// effectRule judges a call of which only the tool's effect is known.
func effectRule(name string, effect protocol.ToolEffect, where Where) Verdict {
	switch effect {
	case protocol.ToolReads:
		return Verdict{Kind: Allow, Reason: "the tool only reads"}
	case protocol.ToolAsks:
		return Verdict{Kind: Allow, Reason: "the tool asks the person, who alone answers"}
	case protocol.ToolKeeps:
		if where.Outside != "" {
			return Verdict{Kind: Ask, Reason: fmt.Sprintf("it would be kept for later conversations, and %s came into this one, which others may have written", where.Outside)}
		}
		return Verdict{Kind: Allow, Reason: "the tool adds a note of the agent's own, which the person is told of and can take back"}
	}
	if effect == protocol.ToolSpawns {
		return Verdict{Kind: Ask, Reason: "a subagent spends tokens and time"}
	}
	return Verdict{Kind: Ask, Reason: fmt.Sprintf("the tool %s does more than read", name)}
}

// findTool returns the tool with the name that a call has.
func (p *Policy) findTool(name string) (written string, effect protocol.ToolEffect, err error) {
	if name == "" {
		return "", "", protocol.ToolErrorf(protocol.ToolArguments, "it names no tool: write :tool \"NAME\"")
	}
	near := ""
	if p.Tools != nil {
		written, effect, found := p.Tools.Find(name)
		if found {
			return written, effect, nil
		}
		near = p.Tools.Nearest(name)
	}
	return "", "", protocol.ToolErrorf(protocol.ToolNotFound, "there is no tool named %q%s", name, suggest.Question(near, "%q"))
}
