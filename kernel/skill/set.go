package skill

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/chewxy/sexp"

	"org-agent/kernel/lisp"
)

// Set holds the notes that were live at one moment. It is immutable and safe for many goroutines. A
// nil Set is empty.
type Set struct {
	skills     []*Skill  // best first
	commands   []Command // by name
	identity   Identity
	hooks      []*Hook // by the names of their notes
	hookFaults []Diagnostic
	actions    []*Action
	tools      []*Tool // by name
	found      map[version][]Diagnostic
}

// version is a text of a note: its file and the SHA-256 of the text.
type version struct {
	file string
	sum  [sha256.Size]byte
}

// Found returns what was found in the note when this text of it was loaded. Above all that is which
// tests failed. It returns nothing for another text.
func (s *Set) Found(file string, source []byte) []Diagnostic {
	return slices.Clone(s.found[version{file, sha256.Sum256(source)}])
}

// newSet returns a set of skills in the order of preference: by priority, then home before shipped,
// then by name.
func newSet(skills []*Skill) *Set {
	slices.SortFunc(skills, func(a, b *Skill) int {
		if c := cmp.Compare(b.Priority, a.Priority); c != 0 {
			return c
		}
		if a.Shipped != b.Shipped {
			if a.Shipped {
				return 1
			}
			return -1
		}
		return strings.Compare(a.Name, b.Name)
	})
	return &Set{skills: skills}
}

// Skills returns the live skills, the preferred first. The slice is the caller's.
func (s *Set) Skills() []*Skill {
	if s == nil {
		return nil
	}
	return slices.Clone(s.skills)
}

// Named returns the skill with that name, or nil. The name may have a leading colon or "skill-", in
// any case.
func (s *Set) Named(name string) *Skill {
	if s == nil {
		return nil
	}
	name = strings.ToLower(strings.TrimPrefix(name, ":"))
	for _, exact := range []bool{true, false} {
		for _, k := range s.skills {
			if k.Name == name || !exact && shortName(k.Name) == shortName(name) {
				return k
			}
		}
	}
	return nil
}

// shortName returns a skill's name without the prefix that many notes use.
func shortName(name string) string { return strings.TrimPrefix(name, "skill-") }

// Best returns the skill that answers event, or nil. A command is answered by the skill that
// declares it. For other events, triggers run in the order of preference until one is true, each at
// most once. A skill that matches everything (its trigger accepted the probe) is only asked if no
// other skill matched. An error of a trigger counts as false. The first error of each skill is
// returned, and later ones are not.
func (s *Set) Best(ctx context.Context, event sexp.List) (*Skill, []error) {
	if k := s.commandSkill(event); k != nil {
		return k, nil
	}
	var faults []error
	data := lisp.NewData(event)
	for _, k := range s.ordered() {
		matches, err := k.matches(ctx, data)
		if err != nil {
			faults = append(faults, err)
		}
		if matches {
			return k, faults
		}
	}
	return nil, faults
}

// Matching returns all skills that receive a broadcast event, in the order of preference. Each
// trigger runs once. Skills that match everything count only if no other skill matched. Errors of
// triggers are handled as in [Set.Best].
func (s *Set) Matching(ctx context.Context, event sexp.List) (matching []*Skill, faults []error) {
	data := lisp.NewData(event)
	for _, k := range s.ordered() {
		if k.catchAll && len(matching) > 0 && !matching[0].catchAll {
			break
		}
		matches, err := k.matches(ctx, data)
		if err != nil {
			faults = append(faults, err)
		}
		if matches {
			matching = append(matching, k)
		}
	}
	return matching, faults
}

// ordered returns the skills with triggers, those that match everything last.
func (s *Set) ordered() []*Skill {
	if s == nil {
		return nil
	}
	var specific, catchAll []*Skill
	for _, k := range s.skills {
		switch {
		case k.trigger == nil:
		case k.catchAll:
			catchAll = append(catchAll, k)
		default:
			specific = append(specific, k)
		}
	}
	return append(specific, catchAll...)
}

// Augments returns the texts that the live skills add to every system prompt with
// :system-prompt-augment. They are ordered by name and separated by blank lines. A function that
// fails adds nothing, and its failure is logged once.
func (s *Set) Augments(ctx context.Context) string {
	if s == nil {
		return ""
	}
	byName := s.Skills()
	slices.SortFunc(byName, func(a, b *Skill) int { return strings.Compare(a.Name, b.Name) })
	var parts []string
	for _, k := range byName {
		if text := strings.TrimSpace(k.Augment(ctx)); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, "\n\n")
}
