package sandbox

import (
	"fmt"
	"strings"
)

// Left is what a command left in the directory that it could write in, by which programs outside of
// the fence are told what to run. Others may have made it meanwhile.
type Left struct {
	// Repositories came to be, as [Repositories] tells them.
	Repositories []string
	// Startup files were made or changed: those of [autorun.Names], and programs that git's settings
	// name.
	Startup []string
	// Aside are the new names of what git would have obeyed: hooks, settings, steps of a rebase. What
	// is harmless of settings stands in the old place.
	Aside []string
	// Unseen: not every directory could be looked into.
	Unseen bool
}

// Empty reports whether it is nothing at all.
func (l Left) Empty() bool {
	return len(l.Repositories) == 0 && len(l.Startup) == 0 && len(l.Aside) == 0 && !l.Unseen
}

// leftMost is how many names of a kind are told.
const leftMost = 10

// String says it to the person, "" for nothing.
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
	say(l.Aside, "thing put aside under a new name, as git would have run what it says", "things put aside under new names, as git would have run what they say")
	if l.Unseen {
		parts = append(parts, "Not every directory could be looked into or put right: look before you run git there.")
	}
	return strings.Join(parts, " ")
}

// listed are the first names of a list on a line, quoted, and how many more there are.
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
