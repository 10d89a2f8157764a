package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"org-agent/kernel/protocol"
)

// eventCommand is "org-agent event".
type eventCommand struct {
	Sensor  string   `arg:"" help:"What made the event, such as rain; interrupt stops the running turn of the conversation."`
	Text    string   `arg:"" optional:"" help:"The :text of the event."`
	Session string   `help:"The conversation that the event belongs to." default:"main"`
	With    []string `help:"A field of the event, for the trigger and the functions of skills." placeholder:"NAME=VALUE" sep:"none"`
	ID      string   `help:"The event's id. An event with the id of an earlier one is taken once."`
	DryRun  bool     `name:"dry-run" help:"Only print which skills it would wake, and why others not."`
}

// Run reports the event. A message is not one: "org-agent chat" sends those.
func (c *eventCommand) Run(ctx context.Context, proc *process) error {
	sensor := protocol.Sensor(strings.ToLower(strings.TrimPrefix(c.Sensor, ":")))
	if sensor == protocol.SensorChatMessage || sensor == protocol.SensorUserCommand {
		return usagef("a :%s is what a person writes: send it with \"org-agent chat\"", sensor)
	}
	event := protocol.Object{{Key: "sensor", Value: protocol.Keyword(sensor)}, {Key: "session", Value: c.Session}}
	if c.Text != "" {
		event.Set("text", c.Text)
	}
	if c.ID != "" {
		event.Set("id", c.ID)
	}
	for _, field := range c.With {
		name, value, ok := strings.Cut(field, "=")
		if name = strings.ToLower(strings.TrimPrefix(name, ":")); !ok || name == "" {
			return usagef("--with %s has no name and value: write NAME=VALUE", field)
		}
		if slices.Contains([]string{"sensor", "session", "text", "id"}, name) {
			return usagef("--with %s: the %s of an event is an argument of its own", field, name)
		}
		event.Set(name, value)
	}
	if c.DryRun {
		return c.check(ctx, proc, event)
	}
	var result protocol.EventResult
	if err := proc.call(ctx, protocol.MethodEvent, event, &result); err != nil {
		return err
	}
	switch {
	case result.Turn != "" && sensor == protocol.SensorInterrupt:
		fmt.Fprintf(proc.stdout, "stopped the turn %s\n", result.Turn)
	case result.Turn != "":
		fmt.Fprintf(proc.stdout, "taken, turn %s\n", result.Turn)
	case sensor == protocol.SensorInterrupt:
		fmt.Fprintf(proc.stdout, "nothing runs in %s\n", c.Session)
	case result.Waits:
		fmt.Fprintln(proc.stdout, "waits for the heartbeat")
	default:
		return c.notTaken(ctx, proc, event)
	}
	return nil
}

// notTaken says why no skill takes the event.
func (c *eventCommand) notTaken(ctx context.Context, proc *process, event protocol.Object) error {
	var result protocol.EventCheckResult
	if err := proc.call(ctx, protocol.MethodEventCheck, event, &result); err != nil {
		return err
	}
	for _, s := range result.Skills {
		if s.Refused != "" {
			return fmt.Errorf("%s does not run: %s", s.Name, s.Refused)
		}
	}
	return fmt.Errorf("no skill triggers on :%s with that; \"org-agent skill list\" shows the skills", event.Text("sensor"))
}

// check prints what the event would lead to.
func (c *eventCommand) check(ctx context.Context, proc *process, event protocol.Object) error {
	var result protocol.EventCheckResult
	if err := proc.call(ctx, protocol.MethodEventCheck, event, &result); err != nil {
		return err
	}
	for _, s := range result.Skills {
		if s.Refused != "" {
			fmt.Fprintf(proc.stdout, "%s would not run: %s\n", s.Name, s.Refused)
		} else {
			fmt.Fprintf(proc.stdout, "%s would run, in the conversation %s\n", s.Name, s.Session)
		}
	}
	if result.Waits {
		fmt.Fprintln(proc.stdout, "it would wait for the heartbeat")
	} else if len(result.Skills) == 0 {
		return fmt.Errorf("no skill triggers on :%s with that; \"org-agent skill list\" shows the skills", event.Text("sensor"))
	}
	return nil
}
