package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"org-agent/kernel/protocol"
)

// Decision is what was decided of one thing that an action would touch: a file, an address, or
// one of the commands of a command line.
type Decision struct {
	What   string // reads FILE, runs COMMAND, …
	Kind   Kind
	Reason string
	// Line of policy.org that decided, or of File; 0: no rule of it did.
	Line int
	// Hook is the name of the hook that decided, File its note, and Append what it has for the
	// model. All are "" where no hook did.
	Hook, File, Append string
	// OnceOnly: an approval may not outlast its one use.
	OnceOnly bool
}

// judgeReach is the worst of the decisions on all that a call would touch; a call that touches
// nothing is allowed.
//
// Three layers decide, and each only narrows what the next may allow: what is built in and no
// rule lifts, the rules of policy.org, and where no rule says anything, that what reads in the
// home or in a project of the conversation is allowed and everything else asks.
func (p *Policy) judgeReach(all []protocol.Reach) Verdict {
	rules := p.Rules.Rules()
	var decisions []Decision
	for _, r := range all {
		decisions = append(decisions, p.reachRule(rules, r)...)
	}
	if len(decisions) == 0 {
		return Verdict{Kind: Allow, Reason: "it touches nothing"}
	}
	return verdictOf(decisions)
}

// verdictOf is the worst of decisions, with what is said of all that are as bad.
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
	default:
		return []Decision{{What: string(r.Kind), Kind: Refuse, Reason: fmt.Sprintf("does %q, of which nothing is known", r.Kind)}}
	}
	for i, d := range all {
		all[i] = faulty(rules, d)
	}
	return all
}

// faulty refuses what rules that cannot be read could have decided.
func faulty(rules *Rules, d Decision) Decision {
	if len(rules.faults) == 0 || d.Kind == Refuse {
		return d
	}
	f := rules.faults[0]
	return Decision{What: d.What, Kind: Refuse, Line: f.Line, Reason: fmt.Sprintf("%s, and the rules cannot be read: %v", d.What, f)}
}

// pathRule judges what reads or writes a file, of an absolute name without links.
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
	case reads && within(path, p.Home):
		d.Kind, d.Reason = Allow, what+" in the home"
	case reads:
		d.Reason = "reads from outside the home: " + path
		if project := p.projectOf(path); project != "" {
			d.Kind, d.Reason = Allow, what+" in the conversation's project "+project
		}
		fallthrough
	default:
		d = faulty(rules, d)
	}
	d = ruled(rules, d, string(kind), func(r *rule) (possible, certain bool) { return r.path.possible(path), r.path.certain(path) })
	if fence.Kind != Allow && fence.Kind <= d.Kind {
		d.Kind, d.Line, d.Reason = fence.Kind, 0, fence.Reason
	}
	d.OnceOnly = fence.OnceOnly
	return d
}

func (p *Policy) fetchRule(rules *Rules, address string) Decision {
	what := "fetches " + address
	if address == "*" {
		what = "may ask any address"
	}
	return ruled(rules, Decision{What: what, Kind: Ask, Reason: what}, string(protocol.ReachFetches), func(r *rule) (possible, certain bool) {
		return r.address.possible(address), r.address.certain(address) || r.verdict == Refuse && r.address.names(address)
	})
}

// ruled is what the rules of a kind make of the decision that counts without them: refuse wins
// over ask, ask over allow. One that could be meant asks; only one that is allows or refuses.
func ruled(rules *Rules, d Decision, kind string, matches func(r *rule) (possible, certain bool)) Decision {
	if d.Kind == Refuse {
		return d
	}
	decided, found := Decision{}, false
	take := func(r *rule, kind Kind, note string) {
		if !found || kind < decided.Kind {
			decided, found = Decision{What: d.What, Kind: kind, Line: r.line, Reason: r.reason(d.What) + note}, true
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
			take(r, r.verdict, "")
		case possible && r.verdict == Refuse:
			take(r, Ask, "; this could be such a one")
		case possible && r.verdict == Ask:
			take(r, Ask, "")
		}
	}
	if found {
		return decided
	}
	return d
}

// fence is what is built in: Allow where it has no objection.
type fence struct {
	Kind     Kind
	Reason   string
	OnceOnly bool
}

// readFence: what is the kernel's own is never read, as the token and all that was ever said
// lie there, and neither is what has a person's keys.
func (p *Policy) readFence(path string) fence {
	switch {
	case !filepath.IsAbs(path):
		return fence{Reason: fmt.Sprintf("names %q, which is no absolute name of a file", path)}
	case p.State != "" && within(path, p.State):
		return fence{Reason: fmt.Sprintf("reads %s, which is the kernel's own, and is not read", path)}
	case p.State != "" && within(resolved(p.State), path):
		return fence{Reason: fmt.Sprintf("reads %s, which is the kernel's own, and is not read: name a directory in %s that does not have it", p.State, path)}
	case keeps(path) || p.secret(path):
		return fence{Reason: fmt.Sprintf("reads %s, where keys and passwords are, and is not read", path)}
	case hasKeys(path):
		return fence{Kind: Ask, Reason: fmt.Sprintf("reads %s, in which programs are told keys and passwords", path)}
	}
	if user, err := os.UserHomeDir(); err == nil && within(resolved(user), path) && !within(path, p.Home) {
		return fence{Kind: Ask, OnceOnly: true, Reason: fmt.Sprintf("reads %s with all that is in it, also where keys and passwords are", path)}
	}
	return fence{Kind: Allow}
}

// secret reports whether a file is where the home keeps what nobody is told.
func (p *Policy) secret(path string) bool {
	return p.Home != "" && within(path, filepath.Join(p.Home, "secrets"))
}

// Unread returns what says of a file whether it is passed over in every directory that is looked
// through, whatever the rules allow: the kernel's own, which is in the directory state,
// conversations and secrets of the home, and where keys and passwords are. What was said is looked
// up by tools that know who listens.
func Unread(home, state string) func(path string) bool {
	kept := []string{resolved(state)}
	for _, name := range [...]string{"sessions", "secrets"} {
		kept = append(kept, filepath.Join(resolved(home), name), resolved(filepath.Join(home, name)))
	}
	return func(path string) bool {
		return keeps(path) || hasKeys(path) || slices.ContainsFunc(kept, func(d string) bool { return filepath.IsAbs(d) && beneath(path, d) })
	}
}

// writeFence: what was said is not changed, and what decides what the agent is and may do only
// once, on what was shown.
func (p *Policy) writeFence(path string) fence {
	switch {
	case !filepath.IsAbs(path):
		return fence{Reason: fmt.Sprintf("names %q, which is no absolute name of a file", path)}
	case p.Home != "" && (within(path, filepath.Join(p.Home, "sessions")) || beneath(path, filepath.Join(p.Home, "sessions"))):
		return fence{Reason: fmt.Sprintf("changes %s, a conversation, and nobody changes what was said", path)}
	case keeps(path):
		return fence{Reason: fmt.Sprintf("changes %s, where keys and passwords are", path)}
	case p.protected(path):
		return fence{Kind: Ask, OnceOnly: true, Reason: fmt.Sprintf("changes %s, which decides what the agent is and may do, or is the kernel's own", path)}
	}
	return fence{Kind: Allow}
}

// keeps reports whether a file is one in which programs keep keys and passwords.
func keeps(path string) bool {
	if strings.HasPrefix(path, "/proc/") && strings.HasSuffix(path, "/environ") || path == "/etc/shadow" {
		return true
	}
	if !strings.HasPrefix(path, ".") && !strings.Contains(path, "/.") && !strings.Contains(path, "keyrings") { // nearly always
		return false
	}
	switch filepath.Base(path) {
	case ".authinfo", ".authinfo.gpg", ".netrc", ".pgpass", ".git-credentials", ".npmrc", ".pypirc":
		return true
	}
	for part := range strings.SplitSeq(path, "/") {
		switch part {
		case ".ssh", ".gnupg", ".password-store", ".aws", ".kube", ".azure", "keyrings":
			return true
		}
	}
	return false
}

// hasKeys reports whether a file is one of a project in which programs are told keys, often
// beside what is none: it is read when a person says so.
func hasKeys(path string) bool {
	if !strings.Contains(path, ".env") {
		return false
	}
	name := filepath.Base(path)
	if name == ".envrc" || name == ".env" {
		return true
	}
	kind, of := strings.CutPrefix(name, ".env.")
	return of && kind != "example" && kind != "sample" && kind != "template"
}
