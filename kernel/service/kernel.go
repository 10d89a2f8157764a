package service

import (
	"context"
	"log/slog"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/doctor"
	"org-agent/kernel/explain"
	"org-agent/kernel/journal"
	"org-agent/kernel/kind"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/skill"
)

// Kernel answers requests about the kernel itself: the faults of its instance, the trace of a turn,
// and shutdown.
type Kernel struct {
	// Doctor configures the doctor's checks.
	Doctor doctor.Config
	Traces TraceReader
	Kinds  func() *kind.Set
	Stop   func()
	Logger *slog.Logger
}

// TraceReader reads the trace of the turn to which an id belongs.
type TraceReader interface {
	Read(ctx context.Context, id string) (explain.Trace, error)
}

// Methods returns the methods of this service.
func (k Kernel) Methods() []Method {
	return []Method{
		{protocol.MethodDoctor, For(k.doctor)},
		{protocol.MethodTraceGet, For(k.trace)},
		{protocol.MethodShutdown, For(k.shutdown)},
	}
}

// doctor returns the faults of this instance.
func (k Kernel) doctor(ctx context.Context, p protocol.DoctorParams) (protocol.DoctorResult, error) {
	var result protocol.DoctorResult
	for _, f := range doctor.Examine(ctx, k.Doctor, p.Only...) {
		result.Findings = append(result.Findings, protocol.DoctorFinding{
			Check: f.Check, State: protocol.Keyword(f.State), Text: f.Text, Advice: f.Advice, Mend: f.Mend})
	}
	return result, nil
}

// trace returns the trace of the turn to which an id belongs, as an outline.
func (k Kernel) trace(ctx context.Context, p protocol.TraceGetParams) (protocol.TraceGetResult, error) {
	t, err := k.Traces.Read(ctx, p.ID)
	if err != nil {
		return protocol.TraceGetResult{}, err
	}
	return protocol.TraceGetResult{
		ID: t.Named.ID, Kind: t.Named.Kind, Turn: t.Turn.ID, Event: t.Turn.Event, Session: t.Turn.Session,
		State: t.Turn.State, Outline: t.Outline(k.Kinds()),
	}, nil
}

func (k Kernel) shutdown(context.Context, protocol.Empty) (protocol.Empty, error) {
	k.Logger.Info("a client requested the shutdown")
	k.Stop()
	return protocol.Empty{}, nil
}

// Usage answers how much turns used.
type Usage struct {
	Turns UsageStore
	Steps ToolSteps
}

// UsageStore sums the usage of turns.
type UsageStore interface {
	Sum(ctx context.Context, by protocol.UsageBy, session string, since time.Time, east int) ([]protocol.Usage, error)
}

// Methods returns the methods of this service.
func (u Usage) Methods() []Method { return []Method{{protocol.MethodUsageGet, For(u.get)}} }

func (u Usage) get(ctx context.Context, p protocol.UsageGetParams) (protocol.UsageGetResult, error) {
	var result protocol.UsageGetResult
	by := p.By
	if by == "" {
		by = protocol.UsageByTurn
	}
	var since time.Time
	if p.Since != "" {
		var err error
		if since, err = time.Parse(time.RFC3339, p.Since); err != nil {
			return result, protocol.Errorf(protocol.CodeInvalidParams, ":since is an instant as 2026-11-22T08:00:00Z, not %q", p.Since)
		}
	}
	const day = 24 * 60 * 60
	if p.East < -day || p.East > day {
		return result, protocol.Errorf(protocol.CodeInvalidParams, ":east is a number of seconds, of a day at most")
	}
	if p.Session != "" && !protocol.ValidSession(p.Session) {
		return result, protocol.Errorf(protocol.CodeInvalidParams, "%q is not a valid session name", p.Session)
	}
	if by == protocol.UsageByTool {
		tools, err := toolUsage(ctx, u.Steps, p.Session, since)
		result.Tools = tools
		return result, err
	}
	rows, err := u.Turns.Sum(ctx, by, p.Session, since, p.East)
	result.Rows = rows
	return result, err
}

// Status answers with the state of the kernel.
type Status struct {
	// Fixed is the part that does not change while the kernel runs. Started is when it began.
	Fixed   protocol.StatusResult
	Started time.Time
	Paths   config.Paths

	Asks      AskCounter
	Index     IndexProgress
	Size      func() int64 // of the journal, in bytes
	Archive   func() int64 // of its archive, in bytes
	Sessions  StatusSessions
	Subagents Subagents
	Skills    *skill.Registry
	Clients   func() []protocol.ClientStatus // the connected clients; the one that a person used last stands last
	Model     func() string                  // the name of the first model
	Models    func() []protocol.ModelStatus
	MCP       func() []protocol.MCPServer
	Faults    func() []string
	Settings  func() config.Settings // from the current config.org
	Runtime   Runtime
}

// AskCounter counts what waits for a person.
type AskCounter interface {
	Waiting(ctx context.Context) (int, error)
}

// IndexProgress returns what of the journal is not indexed yet.
type IndexProgress interface {
	Unindexed(ctx context.Context) (journal.Unindexed, error)
}

// StatusSessions counts conversations and turns, and returns the conversations that are being
// answered.
type StatusSessions interface {
	Counts() (open, running, queued int)
	BusySessions() []protocol.ConversationStatus
}

// Methods returns the methods of this service.
func (s Status) Methods() []Method { return []Method{{protocol.MethodStatus, ForClient(s.get)}} }

// get answers a client without a token too. Such an answer contains no secret, no text, and no name
// of a conversation or a client.
func (s Status) get(ctx context.Context, client *rpc.Client, _ protocol.Empty) (protocol.StatusResult, error) {
	status := s.Fixed
	status.Model = s.Model()
	var err error
	status.Waiting, err = s.Asks.Waiting(ctx)
	status.Sessions, status.Running, status.Queued = s.Sessions.Counts()
	status.Skills = len(s.Skills.Current().Skills())
	clients := s.Clients()
	status.Clients = len(clients)
	if err != nil || !client.Introduced() {
		return status, err
	}
	unindexed, err := s.Index.Unindexed(ctx)
	if err != nil {
		return status, err
	}
	status.Unindexed = unindexed.Percent()
	status.Seconds = int(time.Since(s.Started).Seconds())
	status.Memory = resident()
	status.Log, status.Journal, status.JournalSize = s.Paths.Log, s.Paths.Journal, s.Size()
	if s.Archive != nil {
		status.ArchiveSize = s.Archive()
	}
	for _, note := range s.Skills.Statuses() {
		if note.State == skill.Failed || note.State == skill.Duplicate {
			status.Faulty++
		}
	}
	status.Models, status.MCP, status.Faults = s.Models(), s.MCP(), s.Faults()
	status.Presets = presetStatuses(s.Settings())
	status.Connected = clients
	status.Conversations = s.Sessions.BusySessions()
	subagents, err := s.Subagents.List(ctx, "")
	status.Conversations = withParents(status.Conversations, subagents)
	status.Runtime = s.Runtime.status()
	return status, err
}

// presetStatuses returns the usable presets, and the faults of the others.
func presetStatuses(settings config.Settings) []protocol.PresetStatus {
	var all []protocol.PresetStatus
	for _, p := range settings.Presets {
		all = append(all, protocol.PresetStatus{Name: p.Name})
	}
	for _, f := range settings.FaultyPresets() {
		all = append(all, protocol.PresetStatus{Name: f.Name, Fault: f.Fault.String()})
	}
	return all
}

// resident returns the memory of the process in bytes, as the system counts it, or else the memory
// that the program allocated.
func resident() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if fields := strings.Fields(string(text)); err == nil && len(fields) > 1 {
		if pages, err := strconv.ParseInt(fields[1], 10, 64); err == nil {
			return pages * int64(os.Getpagesize())
		}
	}
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.Sys)
}
