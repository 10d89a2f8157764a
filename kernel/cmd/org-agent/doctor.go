package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	channels "org-agent/kernel/channel/drivers"
	"org-agent/kernel/daemon"
	"org-agent/kernel/doctor"
	"org-agent/kernel/llm/drivers"
	"org-agent/kernel/sandbox"
)

// doctorCommand is "org-agent doctor". It needs no kernel.
type doctorCommand struct {
	Fix  bool     `help:"Repair what can be repaired, and check again."`
	Only []string `help:"Run only these checks." placeholder:"CHECK"`
	JSON bool     `help:"Print JSON, one finding a line."`
}

func (c *doctorCommand) Run(ctx context.Context, proc *process) error {
	for _, name := range c.Only {
		if !slices.Contains(doctor.Names(), name) {
			return usagef("there is no check %q: use %s", name, strings.Join(doctor.Names(), ", "))
		}
	}
	found, err := c.examine(ctx, proc)
	if err != nil {
		return err
	}
	for _, f := range found {
		if err := c.print(proc, f); err != nil {
			return err
		}
	}
	if doctor.Worst(found) == doctor.Fail {
		return exit{1, nil}
	}
	return nil
}

func (c *doctorCommand) examine(ctx context.Context, proc *process) ([]doctor.Finding, error) {
	paths, err := proc.paths()
	if err != nil {
		return []doctor.Finding{{Check: "home", State: doctor.Fail, Text: err.Error()}}, nil
	}
	checked := doctor.Config{
		Paths: paths, Drivers: drivers.All(), Tools: daemon.ToolNames(), Env: proc.env, Version: version, Sandbox: sandbox.Probe,
		Specs: builtInSpecs, Channels: channels.All().Check,
		Grants: proc.instance(paths).GrantsWith,
	}
	var check atomic.Value
	check.Store("")
	checked.Begins = func(name string) { check.Store(name) }
	waiting := newWaiting(proc.stderr)
	defer waiting.end()
	waiting.during(func() string { return "checking: " + check.Load().(string) })
	if c.Fix {
		return doctor.Mend(ctx, checked, c.Only...), nil
	}
	return doctor.Examine(ctx, checked, c.Only...), nil
}

func (c *doctorCommand) print(proc *process, f doctor.Finding) error {
	if c.JSON {
		return proc.printJSON(f)
	}
	word := strings.ToUpper(string(f.State))
	if f.Mended {
		word = "DONE"
	}
	text := fmt.Sprintf("%-5s %-8s %s\n", word, f.Check, f.Text)
	if f.Advice != "" && !f.Mended {
		text += fmt.Sprintf("%15s%s\n", "", f.Advice)
	}
	switch {
	case f.Mended:
		text += fmt.Sprintf("%15smended: %s\n", "", f.Mend)
	case f.Failure != "":
		text += fmt.Sprintf("%15snot mended: %s\n", "", f.Failure)
	case f.Mend != "":
		text += fmt.Sprintf("%15sorg-agent doctor --fix --only %s: %s\n", "", f.Check, f.Mend)
	}
	_, err := fmt.Fprint(proc.stdout, text)
	return err
}
