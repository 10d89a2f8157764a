package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"org-agent/kernel/protocol"
)

// statusCommand is "org-agent status".
type statusCommand struct {
	JSON bool `help:"Print JSON."`
}

// statusPatience is how long a kernel has to answer: one that hangs is for the doctor.
const statusPatience = 10 * time.Second

func (c *statusCommand) Run(ctx context.Context, w *world) error {
	ctx, cancel := context.WithTimeout(ctx, statusPatience)
	defer cancel()
	conn, err := w.connect(ctx, connection{})
	if err != nil {
		return silent(ctx, err)
	}
	defer conn.Close()
	var s protocol.StatusResult
	if err := conn.Call(ctx, protocol.MethodStatus, protocol.Empty{}, &s); err != nil {
		return silent(ctx, err)
	}
	if c.JSON {
		return w.printJSON(s)
	}
	return printStatus(w.out, s)
}

// silent says what to do about a kernel that does not answer.
func silent(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("the kernel does not answer within %s; \"org-agent doctor\" looks why: %w", statusPatience, err)
}

// printStatus writes a line for each thing, those of which there are several below it.
func printStatus(out io.Writer, s protocol.StatusResult) error {
	var b strings.Builder
	line := func(name string, value any) { fmt.Fprintf(&b, "%-10s%v\n", name, value) }
	line("version", s.Version)
	line("pid", s.PID)
	line("home", s.Home)
	line("socket", s.Socket)
	line("started", fmt.Sprintf("%s, %s ago", s.Started, time.Duration(s.Seconds)*time.Second))
	line("memory", fmt.Sprintf("%d MB", s.Memory>>20))
	line("model", s.Model)
	for _, m := range s.Models {
		fmt.Fprintf(&b, "  %s: %s", m.Name, m.State)
		if m.At != "" {
			fmt.Fprintf(&b, ", %s", m.At)
		}
		if m.Fault != "" {
			fmt.Fprintf(&b, ": %s", strings.Join(strings.Fields(m.Fault), " "))
		}
		b.WriteString("\n")
	}
	line("skills", s.Skills)
	line("faulty", s.Faulty)
	line("clients", s.Clients)
	for _, c := range s.Connected {
		fmt.Fprintf(&b, "  %s\n", strings.Join(strings.Fields(c.Name+" "+c.Version+" "+c.ID), " "))
	}
	line("sessions", s.Sessions)
	for _, c := range s.Conversations {
		fmt.Fprintf(&b, "  %s: %d queued", c.Name, c.Queued)
		if c.Running != "" {
			fmt.Fprintf(&b, ", running %s", c.Running)
		}
		b.WriteString("\n")
	}
	line("running", s.Running)
	line("queued", s.Queued)
	line("waiting", s.Waiting)
	line("journal", fmt.Sprintf("%s, %d kB", s.Journal, s.JournalSize>>10))
	line("log", s.Log)
	_, err := io.WriteString(out, b.String())
	return err
}
