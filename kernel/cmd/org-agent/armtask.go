package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// scheduleArmCommand is "org-agent schedule arm".
type scheduleArmCommand struct {
	Task string `arg:"" help:"The task's title or its :ID:."`
	Yes  bool   `help:"Arm it without asking."`
}

func (c *scheduleArmCommand) Run(ctx context.Context, proc *process) error {
	t, err := proc.otherTask(ctx, c.Task)
	if err != nil {
		return err
	}
	showTask(proc.stderr, t)
	if !c.Yes {
		fmt.Fprint(proc.stderr, "\nhave this done at its times? [y/N] ")
		answer, _ := bufio.NewReader(proc.stdin).ReadString('\n')
		if a := strings.ToLower(strings.TrimSpace(answer)); a != "y" && a != "yes" {
			return fmt.Errorf("it is not armed")
		}
	}
	return proc.arm(ctx, protocol.ScheduleArmParams{Hash: t.Hash}, "armed")
}

// showTask shows all of what a task would do, and when.
func showTask(out io.Writer, t protocol.ScheduledTask) {
	fmt.Fprintf(out, "%s:%d, %s\n%s", t.File, t.Line, t.When, indented(text.Shown(t.Text)))
	for _, at := range t.Times {
		fmt.Fprintf(out, "  at: %s\n", at)
	}
}

// scheduleDisarmCommand is "org-agent schedule disarm".
type scheduleDisarmCommand struct {
	Task string `arg:"" help:"The task's title or its :ID:."`
}

func (c *scheduleDisarmCommand) Run(ctx context.Context, proc *process) error {
	t, err := proc.otherTask(ctx, c.Task)
	if err != nil {
		return err
	}
	return proc.arm(ctx, protocol.ScheduleArmParams{Hash: t.Hash, Disarm: true}, "not armed")
}

// otherTask returns the task outside of tasks.org with a title, an ID or a hash.
func (p *process) otherTask(ctx context.Context, name string) (t protocol.ScheduledTask, err error) {
	const shown = 5
	var result protocol.ScheduleListResult
	if err := p.call(ctx, protocol.MethodScheduleList, protocol.ScheduleListParams{Task: name, Times: shown, Text: true}, &result); err != nil {
		return t, err
	}
	if len(result.Tasks) > 1 {
		for _, t := range result.Tasks {
			fmt.Fprintf(p.stderr, "%s:%d: %s\n", t.File, t.Line, t.Hash)
		}
		return t, fmt.Errorf("%d tasks are called %q: name the hash of one", len(result.Tasks), name)
	}
	return result.Tasks[0], nil
}

// arm arms or disarms a task, and prints what it is then.
func (p *process) arm(ctx context.Context, params protocol.ScheduleArmParams, done string) error {
	var t protocol.ScheduledTask
	if err := p.call(ctx, protocol.MethodScheduleArm, params, &t); err != nil {
		return err
	}
	if t.Next == "" || params.Disarm {
		_, err := fmt.Fprintf(p.stdout, "%s: %s\n", t.Title, done)
		return err
	}
	_, err := fmt.Fprintf(p.stdout, "%s: %s, next at %s\n", t.Title, done, t.Times[0])
	return err
}
