package skillmd

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"org-agent/kernel/text"
)

// State says whether a skill counts.
type State string

// The states of a skill.
const (
	// Effective: it counts.
	Effective State = "effective"
	// Shadowed: something else has its name.
	Shadowed State = "shadowed"
	// Disabled: the person's settings say so.
	Disabled State = "disabled"
	// Ineligible: what it needs is not there.
	Ineligible State = "ineligible"
	// Failed: it has faults.
	Failed State = "failed"
)

// Surroundings are what a skill can need. The zero value is a machine without anything, on
// which nothing is forbidden.
type Surroundings struct {
	// OS is the system as Go calls it, "" for the one this runs on.
	OS string
	// Env returns a variable of the environment.
	Env func(name string) string
	// Config returns a setting of config.org by its path HEADING.PROPERTY.
	Config func(path string) string
	// Disabled are skills that do not count. Allowed, if there are any, are the only ones
	// that do.
	Disabled, Allowed []string

	programs map[string]bool // those that were looked for, while one goroutine asks
}

// Eligible says whether a skill of that front matter counts in these surroundings, and why
// not. Looked at in this order, what says no ends it: the disabled, the allowed, the system;
// with Always nothing more. Else everything that is missing is told: programs, one of
// several programs, variables (one without a value is missing) and settings.
func (s Surroundings) Eligible(m Matter) (State, []string) {
	goos := s.OS
	if goos == "" {
		goos = runtime.GOOS
	}
	needs := m.Requires
	switch {
	case s.names(s.Disabled, m):
		return Disabled, []string{"SKILLS_DISABLED in config.org names it"}
	case len(s.Allowed) > 0 && !s.names(s.Allowed, m):
		return Disabled, []string{"SKILLS_ALLOWED in config.org does not name it"}
	case len(needs.OS) > 0 && !slices.ContainsFunc(needs.OS, func(name string) bool { return systems[strings.ToLower(name)] == goos }):
		return Ineligible, []string{fmt.Sprintf("it is for %s, and this is %s", listed(needs.OS), goos)}
	case needs.Always:
		return Effective, nil
	}
	if missing := s.missing(needs); len(missing) > 0 {
		return Ineligible, missing
	}
	return Effective, nil
}

func (s Surroundings) names(list []string, m Matter) bool {
	return slices.ContainsFunc(list, func(name string) bool {
		return strings.EqualFold(name, m.Name) || m.Key != "" && strings.EqualFold(name, m.Key)
	})
}

func (s Surroundings) missing(needs Requirements) []string {
	var missing []string
	for _, name := range needs.Bins {
		if !s.program(name) {
			missing = append(missing, fmt.Sprintf("there is no program %s on PATH", shown(name)))
		}
	}
	if len(needs.AnyBins) > 0 && !slices.ContainsFunc(needs.AnyBins, s.program) {
		missing = append(missing, fmt.Sprintf("none of the programs %s is on PATH", listed(needs.AnyBins)))
	}
	for _, name := range needs.Env {
		if s.Env == nil || s.Env(name) == "" {
			missing = append(missing, fmt.Sprintf("the variable %s has no value", shown(name)))
		}
	}
	for _, path := range needs.Config {
		if s.Config == nil || off(s.Config(path)) {
			missing = append(missing, fmt.Sprintf("config.org has no value for %s", shown(path)))
		}
	}
	return missing
}

// off reports whether a setting says no, or nothing.
func off(value string) bool {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "", "nil", "no", "off", "false", "0":
		return true
	}
	return false
}

// program reports whether a program of that name is on PATH. Only absolute directories
// count, and a name with a slash is none.
func (s Surroundings) program(name string) bool {
	found, known := s.programs[name]
	if !known {
		found = s.look(name)
		if s.programs != nil {
			s.programs[name] = found
		}
	}
	return found
}

func (s Surroundings) look(name string) bool {
	if s.Env == nil || name == "" || strings.ContainsAny(name, "/\x00") {
		return false
	}
	for _, directory := range filepath.SplitList(s.Env("PATH")) {
		if !filepath.IsAbs(directory) {
			continue
		}
		if info, err := os.Stat(filepath.Join(directory, name)); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return true
		}
	}
	return false
}

// shown is a word of a skill in a message.
func shown(word string) string { return text.PlainLine(word, 60) }

// listed are words of a skill in a message.
func listed(words []string) string {
	const most = 10
	var names []string
	for i, word := range words {
		if i == most {
			names = append(names, fmt.Sprintf("%d more", len(words)-i))
			break
		}
		names = append(names, shown(word))
	}
	return strings.Join(names, ", ")
}
