// Package subagent runs the subagents that turns start. It bounds how many run at once, knows the state
// of each, and reports the end of each exactly once. A subagent is a conversation of its own with one
// turn, whose question is the task. The agent answers that turn like any other.
//
// All state that must survive a restart is in the journal. It has a subagent before the subagent
// starts, and a report, with the id of its event, before the event is submitted. So each end is
// reported exactly once, even if the kernel is killed at any point. Only the progress of running
// subagents, and the calls that wait for them, are in memory.
//
// A [Pool] is safe for many goroutines. [Pool.Run] is its one goroutine, which starts subagents and
// reports their ends. The other methods only wake it. A nil Pool has no subagents, and a limit of 0
// lets no turn start one.
package subagent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"org-agent/kernel/action"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
)

// unfinishedLimit is the largest number of unfinished subagents in all conversations together.
const unfinishedLimit = 200

// Sessions are the conversations of subagents, and those that get their reports. kernel/session
// implements it.
type Sessions interface {
	Submit(ctx context.Context, event protocol.Event) (protocol.EventResult, error)
	Cancel(ctx context.Context, p protocol.TurnParams) (protocol.TurnCancelResult, error)
	Fork(ctx context.Context, p protocol.SessionForkParams) (protocol.SessionForkResult, error)
	Notify(session, method string, params any)
}

// Journal is the part of the journal with subagents and their turns.
type Journal struct {
	Subagents Subagents
	Acts      Acts
	Turns     Turns
}

// Acts reads an act by its id, and those of turns.
type Acts interface {
	Act(ctx context.Context, id string) (journal.Act, error)
	ActsOf(ctx context.Context, turns ...string) ([]journal.Act, error)
}

// Turns changes turns.
type Turns interface {
	SetTurn(ctx context.Context, change journal.TurnChange) (journal.Turn, error)
}

// Subagents stores the subagents that turns start.
type Subagents interface {
	PutSubagent(ctx context.Context, s journal.Subagent) error
	// CancelSubagent cancels a subagent. before is set if it had not started.
	CancelSubagent(ctx context.Context, id string) (before bool, err error)
	Subagent(ctx context.Context, id string) (journal.Subagent, error)
	List(ctx context.Context, session string) ([]journal.Subagent, error)
	// TurnOfSubagent returns the turn that answers the task. found is false if it has not started.
	TurnOfSubagent(ctx context.Context, id string) (turn journal.Turn, found bool, err error)
	// Report records that an event reports the ends, and returns the ids that no event reports yet.
	Report(ctx context.Context, event string, ids ...string) (fresh []string, err error)
	// Unreported returns the subagents that no event reports, UnsentReports those whose event is recorded but
	// not yet submitted.
	Unreported(ctx context.Context) ([]journal.Subagent, error)
	UnsentReports(ctx context.Context) ([]journal.Subagent, error)
}

// Config configures a pool. All fields are required.
type Config struct {
	Journal  Journal
	Sessions Sessions
	// Limit is the largest number of subagents that run at once, to begin with. With 0 no turn can
	// start one.
	Limit int
	// Reads reports whether an action only reads.
	Reads  func(a action.Action) bool
	Logger *slog.Logger
	NewID  func() string
}

// Pool runs the subagents of one kernel. Make one with [New].
type Pool struct {
	config Config
	wake   chan struct{}

	mu      sync.Mutex
	limit   int
	tasks   map[string]*task // the unfinished tasks, by id
	queue   []*task          // the tasks that have not started, in order
	reports []*report        // the reports to send

	startMutex sync.Mutex // held while a task is started, or cancelled before its start
}

// task is an unfinished subagent.
type task struct {
	row       journal.Subagent
	startTime time.Time // zero while it is queued
	waiting   bool      // whether it waits for a person
	progress  protocol.TurnProgress
	ended     chan struct{}
}

// New returns a pool. Nothing runs before [Pool.Run].
func New(config Config) *Pool {
	return &Pool{config: config, limit: config.Limit, wake: make(chan struct{}, 1), tasks: map[string]*task{}}
}

// SetLimit sets how many subagents run at once. With 0 no turn can start one any more. Those that run
// go on, also beyond the limit, and those that wait for their start get their turn.
func (p *Pool) SetLimit(limit int) {
	p.mu.Lock()
	p.limit = limit
	p.mu.Unlock()
	p.wakeRun()
}

// Start queues a subagent. When it returns nil, the journal has the subagent. Subagents start in the
// order of the calls, as soon as the limit allows it.
func (p *Pool) Start(ctx context.Context, s journal.Subagent) error {
	p.mu.Lock()
	full, off := len(p.tasks) >= unfinishedLimit, p.limit == 0
	p.mu.Unlock()
	if off {
		return protocol.ToolErrorf(protocol.ToolRefused, "no subagent can be started: config.org has SUBAGENTS off")
	}
	if full {
		return protocol.ToolErrorf(protocol.ToolFailed, "%d subagents have not ended yet: wait until some have", unfinishedLimit)
	}
	if err := p.config.Journal.Subagents.PutSubagent(ctx, s); err != nil {
		return err
	}
	c := &task{row: s, ended: make(chan struct{})}
	c.row.Requested = time.Now()
	p.mu.Lock()
	p.tasks[s.ID] = c
	p.queue = append(p.queue, c)
	p.mu.Unlock()
	p.notify(c)
	p.wakeRun()
	return nil
}

// wakeRun wakes Run, and never blocks.
func (p *Pool) wakeRun() {
	select {
	case p.wake <- struct{}{}:
	default: // it is awake already
	}
}

// Await blocks until the subagent has ended, marks its end as reported, and returns its outcome. If ctx
// ends before, the subagent is stopped. If the kernel stops, the subagent goes on in the next kernel.
func (p *Pool) Await(ctx context.Context, id string) (Outcome, error) {
	p.mu.Lock()
	c := p.tasks[id]
	p.mu.Unlock()
	if c != nil {
		select {
		case <-c.ended:
		case <-ctx.Done():
			cause := context.Cause(ctx)
			if errors.Is(cause, session.ErrStopping) {
				return Outcome{}, cause
			}
			return Outcome{}, errors.Join(cause, p.stopTask(context.WithoutCancel(ctx), id))
		}
	}
	outcome, err := p.Outcome(ctx, id)
	if err == nil {
		_, err = p.config.Journal.Subagents.Report(ctx, journal.ReportGiven, id)
	}
	return outcome, err
}

// Cancel stops the subagents of a conversation, or of one of its turns, and returns how many. Their
// ends are not reported, because the caller knows of them.
func (p *Pool) Cancel(ctx context.Context, session, turn string) (stopped int, err error) {
	if p == nil {
		return 0, nil
	}
	all, err := p.config.Journal.Subagents.Unreported(ctx)
	for _, s := range all {
		if s.Session != session || turn != "" && s.Turn != turn || !p.isUnfinished(s.ID) {
			continue
		}
		stopped++
		err = errors.Join(err, p.stopTask(ctx, s.ID))
	}
	return stopped, err
}

func (p *Pool) isUnfinished(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.tasks[id] != nil
}

// stopTask stops a subagent, and marks its end as reported.
func (p *Pool) stopTask(ctx context.Context, id string) error {
	if _, err := p.config.Journal.Subagents.Report(ctx, journal.ReportGiven, id); err != nil {
		return err
	}
	p.startMutex.Lock()
	defer p.startMutex.Unlock()
	before, err := p.config.Journal.Subagents.CancelSubagent(ctx, id)
	if err != nil {
		return err
	}
	if before {
		p.endTask(id)
		return nil
	}
	_, err = p.config.Sessions.Cancel(ctx, protocol.TurnParams{Event: id})
	return err
}

// endTask removes an ended subagent and wakes the calls that wait for it. It returns nil if the
// subagent is not in memory.
func (p *Pool) endTask(id string) *task {
	p.mu.Lock()
	c := p.tasks[id]
	delete(p.tasks, id)
	p.queue = slices.DeleteFunc(p.queue, func(q *task) bool { return q.row.ID == id })
	p.mu.Unlock()
	if c == nil {
		return nil
	}
	close(c.ended)
	p.notify(c)
	p.wakeRun()
	return c
}

// TurnEnded is called at the end of each turn. If it was the turn of a subagent, the end is reported to
// the starting conversation. If it was cancelled, its subagents are stopped.
func (p *Pool) TurnEnded(ctx context.Context, turn journal.Turn) {
	if p == nil {
		return
	}
	if turn.State == protocol.TurnCancelled {
		if _, err := p.Cancel(ctx, turn.Session, turn.ID); err != nil {
			p.config.Logger.Error("subagents of a stopped turn were not stopped", "turn", turn.ID, "err", err)
		}
	}
	if turn.Question.Route.Kind != protocol.RouteSubagent {
		return
	}
	if c := p.endTask(turn.Event); c != nil && !c.row.Wait {
		p.queueReport(c.row)
	}
}

// Progress sets the progress of a subagent.
func (p *Pool) Progress(id string, at protocol.TurnProgress) {
	p.changeTask(id, func(c *task) { c.progress = at })
}

// Waiting sets whether a subagent waits for a person.
func (p *Pool) Waiting(id string, waiting bool) {
	p.changeTask(id, func(c *task) { c.waiting = waiting })
}

func (p *Pool) changeTask(id string, change func(*task)) {
	if p == nil {
		return
	}
	p.mu.Lock()
	c := p.tasks[id]
	if c != nil {
		change(c)
	}
	p.mu.Unlock()
	if c != nil {
		p.notify(c)
	}
}

// notify sends the state of a subagent to the clients of its conversation.
func (p *Pool) notify(c *task) {
	info, err := p.info(context.Background(), c.row)
	if err != nil {
		p.config.Logger.Error("the state of a subagent was not sent", "subagent", c.row.ID, "err", err)
		return
	}
	p.config.Sessions.Notify(info.Session, protocol.MethodSubagentChanged, info)
}

// Run starts subagents as far as the limit allows, and reports their ends. It blocks until ctx ends.
func (p *Pool) Run(ctx context.Context) {
	if p == nil {
		return
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		case <-timer.C:
		}
		p.startNext(ctx)
		timer.Reset(p.sendDueReports(ctx))
	}
}

// startNext starts queued subagents in their order, as far as the limit allows.
func (p *Pool) startNext(ctx context.Context) {
	for ctx.Err() == nil {
		p.mu.Lock()
		if len(p.queue) == 0 || len(p.tasks)-len(p.queue) >= max(p.limit, 1) { // what waits has been promised
			p.mu.Unlock()
			return
		}
		c := p.queue[0]
		p.mu.Unlock()
		p.startTask(ctx, c)
	}
}

// startTask starts a subagent. If that fails, the subagent has ended.
func (p *Pool) startTask(ctx context.Context, c *task) {
	p.startMutex.Lock()
	defer p.startMutex.Unlock()
	p.mu.Lock()
	if len(p.queue) == 0 || p.queue[0] != c { // it was cancelled meanwhile
		p.mu.Unlock()
		return
	}
	p.queue = p.queue[1:]
	c.startTime = time.Now()
	p.mu.Unlock()
	err := p.submit(ctx, c.row)
	if err == nil {
		p.notify(c)
		return
	}
	if ctx.Err() != nil { // the next kernel starts it
		return
	}
	p.config.Logger.Error("a subagent was not started", "subagent", c.row.ID, "err", err)
	if _, err := p.config.Journal.Subagents.CancelSubagent(ctx, c.row.ID); err != nil {
		p.config.Logger.Error("a subagent that was not started is not recorded as ended", "subagent", c.row.ID, "err", err)
	}
	if p.endTask(c.row.ID) != nil && !c.row.Wait {
		p.queueReport(c.row)
	}
}

// submit submits the task of a subagent as an event. If the subagent is a fork, its conversation begins
// as a copy of the starting one.
func (p *Pool) submit(ctx context.Context, s journal.Subagent) error {
	if s.Fork {
		_, err := p.config.Sessions.Fork(ctx, protocol.SessionForkParams{Session: s.Session, To: s.Conversation})
		if err != nil && protocol.ErrorCode(err) != protocol.CodeConflict { // the last kernel has copied it
			return fmt.Errorf("copy the conversation for it: %w", err)
		}
	}
	event := protocol.Event{ID: s.ID, Session: s.Conversation, Sensor: protocol.SensorSubagent, Route: protocol.Route{Kind: protocol.RouteSubagent, Channel: s.Route.Channel, Chat: s.Route.Chat}, Level: 1, Text: s.Task, Settings: s.Settings}
	if s.Group {
		event.Payload.Set(protocol.PayloadGroup, true)
	}
	_, err := p.config.Sessions.Submit(ctx, event)
	return err
}
