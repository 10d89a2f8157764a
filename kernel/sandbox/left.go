package sandbox

import (
	"fmt"
	"slices"
	"strings"
)

// Left is what a command left in the directory in which it could write, and that programs outside
// of the fence obey. Others may have made it at the same time.
type Left struct {
	// Repositories are new, named as by [Repositories].
	Repositories []string
	// Startup are new or changed files: those of [autorun.Names], and programs in git's settings.
	Startup []string
	// Steps are directories with steps of a rebase that would run programs. They are reported only
	// while the command runs. When it has ended they are put aside, and in Aside.
	Steps []string
	// Aside are the new names of what git would have obeyed: hooks, settings, steps of a rebase. A
	// file of settings was replaced by its harmless part.
	Aside []string
	// Unseen: not every directory could be searched.
	Unseen bool
}

// Empty reports whether nothing was left.
func (l Left) Empty() bool {
	return len(l.Repositories) == 0 && len(l.Startup) == 0 && len(l.Steps) == 0 && len(l.Aside) == 0 && !l.Unseen
}

// nameLimit is how many names of each kind are remembered for one command.
const nameLimit = 1000

// With is both together. Each list is sorted and holds at most a thousand names.
func (l Left) With(more Left) Left {
	both := func(a, b []string) []string {
		all := slices.Concat(a, b)
		slices.Sort(all)
		all = slices.Compact(all)
		return all[:min(len(all), nameLimit)]
	}
	return Left{
		Repositories: both(l.Repositories, more.Repositories), Startup: both(l.Startup, more.Startup),
		Steps: both(l.Steps, more.Steps), Aside: both(l.Aside, more.Aside), Unseen: l.Unseen || more.Unseen,
	}
}

// Without is what is not in known.
func (l Left) Without(known Left) Left {
	rest := func(names, known []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(known, name) })
	}
	return Left{
		Repositories: rest(l.Repositories, known.Repositories), Startup: rest(l.Startup, known.Startup),
		Steps: rest(l.Steps, known.Steps), Aside: rest(l.Aside, known.Aside), Unseen: l.Unseen && !known.Unseen,
	}
}

// leftMost is how many names of each kind are shown.
const leftMost = 10

// String describes it for the person. It is "" for nothing.
func (l Left) String() string {
	var parts []string
	say := func(names []string, one, more string) {
		switch n := len(names); n {
		case 0:
		case 1:
			parts = append(parts, fmt.Sprintf("There is 1 %s: %s.", one, listed(names)))
		default:
			parts = append(parts, fmt.Sprintf("There are %d %s: %s.", n, more, listed(names)))
		}
	}
	say(l.Repositories, "git repository more than before, made by this command or by others, in which git obeys what is written",
		"git repositories more than before, made by this command or by others, in which git obeys what is written")
	say(l.Startup, "new or changed file that tells other programs what to run", "new or changed files that tell other programs what to run")
	say(l.Steps, "stopped rebase that would run programs if you went on with it", "stopped rebases that would run programs if you went on with them")
	say(l.Aside, "thing put aside under a new name, as git would have run what it says", "things put aside under new names, as git would have run what they say")
	if l.Unseen {
		parts = append(parts, "Not every directory could be looked into or put right: look before you run git there.")
	}
	return strings.Join(parts, " ")
}

// listed is a list's first names, quoted, and how many more there are.
func listed(names []string) string {
	var b strings.Builder
	for i, name := range names[:min(leftMost, len(names))] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", name)
	}
	if more := len(names) - leftMost; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	return b.String()
}
