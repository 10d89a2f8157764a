package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"unicode"

	"org-agent/kernel/config"
	"org-agent/kernel/policy"
	"org-agent/kernel/sandbox"
	"org-agent/kernel/skill"
	"org-agent/kernel/skillmd"
	"org-agent/kernel/tool"
)

// promptsAt returns the directories with a SKILL.md: the given paths and those directly below them.
// Without paths it returns those of the home.
func promptsAt(proc *process, roots []string) ([]string, error) {
	if len(roots) == 0 {
		paths, err := proc.paths()
		if err != nil {
			return nil, err
		}
		roots = []string{paths.Skills}
	}
	var found []string
	for _, root := range roots {
		if filepath.Base(root) == skillmd.FileName {
			root = filepath.Dir(root)
		}
		directories, err := skillmd.Directories(root)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		found = append(found, directories...)
	}
	return found, nil
}

// checkPrompts prints the faults of the skills in the directories, and returns how many skills
// cannot be used.
func (c *skillCheck) checkPrompts(proc *process, directories []string) (unusable int, err error) {
	for _, directory := range directories {
		failed := false
		for _, d := range skillmd.CheckDirectory(directory) {
			failed = failed || !d.Warning
			if c.JSON {
				err = proc.printJSON(d)
			} else {
				_, err = fmt.Fprintln(proc.stdout, printable(d.String()))
			}
			if err != nil {
				return unusable, err
			}
		}
		if failed {
			unusable++
		}
	}
	return unusable, nil
}

// promptSkills reads the prompt skills as a kernel of this home would.
func (proc *process) promptSkills(ctx context.Context, paths config.Paths, home string, notes []skill.Status) *skillmd.Registry {
	c := proc.instance(paths).PromptSkills()
	c.Home = home
	c.Notes = func() map[string]string { return skillmd.NamesOf(notes) }
	r := skillmd.New(c)
	r.Load(ctx)
	return r
}

// tools returns the tools that a kernel of this home would have, so that the policy can judge calls. The
// prompt skills and the sandbox are looked up only when a call needs them.
func (proc *process) tools(ctx context.Context, paths config.Paths) (*tool.Registry, error) {
	settings, err := config.Load(paths)
	if err != nil {
		return nil, err
	}
	notes, err := proc.notes(paths.Skills)
	if err != nil {
		return nil, err
	}
	fence := sync.OnceValue(func() sandbox.Kind { kind, _ := sandbox.Probe(ctx); return kind })
	home, now := proc.instance(paths), func() config.Settings { return settings }
	return tool.BuiltIn(tool.Deps{Commands: home.Commands(func() []string { return settings.Programs }, fence, nil, nil), Pages: home.Pages(now, nil, nil), Search: home.SearchServer(now), Skills: sync.OnceValue(func() *skillmd.Set {
		return proc.promptSkills(ctx, paths, paths.Skills, skill.New(notes).Load(ctx)).Current()
	}), Files: tool.Files{Home: paths.Home, Unread: policy.Unread(paths.Home, paths.State), Keys: policy.HasKeys}})
}

// listPrompts prints the prompt skills, and why some are not used.
func (proc *process) listPrompts(prompts []skillmd.Status) {
	for _, s := range prompts {
		fmt.Fprintf(proc.stdout, "%-20s %-10s %4s  %s  %s\n", printable(s.Skill), s.State, "-", printable(s.File), s.Description)
		for _, reason := range s.Reasons {
			fmt.Fprintf(proc.stdout, "    %s\n", reason)
		}
		for _, d := range s.Diagnostics {
			fmt.Fprintf(proc.stdout, "    %s\n", printable(d.String()))
		}
	}
}

// printable returns the text in a form that is safe to print in one line of a terminal.
func printable(name string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return '?'
	}, name)
}

// skillsAsJSON returns notes and prompt skills as one list, in which "kind" distinguishes them.
func skillsAsJSON(notes []skill.Status, prompts []skillmd.Status) []any {
	all := []any{}
	for _, s := range notes {
		all = append(all, struct {
			Kind string `json:"kind"`
			skill.Status
		}{"note", s})
	}
	for _, s := range prompts {
		all = append(all, struct {
			Kind string `json:"kind"`
			skillmd.Status
		}{"prompt", s})
	}
	return all
}

// copyDirectory copies a shipped directory, or records that the person dealt with its changes. It returns
// false if the name is no shipped directory and the flags can also apply to a note.
func (c *skillCopy) copyDirectory(proc *process) (done bool, err error) {
	paths, err := proc.paths()
	if err != nil {
		return true, err
	}
	config := proc.instance(paths).PromptSkills()
	name := strings.TrimSuffix(c.Name, "/")
	switch {
	case !config.Ships(name) && (c.To != "" || c.Settled):
		return true, usagef("--to and --settled apply to shipped directories, and none is named %s", c.Name)
	case !config.Ships(name):
		return false, nil
	case c.Settled:
		return true, config.UpdateOriginal(name)
	case c.To != "":
		if config.Home, err = filepath.Abs(c.To); err != nil {
			return true, fmt.Errorf("find the directory %s: %w", c.To, err)
		}
		config.Originals = ""
	default:
		if err := os.MkdirAll(paths.Skills, 0o755); err != nil {
			return true, fmt.Errorf("make the directory for skills: %w", err)
		}
		if err := paths.EnsureState(); err != nil {
			return true, err
		}
	}
	directory, err := config.Copy(name)
	if err == nil {
		_, err = fmt.Fprintln(proc.stdout, directory)
	}
	return true, err
}
