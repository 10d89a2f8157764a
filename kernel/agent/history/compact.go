package history

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/protocol"
)

// Compactor makes summaries of the beginnings of conversations, one at a time for each conversation.
// The model that answers in the conversation makes them, the first of a cascade; if it fails there is
// no summary. A summary ends with a turn and is committed whole or not at all. Later turns are not
// changed. All fields but Notify are required.
type Compactor struct {
	Past     Past
	Provider llm.Provider
	// Window and Model are as in the agent's configuration.
	Window func(ctx context.Context, model string, ask bool) llm.Window
	Model  func() string
	// SummaryModel returns the model that makes the notes; "" for the conversation's own.
	SummaryModel func() string
	// Hide removes from a text what no model may see.
	Hide   func(string) string
	Logger *slog.Logger
	// Notify sends the state of a summary to the clients of a session; nil for nobody.
	Notify func(ctx context.Context, state protocol.SessionCompacted)

	once    sync.Once
	jobs    chan *job
	mu      sync.Mutex
	running map[string]*job
	failed  map[string]time.Time // by session: when Start may begin the next summary
}

// job is one summary being made.
type job struct {
	session string
	by      journal.CompactionBy
	context context.Context // ends when a person stops the job
	stop    context.CancelFunc
	done    chan struct{} // closed when result and err are set
	result  protocol.SessionCompacted
	err     error
}

const (
	jobsLimit    = 1000 // waiting jobs
	parallelJobs = 2
	jobTimeout   = 10 * time.Minute
	retryDelay   = 10 * time.Minute // after a failure, before Start begins another summary
	passLimit    = 8                // requests for one summary; the next summary takes the rest
)

// ErrNothing is the error for a conversation without turns to summarise.
var ErrNothing = errors.New("there is nothing to summarise")

// ErrStopped is the error of a summary that a person stopped.
var ErrStopped = errors.New("the summary was stopped: nothing has changed")

// queue returns the channel of waiting jobs.
func (c *Compactor) queue() chan *job {
	c.once.Do(func() {
		c.jobs, c.running, c.failed = make(chan *job, jobsLimit), map[string]*job{}, map[string]time.Time{}
	})
	return c.jobs
}

// Run makes summaries until ctx ends. It returns when all of them have ended.
func (c *Compactor) Run(ctx context.Context) {
	var work sync.WaitGroup
	defer work.Wait()
	slots := make(chan struct{}, parallelJobs)
	for {
		select {
		case <-ctx.Done():
			return
		case j := <-c.queue():
			select {
			case <-ctx.Done():
				return
			case slots <- struct{}{}:
			}
			work.Go(func() {
				defer func() { <-slots }()
				c.runJob(ctx, j)
			})
		}
	}
}

// Start begins a summary in the background, unless one is running or failed a short while ago.
func (c *Compactor) Start(session string) {
	c.queue()
	c.mu.Lock()
	again := c.failed[session]
	c.mu.Unlock()
	if time.Now().After(again) {
		c.startJob(session, journal.CompactionBySummary)
	}
}

// Now makes a summary and returns when it is complete. If one is running, it waits for that one.
func (c *Compactor) Now(ctx context.Context, session string) (protocol.SessionCompacted, error) {
	j := c.startJob(session, journal.CompactionByPerson)
	if j == nil {
		return protocol.SessionCompacted{}, protocol.Errorf(protocol.CodeBusy, "%d conversations wait to be summarised already", jobsLimit)
	}
	select {
	case <-j.done:
		return j.result, j.err
	case <-ctx.Done():
		return protocol.SessionCompacted{}, fmt.Errorf("wait for the summary: %w", context.Cause(ctx))
	}
}

// startJob returns the job of the session; nil if too many wait.
func (c *Compactor) startJob(session string, by journal.CompactionBy) *job {
	jobs := c.queue()
	c.mu.Lock()
	defer c.mu.Unlock()
	if j := c.running[session]; j != nil {
		return j
	}
	j := &job{session: session, by: by, done: make(chan struct{})}
	j.context, j.stop = context.WithCancel(context.Background())
	select {
	case jobs <- j:
		c.running[session] = j
		return j
	default:
		j.stop()
		return nil
	}
}

// Stop ends the running or waiting summary of a session and returns when it has ended. The parts of
// a very long summary that were committed before stay. Start begins no other for a while.
func (c *Compactor) Stop(ctx context.Context, session string) (protocol.SessionCompacted, error) {
	c.queue()
	c.mu.Lock()
	j := c.running[session]
	c.mu.Unlock()
	if j == nil {
		return protocol.SessionCompacted{}, protocol.Errorf(protocol.CodeNotFound, "no summary of the conversation %q is being made", session)
	}
	j.stop()
	select {
	case <-j.done:
	case <-ctx.Done():
		return protocol.SessionCompacted{}, fmt.Errorf("wait for the end of the summary: %w", context.Cause(ctx))
	}
	if errors.Is(j.err, ErrStopped) {
		return stopped(session), nil
	}
	return j.result, j.err
}

func stopped(session string) protocol.SessionCompacted {
	return protocol.SessionCompacted{Session: session, State: protocol.CompactingStopped, Text: ErrStopped.Error()}
}

// runJob makes the summary and notifies the clients of its outcome.
func (c *Compactor) runJob(ctx context.Context, j *job) {
	ctx, cancel := context.WithTimeout(ctx, jobTimeout)
	defer cancel()
	defer context.AfterFunc(j.context, cancel)()
	defer j.stop()
	j.result, j.err = c.compact(ctx, j.session, j.by)
	state, nothing := j.result, errors.Is(j.err, ErrNothing)
	switch {
	case j.err == nil || nothing:
	case j.context.Err() != nil:
		j.err, state = ErrStopped, stopped(j.session)
	default:
		state = protocol.SessionCompacted{Session: j.session, State: protocol.CompactingFailed,
			Text: c.Hide(fmt.Sprintf("no summary was made: %v", j.err))}
		if j.by == journal.CompactionBySummary { // else whoever asked for it is told
			c.Logger.Warn("no summary of a conversation", "session", j.session, "err", c.Hide(j.err.Error()))
		}
	}
	c.mu.Lock()
	delete(c.running, j.session)
	if len(c.failed) > jobsLimit {
		clear(c.failed)
	}
	delete(c.failed, j.session)
	if j.err != nil && !nothing { // without turns to summarise, no request was made
		c.failed[j.session] = time.Now().Add(retryDelay)
	}
	c.mu.Unlock()
	close(j.done)
	if !nothing { // clients were not notified of its start
		c.notify(ctx, state)
	}
}

func (c *Compactor) notify(ctx context.Context, state protocol.SessionCompacted) {
	if c.Notify != nil {
		c.Notify(context.WithoutCancel(ctx), state)
	}
}

// Undo takes the last summary back: the one before it counts again. Each further call takes one
// more back, up to the beginning.
func (c *Compactor) Undo(ctx context.Context, session string) (protocol.SessionCompacted, error) {
	compactions, err := c.Past.Journal.Transcripts.Compactions(ctx, session)
	if err != nil {
		return protocol.SessionCompacted{}, err
	}
	if len(compactions) == 0 || compactions[0].Turns == 0 {
		return protocol.SessionCompacted{}, protocol.Errorf(protocol.CodeNotFound, "models are shown all of the conversation %q: there is no summary to take back", session)
	}
	last := compactions[0]
	for last.By != journal.CompactionBySummary && last.By != journal.CompactionByPerson && last.Base != 0 {
		if last, err = c.Past.Journal.Transcripts.Compaction(ctx, last.Base); err != nil {
			return protocol.SessionCompacted{}, err
		}
	}
	var back journal.Compaction // the zero value where there was none
	if last.Base != 0 {
		if back, err = c.Past.Journal.Transcripts.Compaction(ctx, last.Base); err != nil {
			return protocol.SessionCompacted{}, err
		}
	}
	back.By, back.Base = journal.CompactionByUndo, back.Seq
	if _, err := c.Past.Journal.Transcripts.PutCompaction(ctx, session, back, compactions[0].Seq); err != nil {
		return protocol.SessionCompacted{}, fmt.Errorf("take the summary back: %w", err)
	}
	state := protocol.SessionCompacted{Session: session, State: protocol.CompactingUndone, Turns: back.Turns,
		Text: "the last summary was taken back: models are shown again what they were before it"}
	if back.Turns == 0 {
		state.Text = "the summary was taken back: models are shown the whole conversation again, as far as it fits"
	}
	c.notify(ctx, state)
	return state, nil
}
