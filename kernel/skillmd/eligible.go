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

// State says whether a skill is effective.
type State string

// The states of a skill.
const (
	// Effective means that the skill can be used.
	Effective State = "effective"
	// Shadowed means that another skill or a note has the same name.
	Shadowed State = "shadowed"
	// Disabled means that the person's settings exclude the skill.
	Disabled State = "disabled"
	// Ineligible means that a requirement of the skill is missing.
	Ineligible State = "ineligible"
	// Failed means that the skill has faults.
	Failed State = "failed"
)

// Environment is the machine and the settings that a skill can require. The zero value has no
// programs, variables or settings, and excludes no skill.
type Environment struct {
	// OS is the system by its Go name. "" is the current system.
	OS string
	// Env returns a variable of the environment.
	Env func(name string) string
	// Config returns a setting of config.org by its path HEADING.PROPERTY.
	Config func(path string) string
	// Disabled are skills that are excluded. If Allowed is not empty, all other skills are
	// excluded.
	Disabled, Allowed []string

	programs map[string]bool // the programs that were looked for; used by one goroutine at a time
}

// Eligible returns whether a skill with that front matter is effective in this environment, and the
// reasons if it is not. It checks Disabled, Allowed and the system in this order and stops at the
// first that excludes the skill. With Always it checks nothing else. Otherwise it reports
// everything that is missing: programs, alternatives of programs, variables (an empty one is
// missing) and settings.
func (s Environment) Eligible(m Matter) (State, []string) {
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

func (s Environment) names(list []string, m Matter) bool {
	return slices.ContainsFunc(list, func(name string) bool {
		return strings.EqualFold(name, m.Name) || m.Key != "" && strings.EqualFold(name, m.Key)
	})
}

func (s Environment) missing(needs Requirements) []string {
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

// off reports whether a setting is empty or says no.
func off(value string) bool {
	switch strings.ToLower(strings.TrimSpace(value)) {
	case "", "nil", "no", "off", "false", "0":
		return true
	}
	return false
}

// program reports whether a program with that name is on PATH. Only absolute directories count, and
// a name with a slash is not valid.
func (s Environment) program(name string) bool {
	found, known := s.programs[name]
	if !known {
		found = s.findProgram(name)
		if s.programs != nil {
			s.programs[name] = found
		}
	}
	return found
}

func (s Environment) findProgram(name string) bool {
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

// shown returns a word of a skill for a message.
func shown(word string) string { return text.PlainLine(word, 60) }

// listed returns words of a skill for a message.
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
