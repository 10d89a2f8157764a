// Package session runs conversations. It owns their queues of turns, the lists of attached clients
// and the Org files.
//
// Order. A session with turns in its queue has one goroutine, which runs them one at a time, first in,
// first out. Sessions do not wait for each other. Each client receives the notifications of a turn in
// one order: started, previews, acts, finished.
//
// Durability. A message is acknowledged when it is durable in the journal. An answer is written to the
// journal before it is sent to a client or written to a file. Clients and the file add an answer by its
// id, so it appears exactly once after any crash. While the journal cannot be written, for example
// because the disk is full, the turn waits and the clients are notified.
//
// Blocking. A client never blocks a turn. Its connection queues notifications, and a goroutine of its
// own waits for each receipt.
//
// Ownership. [Sessions] owns all goroutines. [Sessions.Close] stops the running turns, which then count
// as interrupted, and waits for all goroutines. A session without a client and without a turn uses no
// memory.
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
	"org-agent/kernel/text"
)

// Client is a front end that shows conversations. kernel/rpc implements it.
type Client interface {
	// ID distinguishes connections.
	ID() string
	// Capabilities are those that the client announced in the handshake.
	Capabilities() protocol.Capabilities
	// Notify queues a notification; it never blocks.
	Notify(method string, params any)
	// Deliver queues a verified action, in order with notifications, and never blocks. The function
	// that it returns waits for the receipt, the end of ctx or the end of the connection.
	Deliver(act protocol.Act) (receipt func(ctx context.Context) (protocol.Receipt, error))
}

// Runner answers a turn. kernel/agent implements it.
type Runner interface {
	// Run answers the turn and returns how it ended. It returns soon after ctx ends. [context.Cause]
	// is then [ErrCancelled] or [ErrStopping].
	Run(ctx context.Context, turn *Turn) Outcome
}

// Outcome is how a turn ended. A State that is not final counts as
// interrupted and is left for the next start of the kernel.
type Outcome struct {
	State  protocol.TurnState
	Notice string // one line for a person; "" if the answer is enough
	Model  string
	Input  int      // tokens
	Output int      // tokens
	Cost   *float64 // dollars; nil if unknown
}

// The causes with which a turn's context ends.
var (
	ErrCancelled = errors.New("stopped by a person")
	ErrStopping  = errors.New("the kernel is stopping")
)

// queueLimit is the maximal number of waiting turns of one session. Submit refuses further messages
// with CodeBusy.
const queueLimit = 10_000

// Session is one conversation: its queue of turns, the clients that show it, its file, and the asks
// that wait in it. Each part has its own lock, and calls no other part while it holds it.
type Session struct {
	sessions    *Sessions
	holds       int                    // how many use it; sessions.mu guards it
	currentName atomic.Pointer[string] // what it is called; [Sessions.Rename] changes it

	queue   turnQueue
	viewers viewers
	file    conversationFile
	asks    openAsks

	// acceptMu is held while a turn is added to the journal and to the queue, so that both have the
	// same order.
	acceptMu sync.Mutex

	lastTurn journal.Turn // the last one that ended; zero if none did. sessions.mu guards it

	unattended atomic.Bool // an ask of another program's request waits; perhaps no client shows the session
}

// name returns the current name of the session.
func (s *Session) name() string { return *s.currentName.Load() }

// enqueue adds a turn that the journal has, and starts the session's goroutine
// if it does not run. The caller holds the session.
func (s *Session) enqueue(record journal.Turn) {
	if !s.queue.add(record) {
		return
	}
	s.hold()
	s.sessions.start(func() {
		defer s.release()
		for ctx, turn := s.next(); turn != nil; ctx, turn = s.next() {
			s.run(ctx, turn)
		}
	})
}

// next takes a turn from the queue and returns it with its context. It returns nil if the queue is
// empty or the kernel is stopping.
func (s *Session) next() (ctx context.Context, turn *Turn) {
	turn = s.queue.next(func(record journal.Turn) (begun *Turn) {
		if s.sessions.ctx.Err() != nil {
			return nil
		}
		if err := s.load(&record); err != nil {
			s.logger().Error("turn left for the next start: it cannot be read", "turn", record.ID, "err", err)
			return nil
		}
		ctx, begun = s.turn(record)
		return begun
	})
	return ctx, turn
}

// load reads a turn that was queued before the kernel started. The queue holds only the ids of such
// a turn, so a long queue costs neither memory nor time at the start.
func (s *Session) load(record *journal.Turn) (err error) {
	if !record.Accepted.IsZero() {
		return nil
	}
	*record, err = s.sessions.config.Journal.Turns.Turn(s.sessions.ctx, record.ID)
	return err
}

// turn returns a new turn and its context, which ends when the turn is cancelled or the sessions are
// closed.
func (s *Session) turn(record journal.Turn) (context.Context, *Turn) {
	ctx, cancel := context.WithCancelCause(s.sessions.ctx)
	return ctx, &Turn{Record: record, session: s, cancel: cancel, answer: s.sessions.config.NewID()}
}

// run answers one turn from its first notification to its last.
func (s *Session) run(ctx context.Context, turn *Turn) {
	defer turn.cancel(nil)
	log := s.logger().With("turn", turn.Record.ID)
	if turn.Record.State == protocol.TurnRunning {
		s.finishInterrupted(ctx, turn)
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
	if errors.Is(context.Cause(ctx), ErrStopping) && !turn.hasResult {
		log.Info("turn left for the next start")
		return
	}
	s.finish(ctx, turn, outcome)
}

// finishInterrupted ends a turn that was running when the last kernel ended.
func (s *Session) finishInterrupted(ctx context.Context, turn *Turn) {
	acts, err := s.sessions.config.Journal.Acts.ActsOf(ctx, turn.Record.ID)
	if err != nil {
		s.logger().Error("interrupted turn not ended", "turn", turn.Record.ID, "err", err)
		return
	}
	outcome := Outcome{State: protocol.TurnInterrupted, Notice: "the kernel ended while this was being answered"}
	for _, a := range acts {
		if a.Final && !a.Time.Before(turn.Record.Started) {
			turn.hasResult = true
			if a.Kind == journal.ActAnswer {
				outcome = Outcome{State: protocol.TurnAnswered}
			}
		}
	}
	s.finish(ctx, turn, outcome)
	s.file.writeUnkept(ctx)
	s.file.reconcileUnkept(ctx) // the last kernel may have closed asks and not shown that
}

// withdraw ends a turn that has not begun. It shows the question first, so that the notice stands
// below it.
func (s *Session) withdraw(ctx context.Context, turn *Turn) {
	defer turn.cancel(nil)
	record, err := s.sessions.config.Journal.Turns.SetTurn(ctx, journal.TurnChange{ID: turn.Record.ID, State: protocol.TurnRunning})
	if err == nil {
		turn.Record = record
	}
	s.viewers.broadcast(protocol.MethodTurnKept, protocol.StoredTurn{
		Session: s.name(), Turn: turn.Record.ID, Event: turn.Record.Event, Question: questionSubtree(turn.Record),
		Parent: turn.Record.Parent, State: turn.Record.State, Words: headingWords(turn.Record),
	})
	s.finish(ctx, turn, Outcome{State: protocol.TurnCancelled, Notice: "stopped before it began"})
}

// answer runs the turn. The answer of a turn that posts a text is that text.
func (s *Session) answer(ctx context.Context, turn *Turn) Outcome {
	if turn.Record.Question.Route.Kind != protocol.RoutePost {
		return s.sessions.config.Runner.Run(ctx, turn)
	}
	if err := turn.Insert(ctx, "", turn.Record.Question.Text); err != nil {
		return Outcome{State: protocol.TurnFailed, Notice: err.Error()}
	}
	return Outcome{State: protocol.TurnAnswered}
}

// finish records the outcome of the turn and notifies the clients, also if ctx, the context of the
// turn, has ended.
func (s *Session) finish(ctx context.Context, turn *Turn, outcome Outcome) {
	ctx = context.WithoutCancel(ctx)
	log := s.logger().With("turn", turn.Record.ID)
	outcome.Notice = text.Shown(outcome.Notice)
	if !outcome.State.Final() {
		outcome.State = protocol.TurnInterrupted
	}
	if outcome.State != protocol.TurnAnswered && !turn.hasResult {
		if err := turn.explain(ctx, outcome); err != nil {
			log.Error("notice not recorded", "err", err)
		}
	}
	s.closeAsks(ctx, turn.Record.ID)
	var record journal.Turn
	err := s.retryWrite(s.sessions.ctx, func() (err error) {
		record, err = s.sessions.config.Journal.Turns.SetTurn(ctx, turn.change(outcome))
		return err
	})
	if err != nil {
		log.Error("end of turn not recorded", "err", err)
	}
	took := record.Finished.Sub(record.Started)
	total, err := s.total(ctx)
	if err != nil {
		log.Error("usage not summed", "err", err)
	}
	s.requeueSteers(ctx, turn)
	s.notifyFinished(protocol.TurnFinished{
		Session: s.name(), Turn: turn.Record.ID, Event: turn.Record.Event,
		State: outcome.State, Notice: outcome.Notice, Model: outcome.Model,
		Input: outcome.Input, Output: outcome.Output, Cost: outcome.Cost,
		Seconds: took.Seconds(), Total: total, Shown: turn.requestTokens, Window: turn.window,
	})
	log.Info("turn finished", "state", outcome.State, "dur", took)
	s.ended(record)
	if ended := s.sessions.config.OnTurnEnd; ended != nil && record.ID != "" {
		ended(record)
	}
}

// writePause is the pause between two attempts to write to the journal.
const writePause = 2 * time.Second

// retryWrite calls write, which writes to the journal. While write fails with CodeStorage, it tries
// again until ctx ends, and notifies the clients once. So no paid answer is lost, and every turn ends.
func (s *Session) retryWrite(ctx context.Context, write func() error) error {
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
		case <-time.After(writePause):
		case <-ctx.Done():
			return err
		}
	}
}

// closeAsks closes the asks of a turn that ends, and shows them as closed.
func (s *Session) closeAsks(ctx context.Context, turn string) {
	closed, err := s.sessions.config.Journal.Asks.CloseAsks(ctx, turn)
	if err != nil {
		s.sessions.config.Logger.Error("asks of the turn not closed", "turn", turn, "err", err)
	}
	// A person may have decided an ask just before, when the turn did not wait for it any more.
	ids := s.asks.ofTurn(turn)
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

// notifyAsk sends a notification about an ask to the attached clients. If another program's request
// caused the ask, all other clients receive it as well.
func (s *Session) notifyAsk(method string, params any) {
	s.viewers.broadcast(method, params)
	if everyone := s.sessions.config.NotifyOthers; everyone != nil && s.unattended.Load() {
		shows := map[string]bool{}
		for _, a := range s.viewers.attachments() {
			shows[a.client.ID()] = true
		}
		everyone(func(client string) bool { return shows[client] }, method, params)
	}
}

// logger returns the logger with the session's name.
func (s *Session) logger() *slog.Logger {
	return s.sessions.config.Logger.With("session", s.name())
}
