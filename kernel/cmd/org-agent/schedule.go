package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// scheduleCommands are "org-agent schedule".
type scheduleCommands struct {
	List   scheduleListCommand   `cmd:"" help:"List the tasks and when each is due, as an Org table."`
	Next   scheduleNextCommand   `cmd:"" help:"Print the next times of a task."`
	Run    scheduleRunCommand    `cmd:"" help:"Have a task done now. What is planned stays planned."`
	Arm    scheduleArmCommand    `cmd:"" help:"Show a task that is outside of tasks.org, and have it done at its times."`
	Disarm scheduleDisarmCommand `cmd:"" help:"Have a task that was armed not done any more."`
}

// scheduleListCommand is "org-agent schedule list".
type scheduleListCommand struct {
	JSON bool `help:"Print JSON."`
}

func (c *scheduleListCommand) Run(ctx context.Context, proc *process) error {
	var result protocol.ScheduleListResult
	if err := proc.call(ctx, protocol.MethodScheduleList, protocol.ScheduleListParams{}, &result); err != nil {
		return err
	}
	if c.JSON {
		return proc.printJSON(result)
	}
	if len(result.Tasks) == 0 {
		fmt.Fprintln(proc.stderr, "org-agent: no task is planned; a heading of tasks.org with a timestamp or a rule of cron is one")
		return proc.printFaults(result.Faults)
	}
	var b strings.Builder
	others := slices.ContainsFunc(result.Tasks, func(t protocol.ScheduledTask) bool { return t.Other })
	b.WriteString("| next | task | when | state | runs |" + inColumn("file", others) + "\n|-\n")
	for _, t := range result.Tasks {
		next := "never"
		if at, err := time.Parse(time.RFC3339, t.Next); err == nil {
			next = at.Local().Format("2006-01-02 Mon 15:04")
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |%s\n", next, cell(t.Title), cell(t.When), cell(strings.TrimSuffix(t.State+": "+t.Note, ": ")), runs(t), inColumn(cell(t.File), others))
	}
	fmt.Fprint(proc.stdout, b.String())
	return proc.printFaults(result.Faults)
}

// inColumn returns a cell of the last column, and "" if there is none.
func inColumn(cell string, there bool) string {
	if !there {
		return ""
	}
	return " " + cell + " |"
}

// runs returns how often a task was done, and how often it is to be.
func runs(t protocol.ScheduledTask) string {
	if t.MaxRuns == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d", t.Runs, t.MaxRuns)
}

// printFaults prints what is wrong with the tasks. It is an error that there are such faults.
func (proc *process) printFaults(faults []string) error {
	failed := 0
	for _, fault := range faults {
		fmt.Fprintln(proc.stderr, fault)
		if strings.Contains(fault, ": error: ") {
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%s cannot be done as written: see above", text.Count(failed, "task"))
	}
	return nil
}

// scheduleNextCommand is "org-agent schedule next".
type scheduleNextCommand struct {
	Task  string `arg:"" help:"The task's title or its :ID:."`
	Count int    `short:"n" help:"How many times." default:"5"`
	JSON  bool   `help:"Print JSON."`
}

func (c *scheduleNextCommand) Run(ctx context.Context, proc *process) error {
	if c.Count < 1 {
		return usagef("-n is how many times are printed, 1 or more")
	}
	var result protocol.ScheduleListResult
	if err := proc.call(ctx, protocol.MethodScheduleList, protocol.ScheduleListParams{Task: c.Task, Times: c.Count}, &result); err != nil {
		return err
	}
	if c.JSON {
		return proc.printJSON(result.Tasks)
	}
	for _, t := range result.Tasks {
		for _, at := range t.Times {
			fmt.Fprintln(proc.stdout, at)
		}
		if len(t.Times) == 0 {
			fmt.Fprintf(proc.stderr, "%s is not due any more: it is %s\n", t.Title, t.State)
		}
	}
	return nil
}

// scheduleRunCommand is "org-agent schedule run".
type scheduleRunCommand struct {
	Task string `arg:"" help:"The task's title or its :ID:."`
}

func (c *scheduleRunCommand) Run(ctx context.Context, proc *process) error {
	var result protocol.ScheduleRunResult
	if err := proc.call(ctx, protocol.MethodScheduleRun, protocol.ScheduleRunParams{Task: c.Task}, &result); err != nil {
		return err
	}
	_, err := fmt.Fprintf(proc.stdout, "begun in the conversation %q\n", result.Session)
	return err
}
