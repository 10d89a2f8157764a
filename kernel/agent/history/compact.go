package history

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm"
	"org-agent/kernel/protocol"
)

// Compaction makes summaries of the beginnings of conversations, one at a time for each, by
// the model that answers in the conversation, the first of several, and no other: when that
// fails there is no summary. What is said meanwhile is not touched: a summary goes up to a
// turn, and is committed at once or not at all. All fields but Tell are required.
type Compaction struct {
	Past     Past
	Provider llm.Provider
	// Window and Model are as in the agent's configuration.
	Window func(ctx context.Context, model string, ask bool) llm.Window
	Model  string
	// Summarising is the model that makes the notes; "" for the conversation's own.
	Summarising string
	// Hide takes out of a text what no model may see.
	Hide   func(string) string
	Logger *slog.Logger
	// Tell tells the clients of a session what becomes of it.
	Tell func(ctx context.Context, told protocol.SessionCompacted)

	once    sync.Once
	jobs    chan *job
	mu      sync.Mutex
	running map[string]*job
	failed  map[string]time.Time // by session: when it is tried again by itself
}

// job is one summary being made.
type job struct {
	session string
	by      journal.CompactionBy
	stopped context.Context // ends when a person stops it
	stop    context.CancelFunc
	done    chan struct{} // closed when the following is set
	result  protocol.SessionCompacted
	err     error
}

const (
	jobsLimit  = 1000 // that wait
	atOnce     = 2
	jobTime    = 10 * time.Minute
	failedTime = 10 * time.Minute // before it is tried again by itself
	passes     = 8                // requests for one summary: what is longer is left for the next
)

// ErrNothing: there is nothing to summarise.
var ErrNothing = errors.New("there is nothing to summarise")

// ErrStopped: a person stopped the summary.
var ErrStopped = errors.New("the summary was stopped: nothing has changed")

// queue is where jobs wait.
func (c *Compaction) queue() chan *job {
	c.once.Do(func() {
		c.jobs, c.running, c.failed = make(chan *job, jobsLimit), map[string]*job{}, map[string]time.Time{}
	})
	return c.jobs
}

// Run makes summaries until ctx ends, and returns when none is being made any more.
func (c *Compaction) Run(ctx context.Context) {
	var work sync.WaitGroup
	defer work.Wait()
	slots := make(chan struct{}, atOnce)
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
				c.do(ctx, j)
			})
		}
	}
}

// Start has a summary made in the background, unless one is being made or could not be a
// short while ago.
func (c *Compaction) Start(session string) {
	c.queue()
	c.mu.Lock()
	again := c.failed[session]
	c.mu.Unlock()
	if time.Now().After(again) {
		c.begin(session, journal.CompactionBySummary)
	}
}

// Now has a summary made and returns when it is. One that is being made already is waited for.
func (c *Compaction) Now(ctx context.Context, session string) (protocol.SessionCompacted, error) {
	j := c.begin(session, journal.CompactionByPerson)
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

// begin is the job for the session; nil when too many wait.
func (c *Compaction) begin(session string, by journal.CompactionBy) *job {
	jobs := c.queue()
	c.mu.Lock()
	defer c.mu.Unlock()
	if j := c.running[session]; j != nil {
		return j
	}
	j := &job{session: session, by: by, done: make(chan struct{})}
	j.stopped, j.stop = context.WithCancel(context.Background())
	select {
	case jobs <- j:
		c.running[session] = j
		return j
	default:
		j.stop()
		return nil
	}
}

// Stop ends the summary that is being made of a session, or waits to be, and returns when it
// has ended. Nothing has changed then, unless it was done already, or a part of it: of a very
// long beginning what was noted so far counts. It is not made again by itself for a while.
func (c *Compaction) Stop(ctx context.Context, session string) (protocol.SessionCompacted, error) {
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

// do makes the summary and tells what came of it.
func (c *Compaction) do(ctx context.Context, j *job) {
	ctx, cancel := context.WithTimeout(ctx, jobTime)
	defer cancel()
	defer context.AfterFunc(j.stopped, cancel)()
	defer j.stop()
	j.result, j.err = c.compact(ctx, j.session, j.by)
	told, nothing := j.result, errors.Is(j.err, ErrNothing)
	switch {
	case j.err == nil || nothing:
	case j.stopped.Err() != nil:
		j.err, told = ErrStopped, stopped(j.session)
	default:
		told = protocol.SessionCompacted{Session: j.session, State: protocol.CompactingFailed,
			Text: c.Hide(fmt.Sprintf("no summary was made: %v", j.err))}
		c.Logger.Warn("no summary of a conversation", "session", j.session, "err", c.Hide(j.err.Error()))
	}
	c.mu.Lock()
	delete(c.running, j.session)
	if len(c.failed) > jobsLimit {
		clear(c.failed)
	}
	delete(c.failed, j.session)
	if j.err != nil && !nothing { // that costs nothing to find out again
		c.failed[j.session] = time.Now().Add(failedTime)
	}
	c.mu.Unlock()
	close(j.done)
	if !nothing { // nobody was told that it began
		c.tell(ctx, told)
	}
}

func (c *Compaction) tell(ctx context.Context, told protocol.SessionCompacted) {
	if c.Tell != nil {
		c.Tell(context.WithoutCancel(ctx), told)
	}
}

// run is one summary: what it goes on from and how far it is to go.
type run struct {
	*Compaction
	session string
	model   string // as it is asked for, "" for the standard one
	by      journal.CompactionBy
	base    journal.Compaction // what counts now
	latest  int64
	room    int // of the model, in estimated tokens
	summary Summary
}

// compact summarises all turns but the last ones.
func (c *Compaction) compact(ctx context.Context, session string, by journal.CompactionBy) (result protocol.SessionCompacted, err error) {
	r := &run{Compaction: c, session: session, by: by}
	exchanges, err := r.begin(ctx)
	if err != nil {
		return result, err
	}
	before, until, err := r.upTo(ctx, exchanges)
	if err != nil {
		return result, err
	}
	if until == 0 {
		return result, fmt.Errorf("%w: the last %s of this conversation are shown as they are", ErrNothing, counted(len(exchanges)))
	}
	c.tell(ctx, protocol.SessionCompacted{Session: session, State: protocol.CompactingRunning, Text: "the beginning of the conversation is being summarised"})
	for from, pass := 0, 0; from < until && pass < passes; pass++ {
		next, err := r.pass(ctx, exchanges[from:until])
		if err != nil && from > 0 {
			c.Logger.Warn("a summary ends early", "session", session, "err", c.Hide(err.Error()))
			break // what is done is done
		}
		if err != nil {
			return result, err
		}
		from += next
	}
	after, err := c.Past.Show(ctx, session, "", Room{Tokens: r.room})
	if err != nil {
		return result, err
	}
	result = protocol.SessionCompacted{Session: session, State: protocol.CompactingDone, Turns: r.base.Told, Notes: r.summary.String(),
		Before: before, After: after.Tokens, Room: r.room}
	result.Text = fmt.Sprintf("the first %s are shown to the model as notes: about %d tokens, and %d before", counted(r.base.Told), result.After, result.Before)
	return result, nil
}

// begin finds what counts now and returns the turns that are not summarised.
func (r *run) begin(ctx context.Context) ([]*journal.Exchange, error) {
	var err error
	if r.model, err = r.Past.Journal.SessionModel(ctx, r.session); err != nil {
		return nil, err
	}
	window := r.Window(ctx, r.model, true)
	if window.Silent {
		return nil, errors.New("what answers here is no language model, and can summarise nothing")
	}
	factor, err := r.Past.Journal.Correction(ctx, cmp.Or(r.model, r.Model))
	if err != nil {
		return nil, err
	}
	const system = 3 // a quarter is for what stands before a conversation
	r.room = int(float64(window.Room())/factor) * system / (system + 1)
	exchanges, shown, _, err := r.Past.read(ctx, r.session, "", func(d journal.Compaction) int64 { return d.Summarised })
	if err != nil {
		return nil, err
	}
	r.base, r.latest = shown.Digest, shown.latest
	r.summary, err = ReadSummary(r.base.Summary)
	return exchanges, err
}

// upTo is how many of the turns are to be summarised, and what all of them take now.
func (r *run) upTo(ctx context.Context, exchanges []*journal.Exchange) (before, until int, err error) {
	shown, err := r.Past.Show(ctx, r.session, "", Room{Tokens: r.room})
	if err != nil {
		return 0, 0, err
	}
	low := Room{Tokens: r.room}.low() * 3 / 4 // the notes take some
	if r.by == journal.CompactionByPerson {
		low = min(low, shown.Tokens/4)
	}
	kept := 0
	for until = len(exchanges); until > 0; until-- {
		one, err := r.Past.load(ctx, exchanges[until-1], r.base)
		if err != nil {
			return 0, 0, err
		}
		kept += one.tokens(r.base)
		turns := len(exchanges) - until + 1
		if kept > low && (turns > leastTurns || kept > r.room/2) {
			break
		}
	}
	return shown.Tokens, until, nil
}

// pass summarises as many of the first turns as the model can be shown at once, and commits
// it. It returns how many.
func (r *run) pass(ctx context.Context, exchanges []*journal.Exchange) (int, error) {
	told, turns, err := r.transcript(ctx, exchanges)
	if err != nil {
		return 0, err
	}
	fresh, model, err := r.ask(ctx, told, exchanges[turns-1].Turn)
	if err != nil {
		return 0, err
	}
	if fresh.Own, err = r.own(ctx, exchanges[:turns]); err != nil {
		return 0, err
	}
	summary := r.summary.With(fresh)
	if summary.Tokens() > r.room/6 {
		if short, _, err := r.ask(ctx, condensing(summary), exchanges[turns-1].Turn); err == nil && short.Tokens() < summary.Tokens() {
			short.Closed, short.Own = nil, summary.Own
			summary = short
		}
		summary.Cut(r.room / 6)
	}
	if err := r.commit(ctx, summary, exchanges[turns-1].Seq, turns, model); err != nil {
		return 0, err
	}
	r.summary = summary
	return turns, nil
}

// own reports whether the turns have nothing that others may have written.
func (r *run) own(ctx context.Context, exchanges []*journal.Exchange) (bool, error) {
	for _, e := range exchanges {
		if len(e.Context) > 0 {
			return false, nil
		}
		rounds, err := r.Past.Journal.ToolSteps(ctx, e.AnswerID)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(rounds, func(round journal.ToolStep) bool { return r.Past.outside(round) != "" }) {
			return false, nil
		}
	}
	return true, nil
}

// ask has the model note what there is, and counts what that took for a turn.
func (r *run) ask(ctx context.Context, told, turn string) (Summary, string, error) {
	model := cmp.Or(r.Summarising, r.model)
	request := llm.Request{Model: model, System: r.Hide(instructions), Messages: []llm.Message{{Role: llm.RoleUser, Content: r.Hide(told)}}, FirstOnly: true}
	r.record(ctx, journal.KindModelRequest, request)
	estimate := Tokens(llm.Message{Content: request.System}) + Total(request.Messages)
	reply, err := llm.Collect(r.Provider.Stream(ctx, request))
	r.record(ctx, journal.KindModelReply, map[string]any{"text": r.Hide(reply.Text), "finish": reply.Finish, "model": reply.Model})
	if usage := reply.Usage; usage != nil {
		spent := journal.Spent{Turn: turn, Model: reply.Model, Input: usage.Input, Output: usage.Output, Cached: usage.Cached,
			Reason: usage.Reasoning, Cost: usage.Cost, Estimate: estimate, Asked: cmp.Or(model, r.Model)}
		if err := r.Past.Journal.PutSpent(context.WithoutCancel(ctx), spent); err != nil {
			r.Logger.Error("usage not kept", "err", err)
		}
	}
	if err != nil {
		return Summary{}, "", fmt.Errorf("ask for a summary: %w", err)
	}
	summary := ParseSummary(withoutThoughts(r.Hide(reply.Text)))
	if summary.Empty() {
		return Summary{}, "", errors.New("the model noted nothing")
	}
	return summary, reply.Model, nil
}

// record keeps what was asked and answered. What cannot be kept is logged.
func (r *run) record(ctx context.Context, kind journal.Kind, data any) {
	raw, err := json.Marshal(data)
	if err == nil {
		_, err = r.Past.Journal.Append(context.WithoutCancel(ctx), journal.Entry{Kind: kind, Session: r.session, Data: raw})
	}
	if err != nil {
		r.Logger.Error("journal row not kept", "kind", kind, "err", err)
	}
}

// commit makes the summary count. What was shortened or left out meanwhile stays so; a
// summary that somebody else changed counts, and this one does not.
func (r *run) commit(ctx context.Context, summary Summary, through int64, turns int, model string) error {
	raw, err := json.Marshal(summary)
	if err != nil {
		return fmt.Errorf("write the summary: %w", err)
	}
	const tries = 3
	for try := 0; ; try++ {
		next := r.base
		next.Base, next.By, next.Model, next.Before, next.After = r.latest, r.by, model, 0, 0
		next.Summary, next.Summarised, next.Told = raw, through, r.base.Told+turns
		if next.Through <= through {
			next.Through, next.Turns = through, next.Told
		}
		kept, err := r.Past.Journal.PutCompaction(ctx, r.session, next, r.latest)
		if err == nil {
			r.base, r.latest = kept, kept.Seq
			return nil
		}
		if protocol.ErrorCode(err) != protocol.CodeConflict || try == tries {
			return err
		}
		digests, failed := r.Past.Journal.Compactions(ctx, r.session)
		if failed != nil {
			return failed
		}
		if len(digests) == 0 || digests[0].Summarised != r.base.Summarised || digests[0].By == journal.CompactionByUndo {
			return err
		}
		r.base, r.latest = digests[0], digests[0].Seq
	}
}

// Undo takes the last summary back: what counted before it counts again. It can be taken back
// one after the other, up to the beginning.
func (c *Compaction) Undo(ctx context.Context, session string) (protocol.SessionCompacted, error) {
	digests, err := c.Past.Journal.Compactions(ctx, session)
	if err != nil {
		return protocol.SessionCompacted{}, err
	}
	if len(digests) == 0 || digests[0].Turns == 0 {
		return protocol.SessionCompacted{}, protocol.Errorf(protocol.CodeNotFound, "models are shown all of the conversation %q: there is no summary to take back", session)
	}
	last := digests[0]
	for last.By != journal.CompactionBySummary && last.By != journal.CompactionByPerson && last.Base != 0 {
		if last, err = c.Past.Journal.Compaction(ctx, last.Base); err != nil {
			return protocol.SessionCompacted{}, err
		}
	}
	var back journal.Compaction // the zero value where there was none
	if last.Base != 0 {
		if back, err = c.Past.Journal.Compaction(ctx, last.Base); err != nil {
			return protocol.SessionCompacted{}, err
		}
	}
	back.By, back.Base = journal.CompactionByUndo, back.Seq
	if _, err := c.Past.Journal.PutCompaction(ctx, session, back, digests[0].Seq); err != nil {
		return protocol.SessionCompacted{}, fmt.Errorf("take the summary back: %w", err)
	}
	told := protocol.SessionCompacted{Session: session, State: protocol.CompactingUndone, Turns: back.Turns,
		Text: "the last summary was taken back: models are shown again what they were before it"}
	if back.Turns == 0 {
		told.Text = "the summary was taken back: models are shown the whole conversation again, as far as it fits"
	}
	c.tell(ctx, told)
	return told, nil
}
