// Package subagent runs the subagents that turns start. It bounds how many run at once, knows how each
// is doing, and reports the end of each exactly once. It answers nothing itself: a subagent is a
// conversation of its own with one turn, whose question is the task, and the agent answers that turn
// as any other.
//
// The journal is the only truth. It has a subagent before the subagent begins, and a report before the
// report is sent, under the id of the event that is the report. So each end is reported exactly once,
// whatever is killed when. Only the progress of running subagents, and who waits for them, is in
// memory.
//
// A [Pool] is safe for many goroutines. [Pool.Run] is its one goroutine, which begins subagents and
// reports their ends; the other methods only wake it. A nil Pool is one in which nothing can be started.
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

// unfinishedLimit is how many subagents may be unfinished at once in all conversations.
const unfinishedLimit = 200

// Sessions are the conversations in which subagents work and are told of. kernel/session
// implements it.
type Sessions interface {
	Submit(ctx context.Context, event protocol.Event) (protocol.EventResult, error)
	Cancel(ctx context.Context, p protocol.TurnParams) (protocol.TurnCancelResult, error)
	Fork(ctx context.Context, p protocol.SessionForkParams) (protocol.SessionForkResult, error)
	Notify(session, method string, params any)
}

// Journal is what is kept of subagents, and of their turns.
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

// Subagents keeps the subagents that turns start.
type Subagents interface {
	PutSubagent(ctx context.Context, s journal.Subagent) error
	// CancelSubagent ends one; before says that it had not begun.
	CancelSubagent(ctx context.Context, id string) (before bool, err error)
	Subagent(ctx context.Context, id string) (journal.Subagent, error)
	List(ctx context.Context, session string) ([]journal.Subagent, error)
	// TurnOfSubagent is the turn that answers the task; found is false where it has not begun.
	TurnOfSubagent(ctx context.Context, id string) (turn journal.Turn, found bool, err error)
	// Report records that an event tells of the ends, and returns those that nobody told of.
	Report(ctx context.Context, event string, ids ...string) (fresh []string, err error)
	// Unreported are those of which nobody was told, Owed those that an event is to tell of.
	Unreported(ctx context.Context) ([]journal.Subagent, error)
	Owed(ctx context.Context) ([]journal.Subagent, error)
}

// Config is what a pool works with. All of it is required.
type Config struct {
	Journal  Journal
	Sessions Sessions
	// Limit is how many are at work at once, 1 or more.
	Limit int
	// Reads reports whether an action does no more than read.
	Reads  func(a action.Action) bool
	Logger *slog.Logger
	NewID  func() string
}

// Pool is the subagents of one kernel.
type Pool struct {
	config Config
	wake   chan struct{}

	mu    sync.Mutex
	live  map[string]*task // that have not ended, by id
	queue []*task          // those of them that wait for a place, in order
	due   []*report        // what is to be told

	beginning sync.Mutex // held while one is begun, or stopped before it is
}

// task is the work of a subagent that has not ended.
type task struct {
	record  journal.Subagent
	started time.Time // zero while it waits for a place
	waiting bool      // for a person
	at      protocol.TurnProgress
	ended   chan struct{}
}

// New returns a pool. Nothing runs before [Pool.Run].
func New(config Config) *Pool {
	return &Pool{config: config, wake: make(chan struct{}, 1), live: map[string]*task{}}
}

// Start takes the work that a turn hands on to a subagent. When it returns nil the journal has it,
// and it begins when it has a place, in the order of the calls.
func (p *Pool) Start(ctx context.Context, s journal.Subagent) error {
	p.mu.Lock()
	full := len(p.live) >= unfinishedLimit
	p.mu.Unlock()
	if full {
		return protocol.ToolErrorf(protocol.ToolFailed, "%d subagents have not ended yet: wait until some have", unfinishedLimit)
	}
	if err := p.config.Journal.Subagents.PutSubagent(ctx, s); err != nil {
		return err
	}
	c := &task{record: s, ended: make(chan struct{})}
	c.record.Asked = time.Now()
	p.mu.Lock()
	p.live[s.ID] = c
	p.queue = append(p.queue, c)
	p.mu.Unlock()
	p.tell(c)
	p.rouse()
	return nil
}

// rouse wakes Run.
func (p *Pool) rouse() {
	select {
	case p.wake <- struct{}{}:
	default: // it is about to
	}
}

// Await waits until the subagent has ended, marks its end as reported, and returns its outcome. If ctx
// ends before, the subagent is stopped; if the kernel stops, it goes on in the next kernel.
func (p *Pool) Await(ctx context.Context, id string) (Outcome, error) {
	p.mu.Lock()
	c := p.live[id]
	p.mu.Unlock()
	if c != nil {
		select {
		case <-c.ended:
		case <-ctx.Done():
			cause := context.Cause(ctx)
			if errors.Is(cause, session.ErrStopping) {
				return Outcome{}, cause
			}
			return Outcome{}, errors.Join(cause, p.stop(context.WithoutCancel(ctx), id))
		}
	}
	outcome, err := p.Outcome(ctx, id)
	if err == nil {
		_, err = p.config.Journal.Subagents.Report(ctx, journal.ReportGiven, id)
	}
	return outcome, err
}

// Cancel stops the subagents of a conversation, or of one of its turns, and returns how many. Their
// ends are not reported, because whoever stopped them knows.
func (p *Pool) Cancel(ctx context.Context, session, turn string) (stopped int, err error) {
	if p == nil {
		return 0, nil
	}
	all, err := p.config.Journal.Subagents.Unreported(ctx)
	for _, s := range all {
		if s.Session != session || turn != "" && s.Turn != turn || !p.unfinished(s.ID) {
			continue
		}
		stopped++
		err = errors.Join(err, p.stop(ctx, s.ID))
	}
	return stopped, err
}

func (p *Pool) unfinished(id string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.live[id] != nil
}

// stop stops a subagent whose end is not reported.
func (p *Pool) stop(ctx context.Context, id string) error {
	if _, err := p.config.Journal.Subagents.Report(ctx, journal.ReportGiven, id); err != nil {
		return err
	}
	p.beginning.Lock()
	defer p.beginning.Unlock()
	before, err := p.config.Journal.Subagents.CancelSubagent(ctx, id)
	if err != nil {
		return err
	}
	if before {
		p.end(id)
		return nil
	}
	_, err = p.config.Sessions.Cancel(ctx, protocol.TurnParams{Event: id})
	return err
}

// end takes a subagent out of those that have not ended, and wakes who waits for it.
func (p *Pool) end(id string) *task {
	p.mu.Lock()
	c := p.live[id]
	delete(p.live, id)
	p.queue = slices.DeleteFunc(p.queue, func(q *task) bool { return q.record.ID == id })
	p.mu.Unlock()
	if c == nil {
		return nil
	}
	close(c.ended)
	p.tell(c)
	p.rouse()
	return c
}

// Ended takes note of the end of a turn: of a subagent, of which its conversation is told then,
// or of one that was stopped and whose subagents are stopped with it.
func (p *Pool) Ended(ctx context.Context, turn journal.Turn) {
	if p == nil {
		return
	}
	if turn.State == protocol.TurnCancelled {
		if _, err := p.Cancel(ctx, turn.Session, turn.ID); err != nil {
			p.config.Logger.Error("subagents of a turn that was stopped go on", "turn", turn.ID, "err", err)
		}
	}
	if turn.Question.Route.Kind != protocol.RouteSubagent {
		return
	}
	if c := p.end(turn.Event); c != nil && !c.record.Wait {
		p.later(c.record)
	}
}

// Progress notes how far a subagent has come.
func (p *Pool) Progress(id string, at protocol.TurnProgress) {
	p.change(id, func(c *task) { c.at = at })
}

// Waiting notes that a subagent waits for a person, or no longer does.
func (p *Pool) Waiting(id string, waiting bool) {
	p.change(id, func(c *task) { c.waiting = waiting })
}

func (p *Pool) change(id string, change func(*task)) {
	if p == nil {
		return
	}
	p.mu.Lock()
	c := p.live[id]
	if c != nil {
		change(c)
	}
	p.mu.Unlock()
	if c != nil {
		p.tell(c)
	}
}

// tell tells the clients of the conversation how a subagent is doing.
func (p *Pool) tell(c *task) {
	info, err := p.info(context.Background(), c.record)
	if err != nil {
		p.config.Logger.Error("nobody is told how a subagent is doing", "subagent", c.record.ID, "err", err)
		return
	}
	p.config.Sessions.Notify(info.Session, protocol.MethodSubagentChanged, info)
}

// Run begins subagents while there is a place, and reports their ends, until ctx ends.
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
		p.beginNext(ctx)
		timer.Reset(p.tellDue(ctx))
	}
}

// beginNext begins waiting subagents, in their order, while there is a place.
func (p *Pool) beginNext(ctx context.Context) {
	for ctx.Err() == nil {
		p.mu.Lock()
		if len(p.queue) == 0 || len(p.live)-len(p.queue) >= p.config.Limit {
			p.mu.Unlock()
			return
		}
		c := p.queue[0]
		p.mu.Unlock()
		p.begin(ctx, c)
	}
}

// begin begins a subagent. One that cannot be begun has ended.
func (p *Pool) begin(ctx context.Context, c *task) {
	p.beginning.Lock()
	defer p.beginning.Unlock()
	p.mu.Lock()
	if len(p.queue) == 0 || p.queue[0] != c { // it was stopped meanwhile
		p.mu.Unlock()
		return
	}
	p.queue = p.queue[1:]
	c.started = time.Now()
	p.mu.Unlock()
	err := p.submit(ctx, c.record)
	if err == nil {
		p.tell(c)
		return
	}
	if ctx.Err() != nil { // the next kernel begins it
		return
	}
	p.config.Logger.Error("a subagent is not begun", "subagent", c.record.ID, "err", err)
	if _, err := p.config.Journal.Subagents.CancelSubagent(ctx, c.record.ID); err != nil {
		p.config.Logger.Error("a subagent that is not begun is not kept as ended", "subagent", c.record.ID, "err", err)
	}
	if p.end(c.record.ID) != nil && !c.record.Wait {
		p.later(c.record)
	}
}

// submit is where a subagent begins: with a copy of the conversation if it is to see that.
func (p *Pool) submit(ctx context.Context, s journal.Subagent) error {
	if s.Fork {
		_, err := p.config.Sessions.Fork(ctx, protocol.SessionForkParams{Session: s.Session, To: s.Conversation})
		if err != nil && protocol.ErrorCode(err) != protocol.CodeConflict { // the last kernel copied it
			return fmt.Errorf("show it the conversation: %w", err)
		}
	}
	event := protocol.Event{ID: s.ID, Session: s.Conversation, Sensor: protocol.SensorSubagent, Route: protocol.Route{Kind: protocol.RouteSubagent, Channel: s.Route.Channel, Chat: s.Route.Chat}, Level: 1, Text: s.Task, Settings: s.Settings}
	if s.Group {
		event.Payload.Set(protocol.PayloadGroup, true)
	}
	_, err := p.config.Sessions.Submit(ctx, event)
	return err
}
