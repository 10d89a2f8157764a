package sandbox

import (
	"fmt"
	"slices"
	"strings"
)

// Left is what a command left in the directory in which it could write, as far as programs outside
// of the fence obey it. Other programs may have made it at the same time.
type Left struct {
	// Repositories are the new ones, named as by [Repositories].
	Repositories []string
	// Startup are the new or changed files from which programs take commands: those of
	// [autorun.Names], and programs in git's settings.
	Startup []string
	// Steps are directories with steps of a rebase that would run programs. They are reported only
	// while the command runs. When it has ended they are put aside, and are in Aside.
	Steps []string
	// Aside are the new names of what git would have obeyed: hooks, settings, steps of a rebase. A
	// file of settings was replaced by its harmless part.
	Aside []string
	// Unseen is true if not every directory could be searched.
	Unseen bool
}

// Empty reports whether the command left nothing.
func (l Left) Empty() bool {
	return len(l.Repositories) == 0 && len(l.Startup) == 0 && len(l.Steps) == 0 && len(l.Aside) == 0 && !l.Unseen
}

// nameLimit is how many names of each kind are remembered for one command.
const nameLimit = 1000

// With returns the union of both. Each list is sorted and holds at most a thousand names.
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

// Without returns what is in l and not in known.
func (l Left) Without(known Left) Left {
	rest := func(names, known []string) []string {
		return slices.DeleteFunc(slices.Clone(names), func(name string) bool { return slices.Contains(known, name) })
	}
	return Left{
		Repositories: rest(l.Repositories, known.Repositories), Startup: rest(l.Startup, known.Startup),
		Steps: rest(l.Steps, known.Steps), Aside: rest(l.Aside, known.Aside), Unseen: l.Unseen && !known.Unseen,
	}
}

// shownLimit is how many names of each kind are shown.
const shownLimit = 10

// String describes what was left for the person. It is "" if nothing was.
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

// listed returns the first names of a list, quoted, and how many more there are.
func listed(names []string) string {
	var b strings.Builder
	for i, name := range names[:min(shownLimit, len(names))] {
		if i > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", name)
	}
	if more := len(names) - shownLimit; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	return b.String()
}
