package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
	"time"

	"org-agent/kernel/protocol"
	"org-agent/kernel/text"
)

// statusCommand is "org-agent status".
type statusCommand struct {
	JSON    bool   `help:"Print JSON."`
	Profile string `help:"Write a profile of the kernel to standard output, for \"go tool pprof\": cpu, heap, allocs, goroutine, threadcreate, block or mutex; trace is for \"go tool trace\", and stacks for people." placeholder:"KIND"`
	Seconds int    `help:"How long to measure cpu, block, mutex and trace; 10 by default." placeholder:"N"`
}

// statusTimeout is how long a kernel may take to answer. It is short because the doctor, and not the
// status, finds out why a kernel hangs.
const statusTimeout = 10 * time.Second

func (c *statusCommand) Run(ctx context.Context, proc *process) error {
	if c.Profile != "" {
		return c.profile(ctx, proc)
	}
	s, err := proc.status(ctx)
	if err != nil {
		return err
	}
	if c.JSON {
		return proc.printJSON(s)
	}
	return printStatus(proc.stdout, s)
}

// profile writes a profile of the kernel.
func (c *statusCommand) profile(ctx context.Context, proc *process) error {
	if c.Profile != "stacks" && terminal(proc.stdout.to) {
		return usagef("a profile is for programs: send it to a file with >")
	}
	conn, err := proc.connect(ctx, connection{})
	if err != nil {
		return err
	}
	defer conn.Close()
	var profile protocol.ProfileResult
	if err := conn.Call(ctx, protocol.MethodProfile, protocol.ProfileParams{Kind: c.Profile, Seconds: c.Seconds}, &profile); err != nil {
		return err
	}
	data, err := base64.StdEncoding.DecodeString(profile.Data)
	if err != nil {
		return fmt.Errorf("read the profile: %w", err)
	}
	_, err = proc.stdout.Write(data)
	return err
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
	if s.ArchiveSize > 0 {
		journal += fmt.Sprintf(", and %d kB of old requests beside it", s.ArchiveSize>>10)
	}
	if s.Unindexed > 0 {
		journal += fmt.Sprintf(", %d %% is not in the search index yet", s.Unindexed)
	}
	b.line("journal", journal)
	b.line("log", s.Log)
	b.runtime(s.Runtime)
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

// runtime adds what the process uses, what waits in it, and how fast the disk is.
func (b *statusText) runtime(r *protocol.RuntimeStatus) {
	if r == nil {
		return // an older kernel
	}
	open := ""
	if r.Descriptors > 0 {
		open = fmt.Sprintf(", %d of %s", r.Descriptors, text.Count(r.DescriptorLimit, "open file"))
	}
	b.line("process", fmt.Sprintf("%s%s, %d MB of heap", text.Count(r.Goroutines, "goroutine"), open, r.Heap>>20))
	b.line("unwritten", fmt.Sprintf("%s of the journal, %s to clients (%d kB)", text.Count(r.WaitingRows, "row"), text.Count(r.WaitingMessages, "message"), r.WaitingBytes>>10))
	disk := "nothing was stored yet"
	if r.Flushes > 0 {
		took := func(microseconds int64) time.Duration {
			return (time.Duration(microseconds) * time.Microsecond).Round(10 * time.Microsecond)
		}
		disk = fmt.Sprintf("it took messages %s; half of them within %s, 99 %% within %s, the slowest in %s", text.Count(r.Flushes, "time"), took(r.FlushMedian), took(r.FlushP99), took(r.FlushMax))
	}
	b.line("disk", disk)
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
