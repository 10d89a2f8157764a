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
	"org-agent/skills"
)

// promptsAt returns the directories with a SKILL.md, at the given paths and directly below them;
// without paths, those of the home.
func promptsAt(w *world, roots []string) ([]string, error) {
	if len(roots) == 0 {
		paths, err := w.paths()
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
		below, err := skillmd.Directories(root)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		found = append(found, below...)
	}
	return found, nil
}

// checkPrompts prints the faults of the skills in the directories, and returns how many skills
// cannot be used.
func (c *skillCheck) checkPrompts(w *world, directories []string) (wrong int, err error) {
	for _, directory := range directories {
		bad := false
		for _, d := range skillmd.CheckDirectory(directory) {
			bad = bad || !d.Warning
			if c.JSON {
				err = w.printJSON(d)
			} else {
				_, err = fmt.Fprintln(w.out, printable(d.String()))
			}
			if err != nil {
				return wrong, err
			}
		}
		if bad {
			wrong++
		}
	}
	return wrong, nil
}

// promptSkills reads the prompt skills as a kernel of this home would.
func (w *world) promptSkills(ctx context.Context, paths config.Paths, home string, notes []skill.Status) *skillmd.Registry {
	c := w.instance(paths).PromptSkills()
	c.Home = home
	c.Notes = func() map[string]string { return skillmd.NamesOf(notes) }
	r := skillmd.New(c)
	r.Load(ctx)
	return r
}

// tools returns the tools that a kernel of this home would have. They read what they work with only
// when they are used.
func (w *world) tools(ctx context.Context, paths config.Paths) (*tool.Registry, error) {
	settings, err := config.Load(paths)
	if err != nil {
		return nil, err
	}
	fence := sync.OnceValue(func() sandbox.Kind { kind, _ := sandbox.Probe(ctx); return kind })
	home := w.instance(paths)
	return tool.BuiltIn(tool.Deps{Commands: home.Commands(settings.Programs, fence, nil), Pages: home.Pages(settings, nil, nil), Search: home.SearchServer(settings.Search), Skills: sync.OnceValue(func() *skillmd.Set {
		notes := skill.New(skill.Config{Shipped: skills.Notes(), Home: paths.Skills, Specs: specs})
		return w.promptSkills(ctx, paths, paths.Skills, notes.Load(ctx)).Current()
	}), Files: tool.Files{Home: paths.Home, Unread: policy.Unread(paths.Home, paths.State)}})
}

// listPrompts prints the prompt skills, and why some are not used.
func (w *world) listPrompts(prompts []skillmd.Status) {
	for _, s := range prompts {
		fmt.Fprintf(w.out, "%-20s %-10s %4s  %s  %s\n", printable(s.Skill), s.State, "-", printable(s.File), s.Description)
		for _, reason := range s.Reasons {
			fmt.Fprintf(w.out, "    %s\n", reason)
		}
		for _, d := range s.Diagnostics {
			fmt.Fprintf(w.out, "    %s\n", printable(d.String()))
		}
	}
}

// printable makes a file's name safe for one line of a terminal.
func printable(name string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return '?'
	}, name)
}

// skillsAsJSON returns notes and prompt skills as one list; "kind" tells them apart.
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

// directory copies a shipped directory. done is true if it copied one, or if the flags make sense
// only for a directory.
func (c *skillCopy) directory(w *world) (done bool, err error) {
	paths, err := w.paths()
	if err != nil {
		return true, err
	}
	from := w.instance(paths).PromptSkills()
	name := strings.TrimSuffix(c.Name, "/")
	switch {
	case !from.Ships(name) && (c.To != "" || c.Settled):
		return true, usagef("--to and --settled apply to shipped directories, and none is named %s", c.Name)
	case !from.Ships(name):
		return false, nil
	case c.Settled:
		return true, from.UpdateOriginal(name)
	case c.To != "":
		if from.Home, err = filepath.Abs(c.To); err != nil {
			return true, fmt.Errorf("find the directory %s: %w", c.To, err)
		}
		from.Originals = ""
	default:
		if err := os.MkdirAll(paths.Skills, 0o755); err != nil {
			return true, fmt.Errorf("make the directory for skills: %w", err)
		}
		if err := paths.EnsureState(); err != nil {
			return true, err
		}
	}
	directory, err := from.Copy(name)
	if err == nil {
		_, err = fmt.Fprintln(w.out, directory)
	}
	return true, err
}
