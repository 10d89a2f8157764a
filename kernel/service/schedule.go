package service

import (
	"cmp"
	"context"
	"path/filepath"
	"strings"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/org"
	"org-agent/kernel/protocol"
	"org-agent/kernel/sensor/heartbeat"
	"org-agent/kernel/sensor/tasks"
)

// timesLimit is how many times of a task can be asked for.
const timesLimit = 1000

// Schedule answers what is planned.
type Schedule struct {
	Tasks     Tasks
	Heartbeat Heartbeat
	File      string // tasks.org
}

// Heartbeat is the kernel's own task.
type Heartbeat interface {
	State(ctx context.Context, times int) (heartbeat.State, error)
	Begin(ctx context.Context) (journal.Lease, error)
}

// Tasks are those that the kernel watches.
type Tasks interface {
	List(ctx context.Context, times int) ([]tasks.Planned, []string, error)
	Begin(ctx context.Context, name string) (journal.Lease, error)
	Arm(ctx context.Context, hash string, arm bool) (tasks.Planned, error)
	Announce(ctx context.Context, files tasks.Watched) error
}

// Methods returns the methods of this service.
func (s Schedule) Methods() []Method {
	return []Method{
		{protocol.MethodScheduleList, For(s.List)}, {protocol.MethodScheduleRun, For(s.run)}, {protocol.MethodScheduleArm, For(s.arm)},
		{protocol.MethodScheduleWatch, For(s.watch)},
	}
}

// List returns what is planned.
func (s Schedule) List(ctx context.Context, p protocol.ScheduleListParams) (result protocol.ScheduleListResult, err error) {
	if p.Times < 0 || p.Times > timesLimit {
		return result, protocol.Errorf(protocol.CodeInvalidParams, "%d times are asked for; %d can be", p.Times, timesLimit)
	}
	all, faults, err := s.Tasks.List(ctx, cmp.Or(p.Times, 1))
	if err != nil {
		return result, err
	}
	result.Faults = faults
	for _, one := range all {
		id, _ := strings.CutPrefix(one.ID, "id:")
		if p.Task != "" && one.Title != p.Task && id != p.Task && one.Hash != p.Task {
			continue
		}
		t := s.scheduled(one)
		if p.Text {
			t.Text = one.Text()
		}
		result.Tasks = append(result.Tasks, t)
	}
	beats, err := s.Heartbeat.State(ctx, cmp.Or(p.Times, 1))
	if err != nil {
		return result, err
	}
	if beats.On && (p.Task == "" || p.Task == heartbeat.Title) {
		result.Tasks = append(result.Tasks, beating(beats))
	}
	if p.Task != "" && len(result.Tasks) == 0 {
		return result, protocol.Errorf(protocol.CodeNotFound, "there is no task %q", p.Task)
	}
	return result, nil
}

// scheduled returns a task for the wire.
func (s Schedule) scheduled(p tasks.Planned) protocol.ScheduledTask {
	t := protocol.ScheduledTask{
		Title: p.Title, File: p.File, Other: p.File != s.File, Hash: p.Hash, Line: p.Line, When: p.When, State: "planned", Runs: p.Settings.Runs, MaxRuns: p.Settings.MaxRuns,
	}
	if id, has := strings.CutPrefix(p.ID, "id:"); has {
		t.ID = id
	}
	switch {
	case p.Arming != tasks.Armed:
		t.State = string(p.Arming)
	case !p.Settings.Enabled:
		t.State = "off"
	case len(p.Next) == 0:
		t.State = "over"
	}
	if len(p.Next) > 0 {
		t.Next = p.Next[0].Format(time.RFC3339)
	}
	for _, next := range p.Next {
		t.Times = append(t.Times, inWords(next))
	}
	if p.AtWork != nil {
		t.State, t.Session, t.Note = "running", p.AtWork.Session, p.AtWork.Note
		if p.AtWork.State == journal.LeaseRetry {
			t.State = "retry"
		}
	}
	return t
}

// beating returns the heartbeat for the wire.
func beating(b heartbeat.State) protocol.ScheduledTask {
	t := protocol.ScheduledTask{Title: heartbeat.Title, Hash: heartbeat.Title, File: b.Path, Line: 1, When: b.Every, State: "planned", Note: b.Last}
	if len(b.Times) > 0 {
		t.Next = b.Times[0].Format(time.RFC3339)
	}
	for _, next := range b.Times {
		t.Times = append(t.Times, inWords(next))
	}
	if b.AtWork != nil {
		t.State, t.Session = "running", b.AtWork.Session
	}
	return t
}

// inWords returns a time as people write it.
func inWords(t time.Time) string {
	form := "Monday 2 January 2006 15:04"
	if t.Second() != 0 {
		form += ":05"
	}
	return t.Format(form + " MST")
}

func (s Schedule) run(ctx context.Context, p protocol.ScheduleRunParams) (protocol.ScheduleRunResult, error) {
	lease, err := s.Tasks.Begin(ctx, p.Task)
	if p.Task == heartbeat.Title && protocol.ErrorCode(err) == protocol.CodeNotFound {
		lease, err = s.Heartbeat.Begin(ctx)
	}
	if err != nil {
		return protocol.ScheduleRunResult{}, err
	}
	return protocol.ScheduleRunResult{Event: lease.Event(), Session: lease.Session}, nil
}

func (s Schedule) arm(ctx context.Context, p protocol.ScheduleArmParams) (protocol.ScheduledTask, error) {
	task, err := s.Tasks.Arm(ctx, p.Hash, !p.Disarm)
	if err != nil {
		return protocol.ScheduledTask{}, err
	}
	return s.scheduled(task), nil
}

func (s Schedule) watch(ctx context.Context, p protocol.ScheduleWatchParams) (protocol.Empty, error) {
	for _, file := range p.Files {
		if !filepath.IsAbs(file) {
			return protocol.Empty{}, protocol.Errorf(protocol.CodeInvalidParams, "%q is no absolute name of a file", file)
		}
	}
	tag := cmp.Or(p.Tag, tasks.Tag)
	if err := org.CheckTag(tag); err != nil {
		return protocol.Empty{}, protocol.Errorf(protocol.CodeInvalidParams, "%w", err)
	}
	return protocol.Empty{}, s.Tasks.Announce(ctx, tasks.Watched{Files: p.Files, Tag: tag, Sequences: p.Sequences})
}
