package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// statusCommand is "org-agent status".
type statusCommand struct {
	JSON bool `help:"Print JSON."`
}

// statusTimeout is how long a kernel may take to answer. It is short because the doctor, and not the
// status, finds out why a kernel hangs.
const statusTimeout = 10 * time.Second

func (c *statusCommand) Run(ctx context.Context, proc *process) error {
	s, err := proc.status(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return proc.printJSON(s)
	}
	return printStatus(proc.stdout, s)
}

// status asks the kernel for its status.
func (proc *process) status(ctx context.Context) (s protocol.StatusResult, err error) {
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	conn, err := proc.connect(ctx, connection{})
	if err != nil {
		return s, noAnswerError(ctx, err)
	}
	defer conn.Close()
	if err := conn.Call(ctx, protocol.MethodStatus, protocol.Empty{}, &s); err != nil {
		return s, noAnswerError(ctx, err)
	}
	return s, nil
}

// noAnswerError returns the error for a kernel that does not answer.
func noAnswerError(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return fmt.Errorf("the kernel does not answer within %s; \"org-agent doctor\" looks for the reason: %w", statusTimeout, err)
}

// statusText collects the lines of a status.
type statusText struct{ strings.Builder }

// line adds a value.
func (b *statusText) line(name string, value any) { fmt.Fprintf(b, "%-10s%v\n", name, value) }

// element adds an element of the list above.
func (b *statusText) element(format string, words ...any) { fmt.Fprintf(b, "  "+format+"\n", words...) }

// printStatus prints one line for each value, and the elements of a list below its line.
func printStatus(out io.Writer, s protocol.StatusResult) error {
	var b statusText
	b.line("version", s.Version)
	b.line("pid", s.PID)
	b.line("home", s.Home)
	b.line("socket", s.Socket)
	b.line("started", fmt.Sprintf("%s, %s ago", localTime(s.Started), time.Duration(s.Seconds)*time.Second))
	b.line("memory", fmt.Sprintf("%d MB", s.Memory>>20))
	b.settings(s)
	for _, fault := range s.Faults {
		b.line("fault", fault)
	}
	b.line("skills", s.Skills)
	b.line("faulty", s.Faulty)
	b.activity(s)
	journal := fmt.Sprintf("%s, %d kB", s.Journal, s.JournalSize>>10)
	if s.Unindexed > 0 {
		journal += fmt.Sprintf(", %d %% is not in the search index yet", s.Unindexed)
	}
	b.line("journal", journal)
	b.line("log", s.Log)
	_, err := io.WriteString(out, b.String())
	return err
}

// settings adds the models, the presets, the MCP servers and whether the safety rules apply.
func (b *statusText) settings(s protocol.StatusResult) {
	b.line("model", s.Model)
	for _, m := range s.Models {
		state := string(m.State)
		if m.At != "" {
			state += ", " + localTime(m.At)
		}
		if m.Fault != "" {
			state += ": " + text.Line(m.Fault)
		}
		b.element("%s: %s", m.Name, state)
	}
	if len(s.Presets) > 0 {
		b.line("presets", presetsLine(s.Presets))
	}
	for _, p := range s.Presets {
		if p.Fault != "" {
			b.element("%s: %s", p.Name, text.Line(p.Fault))
		}
	}
	if len(s.MCP) > 0 {
		b.line("mcp", text.Count(len(s.MCP), "server"))
	}
	for _, server := range s.MCP {
		b.element("%s: %s", server.Name, mcpLine(server))
	}
	if s.WithoutSafety {
		b.line("safety", "the prompts contain no safety rules: the kernel was started with --without-safety")
	}
}

// activity adds the clients, the conversations and their turns.
func (b *statusText) activity(s protocol.StatusResult) {
	b.line("clients", s.Clients)
	for _, c := range s.Connected {
		b.element("%s", text.Line(c.Name+" "+c.Version+" "+c.ID))
	}
	b.line("sessions", s.Sessions)
	for _, c := range s.Conversations {
		state := fmt.Sprintf("%d queued", c.Queued)
		if c.Running != "" {
			state += ", running " + c.Running
		}
		b.element("%s: %s", c.Name, state)
	}
	b.line("running", s.Running)
	b.line("queued", s.Queued)
	b.line("waiting", s.Waiting)
}

// presetsLine lists the usable presets.
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
