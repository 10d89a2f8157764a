package session

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"org-agent/kernel/atomicfile"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

// Config is what the sessions need. All fields but Directory are required; with
// no Directory nothing is kept in files.
type Config struct {
	Journal   Journal
	Runner    Runner
	Directory string        // where NAME.org files are
	NewID     func() string // a fresh id, fit for an Org :ID:
	// Now is the time where the person is, which their messages are stamped with. Default
	// time.Now.
	Now    func() time.Time
	Logger *slog.Logger
	// Insertion returns the act by which a client puts a text into a conversation that it shows.
	Insertion func(text string) protocol.Act
	// Elsewhere sends the end of a turn that came from outside of this machine to where it came
	// from, and returns when it is there. The same text has the same id. nil: nothing is sent.
	Elsewhere func(ctx context.Context, route protocol.Route, id, text string) error
	// Ended is called when a turn has ended and the journal has that; nil for nobody. It is
	// called by the goroutine of the session, and must not wait for one.
	Ended func(turn journal.Turn)
	// Everyone tells all people but those whose clients show the session, which shown knows by
	// their ids; nil tells nobody.
	Everyone func(shown func(client string) bool, method string, params any)
}

// Journal is what is kept of conversations. The stores of turns, acts and sessions are used nearly
// whole, because they are what a conversation is kept in; of the others a few methods are.
type Journal struct {
	Turns    *journal.TurnStore
	Acts     *journal.ActStore
	Sessions *journal.SessionStore
	Asks     Asks
	Usage    Usage
	Search   Search
}

// Asks are what waits for a person. CloseAsks closes those of a turn that ends.
type Asks interface {
	Ask(ctx context.Context, id string) (protocol.Ask, error)
	OpenAsks(ctx context.Context) ([]protocol.Ask, error)
	CloseAsks(ctx context.Context, turn string) ([]protocol.Ask, error)
}

// Usage sums what a conversation took.
type Usage interface {
	Sum(ctx context.Context, by protocol.UsageBy, session string, since time.Time, east int) ([]protocol.Usage, error)
}

// Search finds what was said.
type Search interface {
	Find(ctx context.Context, query journal.Search) (journal.SearchResult, error)
}

// Sessions is every conversation of one kernel.
type Sessions struct {
	config    Config
	directory directory
	ctx       context.Context // ends with Close; the sessions' goroutines live in it
	stop      context.CancelCauseFunc
	work      sync.WaitGroup

	mu      sync.Mutex
	open    map[string]*Session
	stopped bool

	awaited awaited
}

// New returns the sessions; nothing runs before the first message or
// [Sessions.Resume].
func New(config Config) *Sessions {
	if config.Now == nil {
		config.Now = time.Now
	}
	ctx, stop := context.WithCancelCause(context.Background())
	return &Sessions{config: config, directory: directory(config.Directory), ctx: ctx, stop: stop, open: map[string]*Session{}}
}

// Close stops the running turns, which the next start finds interrupted, and
// waits for all goroutines. Nothing is accepted afterwards.
func (h *Sessions) Close() {
	h.mu.Lock()
	h.stopped = true
	h.mu.Unlock()
	h.stop(ErrStopping)
	h.work.Wait()
}

// use returns the session, which stays open until the caller releases it.
func (h *Sessions) use(name string) (*Session, error) {
	if !protocol.ValidSession(name) {
		return nil, protocol.Errorf(protocol.CodeInvalidParams,
			"the session name %q is not one: use up to %d letters, digits, blanks and . _ -, not beginning with a dot", name, protocol.SessionLimit)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.stopped {
		return nil, protocol.Errorf(protocol.CodeBusy, "the kernel is stopping: send again when it runs")
	}
	s := h.open[name]
	if s == nil {
		s = &Session{sessions: h}
		s.file.session = s
		s.named.Store(&name)
		h.open[name] = s
	}
	s.holds++
	return s, nil
}

// hold keeps a session open that the caller holds already, once more.
func (s *Session) hold() {
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	s.holds++
}

// release ends one hold. A session that nobody holds has no client and nothing
// to answer: it is forgotten.
func (s *Session) release() {
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	if s.holds--; s.holds == 0 {
		delete(s.sessions.open, s.name())
	}
}

// begin starts a goroutine that Close waits for; after Close it starts none.
func (h *Sessions) begin(work func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.stopped {
		h.work.Go(work)
	}
}

// all returns the sessions that are open.
func (h *Sessions) all() []*Session {
	h.mu.Lock()
	defer h.mu.Unlock()
	open := make([]*Session, 0, len(h.open))
	for _, s := range h.open {
		open = append(open, s)
	}
	return open
}

// Submit takes an event: when it returns nil the journal has it, on the disk.
// The same event again is acknowledged again and answered once.
func (h *Sessions) Submit(ctx context.Context, event protocol.Event) (protocol.EventResult, error) {
	name, err := h.NameNow(ctx, event.Session)
	if err != nil {
		return protocol.EventResult{}, err
	}
	s, err := h.use(name)
	if err != nil {
		return protocol.EventResult{}, err
	}
	defer s.release()
	if event.ID == "" {
		event.ID = h.config.NewID()
	}
	if s.queue.length() >= queueLimit {
		return protocol.EventResult{}, protocol.Errorf(protocol.CodeBusy, "%d messages wait in %s already: send again when some are answered", queueLimit, event.Session)
	}
	record, err := s.accept(ctx, event)
	if err != nil {
		return protocol.EventResult{}, err
	}
	return protocol.EventResult{Event: record.Event, Turn: record.ID, State: record.State}, nil
}

// accept journals the event and queues its turn; both under one lock, so that
// the queue has the order of the journal.
func (s *Session) accept(ctx context.Context, event protocol.Event) (journal.Turn, error) {
	s.acceptMu.Lock()
	defer s.acceptMu.Unlock()
	event.Session, event.Stamp = s.name(), s.sessions.config.Now()
	record, fresh, err := s.sessions.config.Journal.Turns.Accept(ctx, event, s.sessions.config.NewID())
	if err != nil {
		return record, err
	}
	if fresh {
		s.enqueue(record)
	}
	return record, nil
}

// Resume goes on where the last kernel ended: turns that were queued are queued
// again, a turn that was running is marked as interrupted unless its answer was
// already kept, and one that waited for a person waits again. It returns before
// any of that has happened.
func (h *Sessions) Resume(ctx context.Context) error {
	if err := atomicfile.MendAll(h.config.Directory); err != nil {
		h.config.Logger.Error("conversation files may have the beginning of what a kernel wrote when it died", "err", err)
	}
	if err := h.moveFiles(ctx); err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	unfinished, err := h.config.Journal.Turns.Unfinished(ctx)
	if err != nil {
		return fmt.Errorf("resume: %w", err)
	}
	for _, record := range unfinished {
		s, err := h.use(record.Session)
		if err != nil {
			return fmt.Errorf("resume turn %s: %w", record.ID, err)
		}
		s.enqueue(record)
		s.release()
	}
	return nil
}

// Cancel stops a running or queued turn. Without a turn's id it stops the
// running turn of the session.
func (h *Sessions) Cancel(ctx context.Context, p protocol.TurnParams) (protocol.TurnCancelResult, error) {
	var record journal.Turn
	if p.Turn != "" || p.Event != "" {
		var err error
		if record, err = h.Turn(ctx, p); err != nil {
			return protocol.TurnCancelResult{}, err
		}
		p.Turn, p.Session = record.ID, record.Session
	}
	name, err := h.NameNow(ctx, orMain(p.Session))
	if err != nil {
		return protocol.TurnCancelResult{}, err
	}
	s, err := h.use(name)
	if err != nil {
		return protocol.TurnCancelResult{}, err
	}
	defer s.release()
	running, removed := s.queue.stop(p.Turn)
	if running != nil {
		running.cancel(ErrCancelled)
		return protocol.TurnCancelResult{Cancelled: true, Turn: running.Record.ID}, nil
	}
	if !removed {
		return protocol.TurnCancelResult{}, nil
	}
	s.withdraw(s.turn(record))
	return protocol.TurnCancelResult{Cancelled: true, Turn: record.ID}, nil
}

// Turn finds the turn that is named by its id or by its question's.
func (h *Sessions) Turn(ctx context.Context, p protocol.TurnParams) (journal.Turn, error) {
	if p.Turn == "" && p.Event != "" {
		return h.config.Journal.Turns.TurnOfEvent(ctx, p.Event)
	}
	return h.config.Journal.Turns.Turn(ctx, p.Turn)
}

// How often, and after which pauses, Retry looks whether a turn has ended.
const (
	retryTries = 20
	retryPause = 10 * time.Millisecond
)

// Retry answers a finished turn again, behind those that wait. What it has been
// answered stays, and the new answer stands behind it.
// The settings hold for it, and of several models the one that is asked for.
func (h *Sessions) Retry(ctx context.Context, p protocol.TurnRetryParams, settings protocol.TurnSettings) (protocol.EventResult, error) {
	record, err := h.Turn(ctx, protocol.TurnParams{Turn: p.Turn, Event: p.Event})
	if err != nil {
		return protocol.EventResult{}, err
	}
	s, err := h.use(record.Session)
	if err != nil {
		return protocol.EventResult{}, err
	}
	defer s.release()
	s.acceptMu.Lock()
	defer s.acceptMu.Unlock()
	// A notice is shown just before its turn has ended: who is quick to ask for
	// another try is not turned away.
	model := cmp.Or(p.Model, settings.Model())
	again, err := h.config.Journal.Turns.Retry(ctx, record.ID, model, settings)
	for tries := 0; protocol.ErrorCode(err) == protocol.CodeConflict && tries < retryTries; tries++ {
		time.Sleep(retryPause)
		again, err = h.config.Journal.Turns.Retry(ctx, record.ID, model, settings)
	}
	if err != nil {
		return protocol.EventResult{}, err
	}
	record = again
	s.enqueue(record)
	return protocol.EventResult{Event: record.Event, Turn: record.ID, State: record.State}, nil
}

// Get returns a running turn's preview as this client sees it.
func (h *Sessions) Get(ctx context.Context, client Client, p protocol.TurnGetParams) (protocol.TurnGetResult, error) {
	record, err := h.config.Journal.Turns.Turn(ctx, p.Turn)
	if err != nil {
		return protocol.TurnGetResult{}, err
	}
	s, err := h.use(record.Session)
	if err != nil {
		return protocol.TurnGetResult{}, err
	}
	defer s.release()
	view := protocol.ViewSubtree
	for _, a := range s.viewers.attached() {
		if a.client.ID() == client.ID() {
			view = a.view
		}
	}
	running := s.queue.current()
	if running == nil || running.Record.ID != p.Turn {
		// It may have ended since it was read, and nobody would be told of that again.
		record, err = h.config.Journal.Turns.Turn(ctx, p.Turn)
		return protocol.TurnGetResult{State: record.State}, err
	}
	result := running.previewFrom(view, p.From)
	result.State = record.State
	return result, nil
}

// Counts says how many turns run and wait, for the status.
func (h *Sessions) Counts() (open, running, queued int) {
	for _, s := range h.all() {
		one, waiting := s.queue.state()
		if one != nil {
			running++
		}
		queued += len(waiting)
		open++
	}
	return open, running, queued
}

func orMain(session string) string {
	if session == "" {
		return protocol.MainSession
	}
	return session
}
