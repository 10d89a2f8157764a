package skill

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// publish decides which versions are live and makes them the current set. The caller
// holds loading.
func (r *Registry) publish() {
	order := r.ordered()
	for _, s := range order {
		s.rejected, s.blocked = false, nil
	}
	for reconcile(order) {
	}
	for _, s := range order {
		s.addObstacles(order)
	}
	var skills []*Skill
	for _, s := range order {
		if s.published {
			s.live = s.version()
			skills = append(skills, s.live.skills...)
		}
		if s.candidate == s.live {
			s.candidate = nil
		}
	}
	commands, identity := assignCommands(order), assignIdentity(order)
	slices.SortFunc(order, byPlace)
	statuses, found := make([]Status, len(order)), map[version][]Diagnostic{}
	for i, s := range order {
		statuses[i] = s.status()
		found[version{s.newest.File, s.sum}] = statuses[i].Diagnostics
	}
	if len(r.directory) > 0 {
		statuses = slices.Insert(statuses, 0, Status{File: r.config.Home, State: Failed, Diagnostics: slices.Clone(r.directory)})
	}
	before := r.Statuses()
	live := newSet(skills)
	live.commands, live.identity, live.found = commands, identity, found
	live.hooks, live.hookFaults = assignHooks(order)
	live.actions, live.tools = assignActions(order), assignTools(order)
	r.current.Store(live)
	r.statuses.Store(&statuses)
	r.report(before, statuses)
	if r.config.Changed != nil {
		r.config.Changed(slices.Clone(statuses))
	}
}

// byPlace orders the home's notes before the shipped ones, then by file.
func byPlace(a, b *slot) int {
	if a.origin.shipped != b.origin.shipped {
		if a.origin.shipped {
			return 1
		}
		return -1
	}
	return strings.Compare(a.name, b.name)
}

// ordered returns the slots in the order in which they can take a skill's name: the home's before
// the shipped ones, and within these the slots that already have the name first.
func (r *Registry) ordered() []*slot {
	var order []*slot
	for _, s := range r.slots {
		order = append(order, s)
	}
	slices.SortFunc(order, func(a, b *slot) int {
		if a.origin.shipped == b.origin.shipped && a.keepsNames() != b.keepsNames() {
			if a.keepsNames() {
				return -1
			}
			return 1
		}
		return byPlace(a, b)
	})
	return order
}

// version returns the version of a slot that can become live, or nil.
func (s *slot) version() *Note {
	if s.candidate != nil && !s.rejected {
		return s.candidate
	}
	return s.live
}

// keepsNames reports whether the slot already publishes all skills and actions of its version.
func (s *slot) keepsNames() bool {
	if !s.published || s.live == nil {
		return false
	}
	for name := range s.version().defines() {
		if _, had := s.live.defines()[name]; !had {
			return false
		}
	}
	return true
}

// reconcile decides about every slot, given the versions of the others. It rejects a candidate that
// cannot be live beside them. Because a rejection can affect other slots, reconcile then returns
// true and must be called again. A rejected candidate is tried again when something else has
// changed.
func reconcile(order []*slot) (again bool) {
	taken := map[string]*slot{}
	for _, s := range order {
		s.published, s.state = false, Failed
		v := s.version()
		if v == nil {
			if s.rejected {
				s.state = s.rejection
			}
			continue
		}
		if shadowed(s, order) {
			s.state = Shadowed
			continue
		}
		if state, faults := obstacles(s, v, taken, order); len(faults) > 0 {
			s.blocked = faults
			if v == s.candidate {
				s.rejected, s.rejection = true, state
				return true
			}
			s.state = state
			continue
		}
		for name := range v.defines() {
			taken[name] = s
		}
		s.published = true
		if v == s.newest {
			s.state = Live
		}
	}
	return false
}

// shadowed reports whether a live note of the home has the same name as a shipped one.
func shadowed(s *slot, order []*slot) bool {
	return s.origin.shipped && slices.ContainsFunc(order, func(other *slot) bool {
		return other.published && !other.origin.shipped && noteKey(other.name) == noteKey(s.name)
	})
}

// obstacles returns the state and the reasons if version v of a slot cannot be live.
func obstacles(s *slot, v *Note, taken map[string]*slot, order []*slot) (State, []Diagnostic) {
	faults, state := duplicates(v, taken), Failed
	if len(faults) > 0 {
		state = Duplicate
	}
	return state, append(faults, unmetDependencies(v, func(d dependency) bool {
		return slices.ContainsFunc(order, func(other *slot) bool {
			return other != s && other.version() != nil && other.version().answersTo(d)
		})
	})...)
}

// addObstacles adds to the faults of a version that failed what else keeps it from being live, so that whoever
// mends the faults does not find these one after the other. A dependency on a note that is only rejected is
// no obstacle: that note may be waiting for this one.
func (s *slot) addObstacles(order []*slot) {
	if len(s.faults) == 0 || s.late || s.origin.shipped {
		return
	}
	taken := map[string]*slot{}
	for _, other := range order {
		if other == s || !other.published {
			continue
		}
		for name := range other.version().defines() {
			taken[name] = other
		}
	}
	found := append(duplicates(s.newest, taken), unmetDependencies(s.newest, func(d dependency) bool {
		return slices.ContainsFunc(order, func(other *slot) bool {
			return other != s && (other.live != nil && other.live.answersTo(d) || other.candidate != nil && other.candidate.answersTo(d))
		})
	})...)
	for _, d := range found {
		if !slices.Contains(s.blocked, d) {
			s.blocked = append(s.blocked, d)
		}
	}
}

// duplicates returns a fault for each definition that another note has already.
func duplicates(n *Note, taken map[string]*slot) (faults []Diagnostic) {
	for name, line := range n.defines() {
		if other := taken[name]; other != nil {
			faults = append(faults, Diagnostic{File: n.File, Line: line, Column: 1, Message: fmt.Sprintf(
				"the %s is defined by %s already; give this one another name", name, ShownFile(other.version().File))})
		}
	}
	slices.SortFunc(faults, func(a, b Diagnostic) int { return cmp.Or(a.Line-b.Line, strings.Compare(a.Message, b.Message)) })
	return faults
}

// unmetDependencies returns a fault for each dependency that is not met.
func unmetDependencies(n *Note, met func(dependency) bool) (faults []Diagnostic) {
	for _, d := range n.needs() {
		if !met(d) {
			faults = append(faults, Diagnostic{File: n.File, Line: d.line, Column: 1, Message: fmt.Sprintf(
				"it depends on %q, and there is no note or skill of that name that loads", d.name)})
		}
	}
	return faults
}

// defines returns the lines of the definitions that only one live note can have, such as "skill
// chat".
func (n *Note) defines() map[string]int {
	lines := make(map[string]int, len(n.skills)+len(n.actions))
	for _, k := range n.skills {
		lines["skill "+k.Name] = k.line
	}
	for _, t := range n.tools {
		lines["tool "+strings.NewReplacer("-", "", "_", "").Replace(t.Name)] = t.Line
	}
	for _, a := range n.actions {
		lines["action "+a.Key().String()] = a.Line
	}
	return lines
}

// needs returns the dependencies from the keyword and from defskill.
func (n *Note) needs() []dependency {
	all := slices.Clone(n.dependencies)
	for _, k := range n.skills {
		for _, name := range k.Dependencies {
			id, found := strings.CutPrefix(name, "id:")
			all = append(all, dependency{name: id, id: found, line: k.line})
		}
	}
	return all
}
