// Package session keeps conversations: their queues, their turns, the clients
// that show them and the files they are kept in.
//
// Order. A session that has something to answer has one goroutine, which takes
// its turns first in, first out, one at a time; sessions do not wait for each
// other. What a turn shows
// (started, previews, acts, finished) reaches each client in that order.
//
// Durability. A message is acknowledged after the journal has it. An answer is
// journalled before any client or file sees it, so that whatever is killed
// when, it is there once: clients and the file add it by its id. While the
// journal cannot be written, as on a full disk, a turn waits and people are told.
//
// Blocking. No client can hold up a turn: notifications are queued by the
// client's own connection, and receipts are awaited beside the turn.
//
// Ownership. [Sessions] owns all goroutines; [Sessions.Close] stops the running
// turns, which then count as interrupted, and waits for everything. A session
// that nobody uses takes no memory.
package session

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// Client is a front end that shows conversations. kernel/rpc implements it.
type Client interface {
	// ID distinguishes connections.
	ID() string
	// Capabilities are what it announced when it came.
	Capabilities() protocol.Capabilities
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
	Input  int      // tokens
	Output int      // tokens
	Cost   *float64 // dollars; nil when nobody knows
}

// The causes with which a turn's context ends.
var (
	ErrCancelled = errors.New("stopped by a person")
	ErrStopping  = errors.New("the kernel is stopping")
)

// queueLimit is how many turns of one session may wait. Beyond it a client is
// told to send again later.
const queueLimit = 10_000

// Session is one conversation: its queue of turns, the clients that show it, its file, and the asks
// that wait in it. Each part has its own lock, and calls no other part while it holds it.
type Session struct {
	sessions *Sessions
	holds    int                    // how many use it; sessions.mu guards it
	named    atomic.Pointer[string] // what it is called; [Sessions.Rename] changes it

	queue   turnQueue
	viewers viewers
	file    conversationFile
	asks    openAsks

	// acceptMu is held from the journal to the queue, so that both have one order.
	acceptMu sync.Mutex

	unattended atomic.Bool // another program's request waits here, and no client need show the session
}

// name is the session's present name.
func (s *Session) name() string { return *s.named.Load() }

// enqueue adds a turn that the journal has, and starts the session's goroutine
// if it does not run. The caller holds the session.
func (s *Session) enqueue(record journal.Turn) {
	if !s.queue.add(record) {
		return
	}
	s.hold()
	s.sessions.begin(func() {
		defer s.release()
		for ctx, turn := s.next(); turn != nil; ctx, turn = s.next() {
			s.run(ctx, turn)
		}
	})
}

// next takes a turn from the queue, with its context; nil when there is none, or the kernel is
// stopping.
func (s *Session) next() (ctx context.Context, turn *Turn) {
	turn = s.queue.next(func(record journal.Turn) (begun *Turn) {
		if s.sessions.ctx.Err() != nil {
			return nil
		}
		if err := s.whole(&record); err != nil {
			s.logger().Error("turn left for the next start: it cannot be read", "turn", record.ID, "err", err)
			return nil
		}
		ctx, begun = s.turn(record)
		return begun
	})
	return ctx, turn
}

// whole reads the rest of a turn that was queued before the kernel started. The queue holds only
// its ids, so that a long queue costs neither memory nor time at the start.
func (s *Session) whole(record *journal.Turn) (err error) {
	if !record.Accepted.IsZero() {
		return nil
	}
	*record, err = s.sessions.config.Journal.Turns.Turn(s.sessions.ctx, record.ID)
	return err
}

// turn makes a turn and its context, which ends when the turn is cancelled or
// when the sessions close.
func (s *Session) turn(record journal.Turn) (context.Context, *Turn) {
	ctx, cancel := context.WithCancelCause(s.sessions.ctx)
	return ctx, &Turn{Record: record, session: s, cancel: cancel, answer: s.sessions.config.NewID()}
}

// run answers one turn from its first notification to its last.
func (s *Session) run(ctx context.Context, turn *Turn) {
	defer turn.cancel(nil)
	log := s.logger().With("turn", turn.Record.ID)
	if turn.Record.State == protocol.TurnRunning {
		s.interrupted(ctx, turn)
		return
	}
	outcome := Outcome{State: protocol.TurnInterrupted}
	err := turn.begin(ctx)
	switch cause := context.Cause(ctx); {
	case err == nil:
		outcome = s.answer(ctx, turn)
	case errors.Is(cause, ErrCancelled):
		outcome = Outcome{State: protocol.TurnCancelled}
	case cause == nil:
		log.Error("turn not begun", "err", err)
		outcome = Outcome{State: protocol.TurnFailed, Notice: err.Error()}
	}
	if errors.Is(context.Cause(ctx), ErrStopping) && !turn.final {
		log.Info("turn left for the next start")
		return
	}
	s.finish(ctx, turn, outcome)
}

// interrupted ends a turn that was running when the last kernel ended.
func (s *Session) interrupted(ctx context.Context, turn *Turn) {
	acts, err := s.sessions.config.Journal.Acts.ActsOf(ctx, turn.Record.ID)
	if err != nil {
		s.logger().Error("interrupted turn not ended", "turn", turn.Record.ID, "err", err)
		return
	}
	outcome := Outcome{State: protocol.TurnInterrupted, Notice: "the kernel ended while this was being answered"}
	for _, a := range acts {
		if a.Final && !a.Time.Before(turn.Record.Started) {
			turn.final = true
			if a.Kind == journal.ActAnswer {
				outcome = Outcome{State: protocol.TurnAnswered}
			}
		}
	}
	s.finish(ctx, turn, outcome)
	s.file.write(ctx)
	s.file.reconcileUnkept(ctx) // the last kernel may have closed what it could not show any more
}

// withdraw ends a turn that never began. Its question is shown first, so that
// the notice stands below it.
func (s *Session) withdraw(ctx context.Context, turn *Turn) {
	defer turn.cancel(nil)
	record, err := s.sessions.config.Journal.Turns.SetTurn(ctx, journal.TurnChange{ID: turn.Record.ID, State: protocol.TurnRunning})
	if err == nil {
		turn.Record = record
	}
	s.viewers.broadcast(protocol.MethodTurnKept, protocol.StoredTurn{
		Session: s.name(), Turn: turn.Record.ID, Event: turn.Record.Event, Question: questionSubtree(turn.Record),
		Parent: turn.Record.Parent, State: turn.Record.State, Words: words(turn.Record),
	})
	s.finish(ctx, turn, Outcome{State: protocol.TurnCancelled, Notice: "stopped before it began"})
}

// answer runs the turn. One that only posts text has its answer already.
func (s *Session) answer(ctx context.Context, turn *Turn) Outcome {
	if turn.Record.Question.Route.Kind != protocol.RoutePost {
		return s.sessions.config.Runner.Run(ctx, turn)
	}
	if err := turn.Insert(ctx, "", turn.Record.Question.Text); err != nil {
		return Outcome{State: protocol.TurnFailed, Notice: err.Error()}
	}
	return Outcome{State: protocol.TurnAnswered}
}

// finish records how the turn ended and tells everyone, also when ctx, the
// turn's own, has ended.
func (s *Session) finish(ctx context.Context, turn *Turn, outcome Outcome) {
	ctx = context.WithoutCancel(ctx)
	log := s.logger().With("turn", turn.Record.ID)
	if !outcome.State.Final() {
		outcome.State = protocol.TurnInterrupted
	}
	if outcome.State != protocol.TurnAnswered && !turn.final {
		if err := turn.explain(ctx, outcome); err != nil {
			log.Error("notice not kept", "err", err)
		}
	}
	s.closeAsks(ctx, turn.Record.ID)
	var record journal.Turn
	err := s.keep(s.sessions.ctx, func() (err error) {
		record, err = s.sessions.config.Journal.Turns.SetTurn(ctx, turn.change(outcome))
		return err
	})
	if err != nil {
		log.Error("end of turn not kept", "err", err)
	}
	took := record.Finished.Sub(record.Started)
	total, err := s.total(ctx)
	if err != nil {
		log.Error("usage not summed", "err", err)
	}
	s.leftover(ctx, turn)
	s.tellFinished(protocol.TurnFinished{
		Session: s.name(), Turn: turn.Record.ID, Event: turn.Record.Event,
		State: outcome.State, Notice: outcome.Notice, Model: outcome.Model,
		Input: outcome.Input, Output: outcome.Output, Cost: outcome.Cost,
		Seconds: took.Seconds(), Total: total, Shown: turn.shown, Window: turn.window,
	})
	log.Info("turn finished", "state", outcome.State, "dur", took)
	if ended := s.sessions.config.Ended; ended != nil && record.ID != "" {
		ended(record)
	}
}

// keepPause is how long the journal is left alone after it could not be written.
const keepPause = 2 * time.Second

// keep writes to the journal. While the file or its disk is at fault it tries
// again until ctx ends, and notifies clients once. So no answer that was paid
// for is lost, and every turn has an end.
func (s *Session) keep(ctx context.Context, write func() error) error {
	for reported := false; ; reported = true {
		err := write()
		if err == nil || protocol.ErrorCode(err) != protocol.CodeStorage {
			return err
		}
		if !reported {
			s.logger().Error("the journal cannot be written, trying again", "err", err)
			s.viewers.broadcast(protocol.MethodNotice, protocol.Notice{Level: protocol.LevelError, Text: err.Error()})
		}
		select {
		case <-time.After(keepPause):
		case <-ctx.Done():
			return err
		}
	}
}

// closeAsks closes what waits for this turn, which ends, and shows that.
func (s *Session) closeAsks(ctx context.Context, turn string) {
	closed, err := s.sessions.config.Journal.Asks.CloseAsks(ctx, turn)
	if err != nil {
		s.sessions.config.Logger.Error("what waits is not closed", "turn", turn, "err", err)
	}
	// A person may have decided an ask just before, when the turn did not wait for it any more.
	ids := s.asks.of(turn)
	for _, a := range closed {
		if !slices.Contains(ids, a.ID) {
			ids = append(ids, a.ID)
		}
	}
	for _, id := range ids {
		s.showClosed(ctx, nil, id)
	}
	if len(ids) > 0 {
		s.file.reconcileUnkept(ctx)
	}
}

// tellAsk sends a notification about an ask to the clients that show the
// session. If another program's request caused it, all other clients get it as well.
func (s *Session) tellAsk(method string, params any) {
	s.viewers.broadcast(method, params)
	if everyone := s.sessions.config.Everyone; everyone != nil && s.unattended.Load() {
		shows := map[string]bool{}
		for _, a := range s.viewers.attached() {
			shows[a.client.ID()] = true
		}
		everyone(func(client string) bool { return shows[client] }, method, params)
	}
}

// logger is the logger with this session's name.
func (s *Session) logger() *slog.Logger {
	return s.sessions.config.Logger.With("session", s.name())
}
