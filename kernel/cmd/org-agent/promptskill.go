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
	"org-agent/kernel/daemon"
	"org-agent/kernel/policy"
	"org-agent/kernel/sandbox"
	"org-agent/kernel/skill"
	"org-agent/kernel/skillmd"
	"org-agent/kernel/tool"
	"org-agent/skills"
)

// promptsAt are the directories with a SKILL.md at the paths and directly below them; without
// paths those of the home.
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

// checkPrompts prints what is wrong with the skills in the directories, and returns how many
// would not count.
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
	c := daemon.PromptSkills(paths, w.env)
	c.Home = home
	c.Notes = func() map[string]string { return skillmd.NamesOf(notes) }
	r := skillmd.New(c)
	r.Load(ctx)
	return r
}

// tools are those that a kernel of this home would have. What they work with is read when
// it is wanted.
func (w *world) tools(ctx context.Context, paths config.Paths) (*tool.Registry, error) {
	settings, err := config.Load(paths)
	if err != nil {
		return nil, err
	}
	fence := sync.OnceValue(func() sandbox.Kind { kind, _ := sandbox.Look(ctx); return kind })
	return tool.BuiltIn(tool.World{Commands: daemon.Commands(paths, settings.Programs, w.env, fence, nil), Pages: daemon.Pages(settings, w.env, nil, nil), Search: daemon.SearchServer(settings.Search, w.env), Skills: sync.OnceValue(func() *skillmd.Set {
		notes := skill.New(skill.Config{Shipped: skills.Notes(), Home: paths.Skills})
		return w.promptSkills(ctx, paths, paths.Skills, notes.Load(ctx)).Current()
	}), Files: tool.Files{Home: paths.Home, Unread: policy.Unread(paths.Home, paths.State)}})
}

// listPrompts prints the prompt skills, with why those that do not count do not.
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

// printable is the name of a file for a terminal, on one line.
func printable(name string) string {
	return strings.Map(func(c rune) rune {
		if unicode.IsPrint(c) {
			return c
		}
		return '?'
	}, name)
}

// skillsAsJSON is the one list of notes and prompt skills; "kind" tells them apart.
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

// directory copies a shipped directory; done says that there is one, or that only one could
// have been meant.
func (c *skillCopy) directory(w *world) (done bool, err error) {
	paths, err := w.paths()
	if err != nil {
		return true, err
	}
	from := daemon.PromptSkills(paths, w.env)
	name := strings.TrimSuffix(c.Name, "/")
	switch {
	case !from.Ships(name) && (c.To != "" || c.Settled):
		return true, usagef("--to and --settled are for shipped directories, and none is named %s", c.Name)
	case !from.Ships(name):
		return false, nil
	case c.Settled:
		return true, from.Settle(name)
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
