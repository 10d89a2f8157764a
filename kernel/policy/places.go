package policy

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"org-agent/kernel/shell"
)

// places are the directories in which a command of a command line may run. Most have one: that of the command line,
// or the one to which cd leads at its beginning.
type places struct {
	start string   // the directory of the command line
	all   []string // without links
	works []string // where the program works, after it has changed the directory itself
	known bool     // it can be no other one
}

// placesLimit is how many directories are followed.
const placesLimit = 16

// placesOf returns the places of a command behind so many changes of the directory.
func placesOf(script shell.Script, after int, moved bool, directory string) places {
	all := []string{directory} // as the shell names them: cd .. is about the name
	for _, change := range script.Changes[:after] {
		var next []string
		for _, from := range all {
			to, known := absolutePath(change.Directory, from)
			if !known || len(next) > placesLimit {
				return places{start: directory, all: []string{directory}}
			}
			next = append(next, to)
			if !change.Sure && !slices.Contains(next, from) {
				next = append(next, from)
			}
		}
		all = next
	}
	if after > 0 {
		for i := range all {
			all[i] = resolved(all[i])
		}
		slices.Sort(all)
		all = slices.Compact(all)
	}
	return places{start: directory, all: all, known: !moved}
}

// enter follows the program into the directories that it changes to. The command gets an opacity for each
// that lies outside of the one before, or that is another repository for git, or that is not known.
func (at *places) enter(c *shell.Command) {
	at.works = at.all
	if len(c.Enters) == 0 {
		return
	}
	at.works = nil
	for _, directory := range at.all {
		for _, e := range c.Enters {
			next, known := absolutePath(shell.Word{Text: e.Directory}, directory)
			if known {
				next = resolved(next)
			}
			if !known || !isBelow(next, resolved(directory)) || isOfRepository(*c) && repositoryOf(next) != repositoryOf(resolved(directory)) {
				for word := e.From; word <= e.At; word++ {
					c.Opaque = append(c.Opaque, shell.Opacity{Why: "it works in another directory", At: word})
				}
			}
			directory = next
		}
		at.works = append(at.works, directory)
	}
}

// somewhereIn reports whether the rule is about commands that run in one of the places.
func (at *places) somewhereIn(r *rule) bool {
	return r.inside == "" || slices.ContainsFunc(slices.Concat(at.all, at.works), func(place string) bool { return place == "" || isBelow(resolved(place), r.inside) })
}

// in reports whether the rule is about commands that run in all of the places.
func (at *places) in(r *rule) bool {
	return r.inside == "" || at.known && !slices.ContainsFunc(at.all, func(place string) bool { return place == "" || !isBelow(resolved(place), r.inside) })
}

// certainlyIn reports whether the rule is about commands that run where this one certainly works.
func (at *places) certainlyIn(r *rule) bool {
	return r.inside == "" || at.in(r) || at.known && !slices.ContainsFunc(at.works, func(place string) bool { return place == "" || !isBelow(resolved(place), r.inside) })
}

// elsewhere returns why a program that obeys the files of its directory would obey others than those of the
// command line's directory, or "".
func (at *places) elsewhere(c shell.Command) string {
	if !c.Obeys {
		return ""
	}
	if !at.known {
		return "it could work in another directory, and obeys the files there"
	}
	if len(at.all) == 1 && at.all[0] == at.start {
		return ""
	}
	start := resolved(at.start)
	for _, place := range at.all {
		if !isBelow(place, start) || isOfRepository(c) && repositoryOf(place) != repositoryOf(start) {
			return "it works in " + shortened(place) + ", and obeys the files there"
		}
	}
	return ""
}

// noOption reports whether a word that could have been an option is none: it stands for the names of files, and
// no file has such a name. No command of the line makes one.
func (at *places) noOption(script shell.Script, o shell.Opacity) bool {
	if o.Perhaps == nil || !at.known || slices.ContainsFunc(script.Commands, func(c shell.Command) bool { return !c.Reads && !c.Harmless && !c.OnlyRuns }) {
		return false
	}
	return !slices.ContainsFunc(at.all, func(place string) bool {
		names, known := namesOf(*o.Perhaps, place)
		return !known || slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "-") })
	})
}

// leavesAnywhere calls [Policy.leaves] for each of the places.
func (p *Policy) leavesAnywhere(r *rule, c shell.Command, at places) string {
	for _, place := range at.all {
		if word := p.leaves(r, c, place); word != "" {
			return word
		}
	}
	return ""
}

// isOfRepository reports whether the program obeys the settings of the repository that is around it.
func isOfRepository(c shell.Command) bool {
	switch programName(c) {
	case "git", "hg", "svn":
		return true
	}
	return false
}

// repositoryOf returns the directory whose repository git, or a program like it, would take in this one, or "".
func repositoryOf(directory string) string {
	for at := directory; at != "." && at != ""; at = filepath.Dir(at) {
		for _, name := range [...]string{".git", ".hg", ".svn"} {
			if _, err := os.Lstat(filepath.Join(at, name)); err == nil {
				return at
			}
		}
		if _, err := os.Lstat(filepath.Join(at, "HEAD")); err == nil && inRepository(at) {
			return at
		}
		if at == "/" {
			break
		}
	}
	return ""
}
