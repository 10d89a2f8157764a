package skillmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"org-agent/kernel/skillmd"
)

// machine returns an environment whose PATH has only these programs.
func machine(t testing.TB, programs ...string) string {
	t.Helper()
	directory := t.TempDir()
	for _, name := range programs {
		if err := os.WriteFile(filepath.Join(directory, name), []byte("#!/bin/sh\n"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(directory, "plain-file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(directory, "folder"), 0o755); err != nil {
		t.Fatal(err)
	}
	return directory
}

func TestEligible(t *testing.T) {
	path := machine(t, "here", "too")
	around := func(change func(*skillmd.Environment)) skillmd.Environment {
		s := skillmd.Environment{
			OS: "linux",
			Env: func(name string) string {
				return map[string]string{"PATH": path + ":relative:", "SET": "x", "BLANK": " ", "EMPTY": ""}[name]
			},
			Config: func(name string) string {
				return map[string]string{"calendar.url": "https://x", "calendar.on": "yes", "calendar.off": "no", "calendar.nil": "nil"}[name]
			},
		}
		if change != nil {
			change(&s)
		}
		return s
	}
	disabled := func(names ...string) func(*skillmd.Environment) {
		return func(s *skillmd.Environment) { s.Disabled = names }
	}
	allowed := func(names ...string) func(*skillmd.Environment) {
		return func(s *skillmd.Environment) { s.Allowed = names }
	}
	type needs = skillmd.Requirements
	cases := []struct {
		name   string
		needs  needs
		key    string
		change func(*skillmd.Environment)
		state  skillmd.State
		why    string // parts of the reasons in order, separated by |
	}{
		{name: "needs nothing", state: skillmd.Effective},
		{name: "disabled", change: disabled("other", "s"), state: skillmd.Disabled, why: "SKILLS_DISABLED"},
		{name: "disabled in another case", change: disabled("S"), state: skillmd.Disabled, why: "SKILLS_DISABLED"},
		{name: "disabled by its key", key: "k", change: disabled("k"), state: skillmd.Disabled, why: "SKILLS_DISABLED"},
		{name: "another is disabled", change: disabled("other"), state: skillmd.Effective},
		{name: "no key is no name", change: disabled(""), state: skillmd.Effective},
		{name: "disabled before everything", needs: needs{OS: []string{"darwin"}, Bins: []string{"no"}}, change: disabled("s"), state: skillmd.Disabled, why: "SKILLS_DISABLED"},
		{name: "always does not help against disabled", needs: needs{Always: true}, change: disabled("s"), state: skillmd.Disabled, why: "SKILLS_DISABLED"},
		{name: "allowed", change: allowed("s"), state: skillmd.Effective},
		{name: "allowed by its key", key: "k", change: allowed("k"), state: skillmd.Effective},
		{name: "not allowed", change: allowed("other"), state: skillmd.Disabled, why: "SKILLS_ALLOWED"},
		{name: "always does not help against not allowed", needs: needs{Always: true}, change: allowed("other"), state: skillmd.Disabled, why: "SKILLS_ALLOWED"},
		{name: "not allowed before the system", needs: needs{OS: []string{"darwin"}}, change: allowed("other"), state: skillmd.Disabled, why: "SKILLS_ALLOWED"},
		{name: "this system", needs: needs{OS: []string{"darwin", "linux"}}, state: skillmd.Effective},
		{name: "this system in capitals", needs: needs{OS: []string{"Linux"}}, state: skillmd.Effective},
		{name: "another system", needs: needs{OS: []string{"darwin", "win32"}}, state: skillmd.Ineligible, why: "darwin, win32, and this is linux"},
		{name: "another name of the system", needs: needs{OS: []string{"macos"}}, change: func(s *skillmd.Environment) { s.OS = "darwin" }, state: skillmd.Effective},
		{name: "an unknown system", needs: needs{OS: []string{"amiga"}}, state: skillmd.Ineligible, why: "amiga"},
		{name: "always does not help against the system", needs: needs{Always: true, OS: []string{"darwin"}}, state: skillmd.Ineligible, why: "darwin"},
		{name: "always", needs: needs{Always: true, Bins: []string{"no"}, AnyBins: []string{"no"}, Env: []string{"NO"}, Config: []string{"no"}}, state: skillmd.Effective},
		{name: "a program", needs: needs{Bins: []string{"here", "too"}}, state: skillmd.Effective},
		{name: "one program is missing", needs: needs{Bins: []string{"here", "gone"}}, state: skillmd.Ineligible, why: "no program gone"},
		{name: "two programs are missing", needs: needs{Bins: []string{"gone", "lost"}}, state: skillmd.Ineligible, why: "gone|lost"},
		{name: "a file that is no program", needs: needs{Bins: []string{"plain-file"}}, state: skillmd.Ineligible, why: "plain-file"},
		{name: "a directory is no program", needs: needs{Bins: []string{"folder"}}, state: skillmd.Ineligible, why: "folder"},
		{name: "a path is no program", needs: needs{Bins: []string{path + "/here"}}, state: skillmd.Ineligible, why: "no program"},
		{name: "one of several programs", needs: needs{AnyBins: []string{"gone", "too"}}, state: skillmd.Effective},
		{name: "none of several programs", needs: needs{AnyBins: []string{"gone", "lost"}}, state: skillmd.Ineligible, why: "none of the programs gone, lost"},
		{name: "a variable", needs: needs{Env: []string{"SET"}}, state: skillmd.Effective},
		{name: "a variable without a value", needs: needs{Env: []string{"EMPTY"}}, state: skillmd.Ineligible, why: "EMPTY has no value"},
		{name: "no such variable", needs: needs{Env: []string{"SET", "UNSET"}}, state: skillmd.Ineligible, why: "UNSET"},
		{name: "no environment", needs: needs{Env: []string{"SET"}, Bins: []string{"here"}}, change: func(s *skillmd.Environment) { s.Env = nil }, state: skillmd.Ineligible, why: "here|SET"},
		{name: "a setting", needs: needs{Config: []string{"calendar.url", "calendar.on"}}, state: skillmd.Effective},
		{name: "a setting that says no", needs: needs{Config: []string{"calendar.off"}}, state: skillmd.Ineligible, why: "calendar.off"},
		{name: "a setting that says nil", needs: needs{Config: []string{"calendar.nil"}}, state: skillmd.Ineligible, why: "calendar.nil"},
		{name: "no such setting", needs: needs{Config: []string{"calendar.color"}}, state: skillmd.Ineligible, why: "no value for calendar.color"},
		{name: "everything that is missing, in order", needs: needs{Config: []string{"c"}, Env: []string{"E"}, AnyBins: []string{"a"}, Bins: []string{"b"}}, state: skillmd.Ineligible, why: "program b|programs a|variable E|value for c"},
		{name: "words that are no names", needs: needs{Env: []string{"A\x1b[2J\nB"}}, state: skillmd.Ineligible, why: "the variable A [2J B has no value"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			state, reasons := around(c.change).Eligible(skillmd.Matter{Name: "s", Key: c.key, Requires: c.needs})
			want := strings.Split(c.why, "|")
			if c.why == "" {
				want = nil
			}
			if state != c.state || len(reasons) != len(want) {
				t.Fatalf("%s, %q", state, reasons)
			}
			for i, part := range want {
				if !strings.Contains(reasons[i], part) {
					t.Errorf("reason %d is %q, want %q in it", i, reasons[i], part)
				}
			}
		})
	}
}
