package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"org-agent/kernel/keys"
	"org-agent/kernel/protocol"
)

// Decision is the decision about one thing that an action would touch: a file, an address, or one
// command of a command line.
type Decision struct {
	What   string // "reads FILE", "runs COMMAND", …
	Kind   Kind
	Reason string
	// Line is the line of policy.org, or of File, that decided. 0: no rule decided. Rule is the
	// [Row.Name] of the row of policy.org.
	Line int
	Rule string
	// Hook is the name of the hook that decided, File is its note, and Append is the text that it
	// adds for the model. All three are "" if no hook decided.
	Hook, File, Append string
	// OnceOnly is true if an approval holds for one use only.
	OnceOnly bool
}

// JudgeReach returns the worst of the decisions about all that a call would touch. A call that
// touches nothing is allowed.
//
// Three layers decide, and each can only narrow what the next one may allow. The first is the
// built-in fence, which no rule lifts. The second is the rules of policy.org. The third applies
// where no rule matches: reading in the home or in a project of the conversation is allowed, and
// everything else asks.
func (p *Policy) JudgeReach(all ...protocol.Reach) Verdict {
	return p.judgeBy(p.rules(), all)
}

// judgeBy does the same with these rules.
func (p *Policy) judgeBy(rules *Rules, all []protocol.Reach) Verdict {
	var decisions []Decision
	changes := false
	for _, r := range all {
		decisions = append(decisions, p.reachRule(rules, r)...)
		changes = changes || r.Kind == protocol.ReachWrites
	}
	if len(decisions) == 0 {
		return Verdict{Kind: Allow, Reason: "it touches nothing"}
	}
	v := verdictOf(decisions)
	v.Changes, v.reach = changes, all
	return v
}

// verdictOf returns the worst of the decisions, with the reasons of all decisions that are equally
// bad.
func verdictOf(decisions []Decision) Verdict {
	v := Verdict{Kind: Allow, Decisions: decisions}
	for _, d := range decisions {
		v.Kind = min(v.Kind, d.Kind)
		v.OnceOnly = v.OnceOnly || d.OnceOnly
	}
	const most = 5
	var reasons []string
	for _, d := range decisions {
		if d.Kind == v.Kind && len(reasons) <= most && !slices.Contains(reasons, d.Reason) {
			reasons = append(reasons, d.Reason)
		}
	}
	if len(reasons) > most {
		reasons[most] = "does more"
	}
	v.Reason = "it " + strings.Join(reasons, "; it ")
	return v
}

func (p *Policy) reachRule(rules *Rules, r protocol.Reach) []Decision {
	var all []Decision
	switch r.Kind {
	case protocol.ReachReads, protocol.ReachWrites:
		return []Decision{p.pathRule(rules, r.Kind, r.Path)}
	case protocol.ReachRuns:
		all = p.runRule(rules, r)
	case protocol.ReachFetches:
		all = []Decision{p.fetchRule(rules, r.URL)}
	case protocol.ReachSends:
		all = []Decision{sendRule(rules, r.Chat)}
	case protocol.ReachSets:
		what := "sets file variables in " + r.Path + ", which Emacs obeys when the file is visited"
		all = []Decision{{What: what, Kind: Ask, OnceOnly: true, Reason: what}}
	case protocol.ReachShows:
		what := "reads in " + r.Path + " what may hold keys, or is tagged :noagent:, :@private: or :crypt:"
		all = []Decision{{What: what, Kind: Ask, OnceOnly: true, Reason: what}}
	default:
		return []Decision{{What: string(r.Kind), Kind: Refuse, Reason: fmt.Sprintf("does %q, of which nothing is known", r.Kind)}}
	}
	for i, d := range all {
		all[i] = refuseIfFaulty(rules, d)
	}
	return all
}

// refuseIfFaulty refuses whatever an unreadable rule could have decided.
func refuseIfFaulty(rules *Rules, d Decision) Decision {
	if len(rules.faults) == 0 || d.Kind == Refuse {
		return d
	}
	f := rules.faults[0]
	return Decision{What: d.What, Kind: Refuse, Line: f.Line, Reason: fmt.Sprintf("%s, and the rules cannot be read: %v", d.What, f)}
}

// pathRule judges reading or writing one file. The path is absolute and has no links.
func (p *Policy) pathRule(rules *Rules, kind protocol.ReachKind, path string) Decision {
	reads := kind == protocol.ReachReads
	what, fence := "reads "+path, p.readFence(path)
	if !reads {
		what, fence = "changes "+path, p.writeFence(path)
	}
	if fence.Kind == Refuse {
		return Decision{What: what, Kind: Refuse, Reason: fence.Reason}
	}
	d := Decision{What: what, Kind: Ask, Reason: what}
	switch {
	case reads && p.program:
		d.Reason = what + " for another program"
		d = refuseIfFaulty(rules, d)
	case reads && within(path, p.Home):
		d.Kind, d.Reason = Allow, what+" in the home"
	case reads:
		d.Reason = "reads from outside the home: " + path
		if project := p.project(path); project != "" {
			d.Kind, d.Reason = Allow, what+" in the conversation's project "+project
		}
		fallthrough
	default:
		d = refuseIfFaulty(rules, d)
	}
	d = applyRules(rules, d, string(kind), func(r *rule) (possible, certain bool) { return r.path.possible(path), r.path.certain(path) })
	if fence.Kind != Allow && fence.Kind <= d.Kind {
		d.Kind, d.Line, d.Rule, d.Reason = fence.Kind, 0, "", fence.Reason
	}
	d.OnceOnly = fence.OnceOnly
	return d
}

// fetchRule judges fetching an address. The address "*" is the network of a command, which can send what it
// reads to any server. So no row allows it, and a yes holds for one time.
func (p *Policy) fetchRule(rules *Rules, address string) Decision {
	what, network := "fetches "+address, address == "*"
	if network {
		what = "has a way to any server"
	}
	d := applyRules(rules, Decision{What: what, Kind: Ask, Reason: what}, string(protocol.ReachFetches), func(r *rule) (possible, certain bool) {
		certain = r.address.certain(address) || r.Verdict == Refuse && r.address.names(address)
		return r.address.possible(address), certain && !(network && r.Verdict == Allow)
	})
	d.OnceOnly = network
	return d
}

// sendRule judges sending to another conversation than that of the turn.
func sendRule(rules *Rules, chat string) Decision {
	what := "sends to " + chat
	return applyRules(rules, Decision{What: what, Kind: Ask, Reason: what}, string(protocol.ReachSends), func(r *rule) (possible, certain bool) {
		matches := r.chat.matches(chat)
		return matches, matches
	})
}

// applyRules applies the rules of one kind to the decision that would hold without them. Refuse wins
// over ask, and ask wins over allow. A rule that certainly matches applies its verdict. A rule that
// only possibly matches asks; if its verdict is allow, it changes nothing.
func applyRules(rules *Rules, d Decision, kind string, matches func(r *rule) (possible, certain bool)) Decision {
	if d.Kind == Refuse {
		return d
	}
	decided, found := Decision{}, false
	take := func(r *rule, kind Kind, note string) {
		if !found || kind < decided.Kind {
			decided, found = Decision{What: d.What, Kind: kind, Line: r.Line, Rule: r.Name(), Reason: r.reason(d.What) + note}, true
		}
	}
	for n := range rules.rules {
		r := &rules.rules[n]
		if r.kind != kind {
			continue
		}
		possible, certain := matches(r)
		switch {
		case certain:
			take(r, r.Verdict, "")
		case possible && r.Verdict == Refuse:
			take(r, Ask, "; this could be such a one")
		case possible && r.Verdict == Ask:
			take(r, Ask, "")
		}
	}
	if found {
		return decided
	}
	return d
}

// fence is the decision of the built-in fence. Allow means that it has no objection.
type fence struct {
	Kind     Kind
	Reason   string
	OnceOnly bool
}

// readFence never allows reading the kernel's own files, which hold the token and all
// conversations, or the places of a person's keys.
func (p *Policy) readFence(path string) fence {
	switch {
	case !filepath.IsAbs(path):
		return fence{Reason: fmt.Sprintf("names %q, which is no absolute name of a file", path)}
	case p.State != "" && within(path, p.State):
		return fence{Reason: fmt.Sprintf("reads %s, which is the kernel's own, and is not read", path)}
	case p.State != "" && within(resolved(p.State), path):
		return fence{Reason: fmt.Sprintf("reads %s, which is the kernel's own, and is not read: name a directory in %s that does not have it", p.State, path)}
	case p.secret(path):
		return fence{Reason: fmt.Sprintf("reads %s, where keys and passwords are, and is not read", path)}
	}
	user, err := os.UserHomeDir()
	switch keys.In(path, user) {
	case keys.Kept:
		return fence{Reason: fmt.Sprintf("reads %s, where keys and passwords are, and is not read", path)}
	case keys.Perhaps:
		return fence{Kind: Ask, Reason: fmt.Sprintf("reads %s, in which keys and passwords may be", path)}
	}
	if err == nil && within(resolved(user), path) && !within(path, p.Home) {
		return fence{Kind: Ask, OnceOnly: true, Reason: fmt.Sprintf("reads %s with all that is in it, also where keys and passwords are", path)}
	}
	return fence{Kind: Allow}
}

func (p *Policy) secret(path string) bool { return Secret(p.Home, path) }

// Secret reports whether a file lies in a home's directory of secrets.
func Secret(home, path string) bool {
	return home != "" && within(path, filepath.Join(home, "secrets"))
}

// Unread returns a function that reports whether a search through directories skips a file,
// whatever the rules allow. A search skips the kernel's own files in the directory state, the
// conversations and secrets of the home, and the places of keys and passwords. Conversations are
// searched by tools that know who can read the answer.
func Unread(home, state string) func(path string) bool {
	own := []string{resolved(state)}
	for _, name := range [...]string{"sessions", "secrets"} {
		own = append(own, filepath.Join(resolved(home), name), resolved(filepath.Join(home, name)))
	}
	return func(path string) bool {
		return keys.Of(path) != keys.None || slices.ContainsFunc(own, func(d string) bool { return filepath.IsAbs(d) && isBelow(path, d) })
	}
}

// HasKeys reports whether a file has keys, or may have, by its name, another name of it, or how it begins.
func HasKeys(path string) bool {
	user, _ := os.UserHomeDir() // "" where there is none: the file itself is looked at all the same
	return keys.In(path, user) != keys.None
}

// writeFence never allows changing a conversation. A file that decides what the agent is and may do
// can be changed only once for each approval, exactly as the person saw the change.
func (p *Policy) writeFence(path string) fence {
	switch {
	case !filepath.IsAbs(path):
		return fence{Reason: fmt.Sprintf("names %q, which is no absolute name of a file", path)}
	case p.Home != "" && (within(path, filepath.Join(p.Home, "sessions")) || isBelow(path, filepath.Join(p.Home, "sessions"))):
		return fence{Reason: fmt.Sprintf("changes %s, a conversation, and nobody changes what was said", path)}
	case keys.Of(path) == keys.Kept:
		return fence{Reason: fmt.Sprintf("changes %s, where keys and passwords are", path)}
	case p.protected(path):
		return fence{Kind: Ask, OnceOnly: true, Reason: fmt.Sprintf("changes %s, which decides what the agent is and may do, or is the kernel's own", path)}
	}
	return fence{Kind: Allow}
}
