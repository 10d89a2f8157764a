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
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/skill"
)

// Kernel answers what is asked of the kernel itself: what is wrong with its instance, why a
// turn went as it did, and to end.
type Kernel struct {
	// Doctor is what the doctor looks at.
	Doctor  doctor.Config
	Journal *journal.Journal
	Kinds   explain.Kinds
	Stop    func()
	Logger  *slog.Logger
}

// Methods lists what is answered.
func (k Kernel) Methods() []Method {
	return []Method{
		{protocol.MethodDoctor, For(k.doctor)},
		{protocol.MethodTraceGet, For(k.trace)},
		{protocol.MethodShutdown, For(k.shutdown)},
	}
}

// doctor tells what is wrong with this instance.
func (k Kernel) doctor(ctx context.Context, p protocol.DoctorParams) (protocol.DoctorResult, error) {
	var result protocol.DoctorResult
	for _, f := range doctor.Examine(ctx, k.Doctor, p.Only...) {
		result.Findings = append(result.Findings, protocol.DoctorFinding{
			Check: f.Check, State: protocol.Keyword(f.State), Text: f.Text, Advice: f.Advice, Mend: f.Mend})
	}
	return result, nil
}

// trace tells why: the story of the turn that an id belongs to.
func (k Kernel) trace(ctx context.Context, p protocol.TraceGetParams) (protocol.TraceGetResult, error) {
	t, err := explain.Read(ctx, k.Journal, p.ID)
	if err != nil {
		return protocol.TraceGetResult{}, err
	}
	return protocol.TraceGetResult{
		ID: t.Named.ID, Kind: t.Named.Kind, Turn: t.Turn.ID, Event: t.Turn.Event, Session: t.Turn.Session,
		State: t.Turn.State, Outline: t.Outline(k.Kinds),
	}, nil
}

func (k Kernel) shutdown(context.Context, protocol.Empty) (protocol.Empty, error) {
	k.Logger.Info("shutdown asked for by a client")
	k.Stop()
	return protocol.Empty{}, nil
}

// Usage answers what turns took.
type Usage struct {
	Turns UsageStore
	Tools ToolUsage
}

// UsageStore adds up what turns took.
type UsageStore interface {
	Usage(ctx context.Context, by protocol.UsageBy, session string, since time.Time, east int) ([]protocol.Usage, error)
}

// ToolUsage adds up what calls of tools took.
type ToolUsage interface {
	ToolUsage(ctx context.Context, session string, since time.Time) ([]protocol.ToolUsage, error)
}

// Methods lists what is answered.
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
		return result, protocol.Errorf(protocol.CodeInvalidParams, "the session name %q is not one", p.Session)
	}
	if by == protocol.UsageByTool {
		tools, err := u.Tools.ToolUsage(ctx, p.Session, since)
		result.Tools = tools
		return result, err
	}
	rows, err := u.Turns.Usage(ctx, by, p.Session, since, p.East)
	result.Rows = rows
	return result, err
}

// Status answers how the kernel is doing.
type Status struct {
	// Fixed is what stays as it is while the kernel runs; Started is when it began.
	Fixed   protocol.StatusResult
	Started time.Time
	Paths   config.Paths

	Journal   StatusStore
	Sessions  StatusSessions
	Subagents Subagents // nil: no work is handed on
	Skills    *skill.Registry
	Clients   func() []protocol.ClientStatus // who is connected, the one a person used last being the last
	Models    func() []protocol.ModelStatus
	MCP       func() []protocol.MCPServer
	Faults    func() []string
	Settings  func() config.Settings // as config.org stands
}

// StatusStore knows what waits, what has no index yet, and how large the journal is.
type StatusStore interface {
	Waiting(ctx context.Context) (int, error)
	Unindexed(ctx context.Context) (journal.Unindexed, error)
	Size() int64
}

// StatusSessions counts conversations and turns, and knows where something is answered.
type StatusSessions interface {
	Counts() (open, running, queued int)
	Busy() []protocol.ConversationStatus
}

// Methods lists what is answered.
func (s Status) Methods() []Method { return []Method{{protocol.MethodStatus, ForClient(s.get)}} }

// get answers without a token: then it holds no secret, no text, and no name of a conversation
// or a client.
func (s Status) get(ctx context.Context, client *rpc.Client, _ protocol.Empty) (protocol.StatusResult, error) {
	status := s.Fixed
	var err error
	status.Waiting, err = s.Journal.Waiting(ctx)
	status.Sessions, status.Running, status.Queued = s.Sessions.Counts()
	status.Skills = len(s.Skills.Current().Skills())
	clients := s.Clients()
	status.Clients = len(clients)
	if err != nil || !client.Introduced() {
		return status, err
	}
	unindexed, err := s.Journal.Unindexed(ctx)
	if err != nil {
		return status, err
	}
	status.Unindexed = unindexed.Percent()
	status.Seconds = int(time.Since(s.Started).Seconds())
	status.Memory = resident()
	status.Log, status.Journal, status.JournalSize = s.Paths.Log, s.Paths.Journal, s.Journal.Size()
	for _, note := range s.Skills.Statuses() {
		if note.State == skill.Failed || note.State == skill.Duplicate {
			status.Faulty++
		}
	}
	status.Models, status.MCP, status.Faults = s.Models(), s.MCP(), s.Faults()
	status.Presets = presetStatuses(s.Settings())
	status.Connected = clients
	status.Conversations = s.Sessions.Busy()
	if s.Subagents == nil {
		return status, nil
	}
	subagents, err := s.Subagents.List(ctx, "")
	status.Conversations = withParents(status.Conversations, subagents)
	return status, err
}

// presetStatuses are the presets that can be had, and what is wrong with the others.
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

// resident is how many bytes of memory the process has, as the system counts; where it does
// not tell, those that the program took.
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
