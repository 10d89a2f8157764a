package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"org-agent/kernel/lisp"
	"org-agent/kernel/lisp/lib"
	"org-agent/kernel/skill"
)

// lispCommand is "org-agent lisp".
type lispCommand struct {
	Note     string        `help:"Load a note first and evaluate in its package." placeholder:"FILE"`
	Dry      bool          `help:"Make ask-neuro return (:asked prompt . arguments) and ask no model."`
	Form     []string      `name:"eval" short:"e" help:"Evaluate this form." placeholder:"FORM" sep:"none"`
	Steps    int64         `help:"The maximum evaluation steps of one form." placeholder:"N"`
	Bytes    int64         `help:"The maximum bytes that one form may allocate." placeholder:"N"`
	Timeout  time.Duration `help:"The maximum time of one form (default: 10s)." placeholder:"D"`
	Describe string        `help:"Describe a name: an operator, a variable or a package." placeholder:"NAME"`
	Apropos  string        `help:"List the names that contain this text, or whose description does." placeholder:"TEXT"`
	Manual   bool          `help:"Print the manual page of the language as Org."`
	File     string        `arg:"" optional:"" help:"A file of forms, or - for standard input."`
}

func (c *lispCommand) Run(ctx context.Context, proc *process) error {
	if done, err := c.printManual(ctx, proc); done {
		return err
	}
	limits := lisp.Limits{Steps: c.Steps, Bytes: c.Bytes, Duration: c.Timeout}
	environment, err := c.environment(ctx, proc, limits)
	if err != nil {
		return err
	}
	evaluator := environment.For(nil)
	if c.Dry {
		evaluator = skill.DryRun(environment)
	}
	show := func(printed string) { fmt.Fprintln(proc.stdout, printed) }
	for _, form := range c.Form {
		if err := evaluator.Eval(ctx, form, "-e", 1, show); err != nil {
			return err
		}
	}
	switch {
	case c.File == "" && len(c.Form) > 0:
		return nil
	case c.File == "" || c.File == "-":
		source, err := proc.readInput()
		if err != nil {
			return err
		}
		return evaluator.Eval(ctx, source, "-", 1, show)
	}
	source, err := os.ReadFile(c.File)
	if err != nil {
		return fmt.Errorf("read the forms: %w", err)
	}
	return evaluator.Eval(ctx, string(source), c.File, 1, show)
}

// environment returns the note's package, or a fresh COMMON-LISP-USER.
func (c *lispCommand) environment(ctx context.Context, proc *process, limits lisp.Limits) (*lisp.Environment, error) {
	if c.Note == "" {
		language, err := lib.Language()
		if err != nil {
			return nil, err
		}
		return lisp.New(lisp.Config{Language: language, Limits: limits, Output: func(text string) { fmt.Fprint(proc.stderr, text) }})
	}
	note, err := loadNote(ctx, proc, c.Note, limits)
	if err != nil {
		return nil, err
	}
	return note.Environment(), nil
}

// loadNote loads the note at a path, which need not be in the home.
func loadNote(ctx context.Context, proc *process, path string, limits lisp.Limits) (*skill.Note, error) {
	source, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the note: %w", err)
	}
	options, err := proc.noteOptions()
	if err != nil {
		return nil, err
	}
	options.Limits = limits
	return skill.LoadNote(ctx, path, source, options)
}
