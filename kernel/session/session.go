// Package session keeps conversations: their queues, their turns, the clients
// that show them and the files they are kept in.
//
// Order. Every session has one goroutine that takes its turns first in, first
// out, one at a time; sessions do not wait for each other. What a turn shows
// (started, previews, acts, finished) reaches each client in that order.
//
// Durability. A message is acknowledged after the journal has it. An answer is
// journalled before any client or file sees it, so that whatever is killed
// when, it is there once: clients and the file add it by its id.
//
// Blocking. No client can hold up a turn: notifications are queued by the
// client's own connection, and receipts are awaited beside the turn.
//
// Ownership. [Sessions] owns all goroutines; [Sessions.Close] stops the running
// turns, which then count as interrupted, and waits for everything.
package session

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// Client is a front end that shows conversations. kernel/rpc implements it.
type Client interface {
	// ID distinguishes connections.
	ID() string
	// IsEmacs reports whether it can keep a conversation's file.
	IsEmacs() bool
	// Notify queues a notification; it never blocks.
	Notify(method string, params any)
	// Deliver queues a verified action, in order with notifications; it never
	// blocks. What it returns waits for the receipt, for the end of ctx or of the
	// connection.
	Deliver(act protocol.Act) (receipt func(ctx context.Context) (protocol.Receipt, error))
}

// Runner answers a turn. kernel/agent implements it.
type Runner interface {
	// Run answers the turn and says how it ended. It returns soon after ctx
	// ends; [context.Cause] is then [ErrCancelled] or [ErrStopping].
	Run(ctx context.Context, turn *Turn) Outcome
}

// Outcome is how a turn ended. A State that is not final counts as
// interrupted and is left for the next start of the kernel.
type Outcome struct {
	State  protocol.TurnState
	Notice string // one line for a person; "" when the answer says it all
	Model  string
	Input  int // tokens
	Output int // tokens
	Cost   float64
}

// The causes with which a turn's context ends.
var (
	ErrCancelled = errors.New("stopped by a person")
	ErrStopping  = errors.New("the kernel is stopping")
)

// queueLimit is how many turns of one session may wait. Beyond it a client is
// told to send again later.
const queueLimit = 10_000

// Session is one conversation.
type Session struct {
	name  string
	house *Sessions

	mu      sync.Mutex // guards what follows
	queue   []journal.Turn
	wake    chan struct{} // has room for one
	running *Turn
	clients []*attached // in the order in which they came
	keeper  *attached

	fileMu sync.Mutex // held while the conversation's file is changed
}

// attached is a client that shows this session.
type attached struct {
	client Client
	view   protocol.View
	ctx    context.Context // ends when it detaches, or with the sessions
	leave  context.CancelFunc
}

// loop takes the session's turns until ctx ends.
func (s *Session) loop(ctx context.Context) {
	for {
		record, ok := s.next(ctx)
		if !ok {
			return
		}
		s.run(ctx, record)
	}
}

// next waits for a queued turn.
func (s *Session) next(ctx context.Context) (journal.Turn, bool) {
	for {
		if ctx.Err() != nil {
			return journal.Turn{}, false
		}
		s.mu.Lock()
		if len(s.queue) > 0 {
			record := s.queue[0]
			s.queue = s.queue[1:]
			s.mu.Unlock()
			return record, true
		}
		s.mu.Unlock()
		select {
		case <-s.wake:
		case <-ctx.Done():
		}
	}
}

// enqueue adds a turn that the journal has.
func (s *Session) enqueue(record journal.Turn) {
	s.mu.Lock()
	s.queue = append(s.queue, record)
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// run answers one turn from its first notification to its last.
func (s *Session) run(ctx context.Context, record journal.Turn) {
	log := s.house.config.Logger.With("session", s.name, "turn", record.ID)
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	turn := &Turn{Record: record, session: s, cancel: cancel, answer: s.house.config.NewID()}
	s.mu.Lock()
	s.running = turn
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.running = nil
		s.mu.Unlock()
	}()

	if err := turn.begin(ctx); err != nil {
		log.Error("turn not begun", "err", err)
		s.finish(ctx, turn, Outcome{State: protocol.TurnFailed, Notice: err.Error()})
		return
	}
	outcome := s.answer(ctx, turn)
	if errors.Is(context.Cause(ctx), ErrStopping) && !outcome.State.Final() {
		log.Info("turn interrupted by the kernel's end")
		return
	}
	s.finish(ctx, turn, outcome)
}

// answer runs the turn. One that only posts text has its answer already.
func (s *Session) answer(ctx context.Context, turn *Turn) Outcome {
	if turn.Record.Question.Sensor != protocol.SensorPost {
		return s.house.config.Runner.Run(ctx, turn)
	}
	if err := turn.Insert(ctx, "", turn.Record.Question.Text); err != nil {
		return Outcome{State: protocol.TurnFailed, Notice: err.Error()}
	}
	return Outcome{State: protocol.TurnAnswered}
}

// finish records how the turn ended and tells everyone. It works after ctx has
// ended: the end of a turn must be told.
func (s *Session) finish(ctx context.Context, turn *Turn, outcome Outcome) {
	ctx = context.WithoutCancel(ctx)
	log := s.house.config.Logger.With("session", s.name, "turn", turn.Record.ID)
	if !outcome.State.Final() {
		outcome.State = protocol.TurnInterrupted
	}
	if outcome.State != protocol.TurnAnswered && !turn.answered() {
		if err := turn.explain(ctx, outcome); err != nil {
			log.Error("notice not kept", "err", err)
		}
	}
	record, err := s.house.config.Journal.SetTurn(ctx, turn.change(outcome))
	if err != nil {
		log.Error("end of turn not kept", "err", err)
		record = turn.Record
	}
	s.closeApprovals(ctx, turn.Record.ID)
	s.broadcast(protocol.MethodTurnFinished, protocol.TurnFinished{
		Session: s.name, Turn: turn.Record.ID, Event: turn.Record.Event,
		State: outcome.State, Notice: outcome.Notice, Model: outcome.Model,
		Input: outcome.Input, Output: outcome.Output, Cost: outcome.Cost,
		Seconds: record.Finished.Sub(record.Started).Seconds(),
	})
	log.Info("turn finished", "state", outcome.State, "dur", record.Finished.Sub(record.Started))
}

// closeApprovals ends the approvals that waited for this turn.
func (s *Session) closeApprovals(ctx context.Context, turn string) {
	closed, err := s.house.config.Journal.CloseApprovals(ctx, turn)
	if err != nil {
		s.house.config.Logger.Error("approvals not closed", "turn", turn, "err", err)
	}
	for _, a := range closed {
		s.broadcast(protocol.MethodApprovalClosed, protocol.ApprovalClosed{ID: a.ID, Session: s.name})
	}
}

// broadcast notifies every attached client.
func (s *Session) broadcast(method string, params any) {
	for _, a := range s.attached() {
		a.client.Notify(method, params)
	}
}

// attached returns the clients at this moment.
func (s *Session) attached() []*attached {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*attached(nil), s.clients...)
}

// logger is the logger with this session's name.
func (s *Session) logger() *slog.Logger {
	return s.house.config.Logger.With("session", s.name)
}
