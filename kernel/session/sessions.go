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

// Config is the configuration of the sessions. All fields without a default are required. Without a
// Directory there are no conversation files.
type Config struct {
	Journal   Journal
	Runner    Runner
	Directory string        // where NAME.org files are
	NewID     func() string // a fresh id, fit for an Org :ID:
	// Now returns the time in the person's time zone. Messages are stamped with it. The default is
	// time.Now.
	Now    func() time.Time
	Logger *slog.Logger
	// HeldTags returns the tags that are held in what models write besides those that always are: those that the person has
	// chosen for tasks. It is asked once for each text. nil: there are none.
	HeldTags func() []string
	// InsertionAct returns the act by which a client puts a text into a conversation that it shows.
	InsertionAct func(text string) protocol.Act
	// Origins sends what answers a turn that came from outside of this machine. nil: nothing is sent.
	Origins Origins
	// OnAsk is called when something begins to wait for a person, and when it does not wait any more. It must not wait. nil:
	// no call.
	OnAsk func()
	// OnTurnEnd is called when the end of a turn is in the journal. It runs on the goroutine of the
	// session, and must not wait for a turn. nil: no call.
	OnTurnEnd func(turn journal.Turn)
	// OnSessionEnd is called when no client shows a conversation any more in which a turn has ended, and none runs or
	// waits there. last is its last turn. The context ends when the sessions are closed. nil: no call.
	OnSessionEnd func(ctx context.Context, last journal.Turn)
	// Report takes the current faults of a subject, none when it is in order again. It tells people of
	// each once. The default tells nobody.
	Report func(subject string, faults []string)
	// NotifyOthers notifies the clients that do not show the session. shown reports by a client's id
	// whether it shows the session. nil: no such notification.
	NotifyOthers func(shown func(client string) bool, method string, params any)
}

// heldTags returns the tags that are held besides those that always are.
func (c *Config) heldTags() []string {
	if c.HeldTags == nil {
		return nil
	}
	return c.HeldTags()
}

// Journal holds the stores of conversations. This package uses nearly all of the stores of turns, acts
// and sessions, and a few methods of the others.
type Journal struct {
	Turns    *journal.TurnStore
	Acts     *journal.ActStore
	Sessions *journal.SessionStore
	Asks     Asks
	Usage    Usage
	Search   Search
}

// Origins sends texts to where turns came from.
type Origins interface {
	// Compose returns the messages by which the text of an act reaches the route of its turn, none if nothing is to be said.
	Compose(ctx context.Context, route protocol.Route, act journal.Act, text string) ([]journal.Outgoing, error)
	// Wake has them sent, once they are in the journal.
	Wake()
	// Streams reports whether the route shows answers while they are written. It does not wait.
	Streams(route protocol.Route) bool
	// Preview shows all that is verified of the answer of a turn, "" when that is retracted. It does not wait. The text that
	// is composed for the turn takes its place.
	Preview(route protocol.Route, act journal.Act, text string)
}

// Asks is the store of approvals and questions for people. CloseAsks closes those of a turn that ends.
type Asks interface {
	Ask(ctx context.Context, id string) (protocol.Ask, error)
	OpenAsks(ctx context.Context) ([]protocol.Ask, error)
	CloseAsks(ctx context.Context, turn string) ([]protocol.Ask, error)
}

// Usage sums the usage of a conversation.
type Usage interface {
	Sum(ctx context.Context, by protocol.UsageBy, session string, since time.Time, east int) ([]protocol.Usage, error)
}

// Search finds messages by their text.
type Search interface {
	Find(ctx context.Context, query journal.Search) (journal.SearchResult, error)
}

// Sessions is the set of all conversations of one kernel.
type Sessions struct {
	config    Config
	directory directory
	ctx       context.Context // ends with Close; the sessions' goroutines live in it
	stop      context.CancelCauseFunc
	work      sync.WaitGroup

	mu      sync.Mutex
	open    map[string]*Session
	stopped bool

	endWaiters endWaiters
}

// New returns the sessions. It starts no goroutine; the first message or [Sessions.Resume] does.
func New(config Config) *Sessions {
	if config.Now == nil {
		config.Now = time.Now
	}
	if config.Report == nil {
		config.Report = func(string, []string) {}
	}
	ctx, stop := context.WithCancelCause(context.Background())
	return &Sessions{config: config, directory: directory(config.Directory), ctx: ctx, stop: stop, open: map[string]*Session{}}
}

// Close stops the running turns, which count as interrupted at the next start, and waits for all
// goroutines. Afterwards no message is accepted.
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
			"%q is not a session name: use up to %d letters, digits, blanks and . _ -, not beginning with a dot", name, protocol.SessionLimit)
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
		s.currentName.Store(&name)
		h.open[name] = s
	}
	s.holds++
	return s, nil
}

// hold adds one hold to a session that the caller holds.
func (s *Session) hold() {
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	s.holds++
}

// release ends one hold. A session without holds has no client and no turn, and is forgotten. If a turn of it has ended
// since it was opened, OnSessionEnd is called, in a goroutine that Close waits for.
func (s *Session) release() {
	h := s.sessions
	h.mu.Lock()
	defer h.mu.Unlock()
	if s.holds--; s.holds > 0 {
		return
	}
	delete(h.open, s.name())
	if last := s.lastTurn; last.ID != "" && h.config.OnSessionEnd != nil && !h.stopped {
		last.Session = s.name()
		h.work.Go(func() { h.config.OnSessionEnd(h.ctx, last) })
	}
}

// ended notes the last turn that has ended.
func (s *Session) ended(turn journal.Turn) {
	s.sessions.mu.Lock()
	defer s.sessions.mu.Unlock()
	s.lastTurn = turn
}

// start starts a goroutine that Close waits for. After Close it starts none, and returns false.
func (h *Sessions) start(work func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.stopped {
		h.work.Go(work)
	}
	return !h.stopped
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

// Submit accepts an event. When it returns nil the event is durable in the journal. A repeated event is
// acknowledged again and answered once.
func (h *Sessions) Submit(ctx context.Context, event protocol.Event) (protocol.EventResult, error) {
	name, err := h.CurrentName(ctx, event.Session)
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

// accept writes the event to the journal and queues its turn under one lock, so that the queue has the
// order of the journal.
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

// Resume continues the turns that the last kernel left. Queued turns are queued again. A turn that was
// running is interrupted, unless the journal has its answer. A turn that waited for a person waits
// again. Resume returns before the turns run.
func (h *Sessions) Resume(ctx context.Context) error {
	if err := atomicfile.MendAll(h.config.Directory); err != nil {
		h.config.Logger.Error("conversation files may end in an incomplete write of the last kernel", "err", err)
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
	name, err := h.CurrentName(ctx, sessionOrMain(p.Session))
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

// Turn returns the turn by its id or by the id of its question.
func (h *Sessions) Turn(ctx context.Context, p protocol.TurnParams) (journal.Turn, error) {
	if p.Turn == "" && p.Event != "" {
		return h.config.Journal.Turns.TurnOfEvent(ctx, p.Event)
	}
	return h.config.Journal.Turns.Turn(ctx, p.Turn)
}

// The number of attempts of Retry to find the turn ended, and the pause between them.
const (
	retryTries = 20
	retryPause = 10 * time.Millisecond
)

// Retry queues a finished turn again, behind the waiting turns. Its earlier answers stay, and the new
// answer stands behind them. The settings apply to the new attempt; the model in p has precedence.
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
	// A notice is shown just before its turn ends. A person who retries at once must not be refused.
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

// Get returns the preview of a running turn in the view of this client.
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
	for _, a := range s.viewers.attachments() {
		if a.client.ID() == client.ID() {
			view = a.view
		}
	}
	running := s.queue.current()
	if running == nil || running.Record.ID != p.Turn {
		// The turn may have ended since it was read. The client receives no other notification of it.
		record, err = h.config.Journal.Turns.Turn(ctx, p.Turn)
		return protocol.TurnGetResult{State: record.State}, err
	}
	result := running.previewFrom(view, p.From)
	result.State = record.State
	return result, nil
}

// Counts returns the numbers of open sessions, running turns and waiting turns.
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

// Busy reports whether a turn runs and waits for no person. A turn that waits, and those behind it, are in the
// journal and go on when the next kernel starts.
func (h *Sessions) Busy() bool {
	for _, s := range h.all() {
		running, next := s.queue.state()
		if running != nil && !running.awaits.Load() || running == nil && len(next) > 0 {
			return true
		}
	}
	return false
}

// sessionOrMain returns the name of the session, or of the main session if it is empty.
func sessionOrMain(session string) string {
	if session == "" {
		return protocol.MainSession
	}
	return session
}
