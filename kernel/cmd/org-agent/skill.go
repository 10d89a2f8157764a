package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"org-agent/kernel/hook"
	"org-agent/kernel/notetool"
	"org-agent/kernel/skill"
	"org-agent/kernel/skillmd"
	"org-agent/skills"
)

// skillCommands is "org-agent skill".
type skillCommands struct {
	Check skillCheck `cmd:"" help:"Print the faults of notes, as FILE:LINE:COLUMN: error: MESSAGE."`
	Test  skillTest  `cmd:"" help:"Run the tests of notes and print PASS, FAIL or NONE for each success criterion."`
	List  skillList  `cmd:"" help:"List the notes and their state."`
	Grant skillGrant `cmd:"" help:"Grant a note what it asks for in #+CAPABILITIES, after showing it in plain words."`
	New   skillNew   `cmd:"" help:"Create a skill in the home: a note that passes its own tests."`
	Copy  skillCopy  `cmd:"" help:"Copy a shipped note into the home's skills, so that you can change it."`
}

// skillCheck is "org-agent skill check".
type skillCheck struct {
	Paths []string `arg:"" optional:"" help:"Notes or directories (default: the home's skills)." name:"path"`
	JSON  bool     `help:"Print JSON, one diagnostic a line."`
}

func (c *skillCheck) Run(ctx context.Context, proc *process) error {
	notes, err := notesAt(proc, c.Paths)
	if err != nil {
		return err
	}
	paths, err := proc.paths()
	if err != nil {
		return err
	}
	config, err := proc.notes(paths.Skills)
	if err != nil {
		return err
	}
	faulty := 0
	for _, s := range skill.CheckFiles(ctx, config, notes) {
		for _, d := range s.Diagnostics {
			if c.JSON {
				err = proc.printJSON(d)
			} else {
				_, err = fmt.Fprintln(proc.stdout, d)
			}
			if err != nil {
				return err
			}
		}
		if s.State != skill.Live {
			faulty++
		}
	}
	prompts, err := promptsAt(proc, c.Paths)
	if err != nil {
		return err
	}
	unusable, err := c.checkPrompts(proc, prompts)
	if err != nil {
		return err
	}
	var faults []string
	if faulty > 0 {
		faults = append(faults, fmt.Sprintf("%d of %d notes would not be live", faulty, len(notes)))
	}
	if unusable > 0 {
		faults = append(faults, fmt.Sprintf("%d of %d skills cannot be used", unusable, len(prompts)))
	}
	if faults != nil {
		return errors.New(strings.Join(faults, ", "))
	}
	return nil
}

// notesAt returns the notes at the given paths, in order; without paths, those of the home.
func notesAt(proc *process, roots []string) ([]string, error) {
	if len(roots) == 0 {
		paths, err := proc.paths()
		if err != nil {
			return nil, err
		}
		if _, err := os.Stat(paths.Skills); errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		roots = []string{paths.Skills}
	}
	var notes []string
	for _, root := range roots {
		info, err := os.Stat(root)
		if err != nil {
			return nil, fmt.Errorf("find the notes: %w", err)
		}
		if !info.IsDir() {
			if filepath.Base(root) != skillmd.FileName {
				notes = append(notes, root)
			}
			continue
		}
		found, err := skill.List(root)
		if err != nil {
			return nil, err
		}
		notes = append(notes, found...)
	}
	return notes, nil
}

// skillList is "org-agent skill list".
type skillList struct {
	Paths []string `arg:"" optional:"" help:"Directories of notes (default: the home's)." name:"path"`
	JSON  bool     `help:"Print JSON."`
}

func (c *skillList) Run(ctx context.Context, proc *process) error {
	paths, err := proc.paths()
	if err != nil {
		return err
	}
	home := paths.Skills
	if len(c.Paths) > 0 {
		home = c.Paths[0]
	}
	config, err := proc.notes(home)
	if err != nil {
		return err
	}
	registry := skill.New(config)
	statuses := registry.Load(ctx)
	prompts := proc.promptSkills(ctx, paths, home, statuses).Statuses()
	diagnostics := io.Writer(proc.stdout)
	if c.JSON {
		diagnostics = proc.stderr
	}
	for _, d := range config.Grants.Diagnostics() {
		fmt.Fprintln(diagnostics, d)
	}
	if c.JSON {
		return proc.printJSON(skillsAsJSON(statuses, prompts))
	}
	tools, err := proc.tools(ctx, paths)
	if err != nil {
		return err
	}
	tools = tools.WithForeign(notetool.Live(registry.Current, nil))
	known := kindsWith(registry.Current().Actions())
	for _, s := range statuses {
		c.printNote(proc.stdout, s, func(h *skill.Hook) string { return hook.UnknownTool(h, tools, known) })
	}
	proc.listPrompts(prompts)
	return nil
}

// printNote prints a note in a line, and below it what it defines and what is wrong with it. unknown returns why a hook
// is never called, "" if it may be.
func (c *skillList) printNote(out io.Writer, s skill.Status, unknown func(*skill.Hook) string) {
	fmt.Fprintf(out, "%-20s %-10s %4d  %s  %s\n", cmp.Or(s.Skill, "-"), s.State, s.Priority, skill.ShownFile(s.File), s.Title)
	below := func(format string, words ...any) { fmt.Fprintf(out, "    "+format+"\n", words...) }
	for _, c := range s.Commands {
		below("/%s: %s", c.Name, c.Description)
	}
	for _, a := range s.Actions {
		below("action %s: %s", a.Key, a.Does)
	}
	for _, t := range s.Tools {
		below("tool %s: %s", t.Name, t.Does)
	}
	for _, h := range s.Hooks {
		below("hook %s at %s, line %d", h.Name, h.On(), h.Line)
		if why := unknown(h); why != "" {
			below("%s:%d: warning: it is never called: %s", skill.ShownFile(h.File), h.Line, why)
		}
	}
	if line := capabilityLine(s); line != "" {
		below("%s", line)
	}
	for _, d := range s.Diagnostics {
		below("%s", d)
	}
}

// skillCopy is "org-agent skill copy".
type skillCopy struct {
	Name    string `arg:"" help:"The shipped note, by its file's name without .org, or the shipped directory."`
	To      string `help:"Write a directory below DIR instead, to compare it with your copy." placeholder:"DIR"`
	Settled bool   `help:"Copy nothing, and record that you have dealt with the changes of the shipped directory since your copy."`
}

func (c *skillCopy) Run(proc *process) error {
	if done, err := c.copyDirectory(proc); done {
		return err
	}
	name := strings.TrimSuffix(c.Name, ".org")
	source, err := fs.ReadFile(skills.Notes(), name+".org")
	if err != nil {
		return fmt.Errorf("no shipped note or skill is named %s; \"org-agent skill list\" shows them", name)
	}
	return proc.writeNote(name, source)
}

// skillNew is "org-agent skill new".
type skillNew struct {
	Name string `arg:"" help:"The skill's name: lower-case letters, digits and hyphens."`
}

func (c *skillNew) Run(proc *process) error {
	source, err := skill.Template(c.Name)
	if err != nil {
		return usagef("%w", err)
	}
	return proc.writeNote(c.Name, source)
}

// writeNote adds a new note to the home's skills and prints its path. It returns an error if the note
// exists.
func (proc *process) writeNote(name string, source []byte) error {
	paths, err := proc.paths()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(paths.Skills, 0o755); err != nil {
		return fmt.Errorf("make the directory for skills: %w", err)
	}
	path := filepath.Join(paths.Skills, name+".org")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s already exists and was not changed", path)
	}
	if err != nil {
		return fmt.Errorf("write the note: %w", err)
	}
	_, err = f.Write(source)
	if err := errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write the note: %w", err)
	}
	_, err = fmt.Fprintln(proc.stdout, path)
	return err
}
