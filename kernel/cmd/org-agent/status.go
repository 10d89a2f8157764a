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
	s, err := w.status(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return w.printJSON(s)
	}
	return printStatus(w.out, s)
}

// status asks the kernel how it is; the error says what to do about one that does not answer.
func (w *world) status(ctx context.Context) (s protocol.StatusResult, err error) {
	ctx, cancel := context.WithTimeout(ctx, statusPatience)
	defer cancel()
	conn, err := w.connect(ctx, connection{})
	if err != nil {
		return s, silent(ctx, err)
	}
	defer conn.Close()
	if err := conn.Call(ctx, protocol.MethodStatus, protocol.Empty{}, &s); err != nil {
		return s, silent(ctx, err)
	}
	return s, nil
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
	line("started", fmt.Sprintf("%s, %s ago", localTime(s.Started), time.Duration(s.Seconds)*time.Second))
	line("memory", fmt.Sprintf("%d MB", s.Memory>>20))
	line("model", s.Model)
	for _, m := range s.Models {
		fmt.Fprintf(&b, "  %s: %s", m.Name, m.State)
		if m.At != "" {
			fmt.Fprintf(&b, ", %s", localTime(m.At))
		}
		if m.Fault != "" {
			fmt.Fprintf(&b, ": %s", strings.Join(strings.Fields(m.Fault), " "))
		}
		b.WriteString("\n")
	}
	if len(s.Presets) > 0 {
		line("presets", presetsLine(s.Presets))
	}
	for _, p := range s.Presets {
		if p.Fault != "" {
			fmt.Fprintf(&b, "  %s: %s\n", p.Name, strings.Join(strings.Fields(p.Fault), " "))
		}
	}
	if len(s.MCP) > 0 {
		line("mcp", fmt.Sprintf("%d servers", len(s.MCP)))
	}
	for _, server := range s.MCP {
		fmt.Fprintf(&b, "  %s: %s\n", server.Name, mcpLine(server))
	}
	if s.WithoutSafety {
		line("safety", "no model is told the rules of safety: the kernel was started with --without-safety")
	}
	for _, fault := range s.Faults {
		line("told", fault)
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
	journal := fmt.Sprintf("%s, %d kB", s.Journal, s.JournalSize>>10)
	if s.Unindexed > 0 {
		journal += fmt.Sprintf(", %d %% is not in the index of words yet", s.Unindexed)
	}
	line("journal", journal)
	line("log", s.Log)
	_, err := io.WriteString(out, b.String())
	return err
}

// presetsLine names the presets that can be had.
func presetsLine(all []protocol.PresetStatus) string {
	var names []string
	for _, p := range all {
		if p.Fault == "" {
			names = append(names, p.Name)
		}
	}
	if names == nil {
		return "none that can be used"
	}
	return strings.Join(names, ", ")
}
