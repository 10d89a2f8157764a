// Package tasks wakes the agent when a task of the person's is due. The tasks are in an Org file, see package task. In other
// files of the person's, headings with a tag are tasks as well, each of which is done only after the person armed it:
// that is a consent to its text in its file. When the text is changed the consent is withdrawn, and the person is told. No
// model writes such a heading: its tag is one of [Tags].
//
// A [Sensor] plans with one timer, and looks at the clock again at the latest after a minute, so that it notices when the
// clock was set or the machine slept. A planned time is leased in the journal before anything begins. From then on it is
// done once: a kernel that starts again goes on where the last one ended, between lease and turn, turn and outcome, outcome
// and file.
//
// Ownership: all state belongs to the goroutine of [Sensor.Run]. [Sensor.TurnEnded] may be called from any goroutine and
// never blocks. Blocking: what is written into the file waits for the person's Emacs, in a goroutine of its own that Run
// waits for.
package tasks

import (
	"cmp"
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/sensor"
	"org-agent/kernel/task"
	"org-agent/kernel/watch"
)

const (
	lookAgain = time.Minute // the longest time without a look at the clock
	// grace is how much later than planned a task begins without its time having passed.
	grace = time.Minute
	// atOnce is how many tasks are at work at once, without those that wait for a person.
	atOnce = 16
	// interruptions is how often a turn is answered again that the end of a kernel interrupted.
	interruptions = 20
	// madeUp is how many times that have passed are made up for, of one task.
	madeUp = 100
)

// Leases are those of the journal.
type Leases interface {
	Arm(ctx context.Context, tasks []journal.Armed, at time.Time) (map[string]journal.Armed, error)
	Lease(ctx context.Context, lease journal.Lease) (journal.Lease, error)
	SetLease(ctx context.Context, lease journal.Lease) error
	OpenLeases(ctx context.Context) ([]journal.Lease, error)
	Consents(ctx context.Context) (map[string]journal.Consent, error)
	SetConsent(ctx context.Context, c journal.Consent) error
	Forget(ctx context.Context, c journal.Consent) error
}

// Turns finds the turn of an event. The error for an unknown event has the code [protocol.CodeNotFound].
type Turns interface {
	TurnOfEvent(ctx context.Context, event string) (journal.Turn, error)
}

// Config is what a sensor needs. Logger, Report, Deliver and Tell are required, too.
type Config struct {
	File File
	// Others are the files that are always looked at for tasks, and their tag, "" for [Tag]. nil: there are none.
	Others func() (files []string, tag string)
	// Hold has a tag held in what models write from then on. It is called for the tag of each file that is looked at: before
	// that if an Emacs announces the file, and again with each look. nil: nothing is held.
	Hold func(ctx context.Context, tag string) error
	// Excluded reports whether a file holds no tasks, whoever names it. nil: none.
	Excluded func(path string) bool
	Leases   Leases
	Turns    Turns
	// Zone is where times are read that name none. nil: the machine's.
	Zone *time.Location
	Now  func() time.Time // nil: time.Now
	// Retry has a turn that has ended answered again.
	Retry func(ctx context.Context, turn journal.Turn) error
	// Report tells people what is wrong with the file; no lines when nothing is.
	Report func(name string, faults []string)
	// Deliver tells the owner what came of a task, as far as it is not silent. The same lease is told once, however often it is called.
	Deliver func(ctx context.Context, lease journal.Lease, turn journal.Turn) error
	// Tell tells the owner something, once for each id.
	Tell   func(ctx context.Context, id, title, text string) error
	Logger *slog.Logger
}

// Sensor is the sensor of one file. Make one with [New].
type Sensor struct {
	config  Config
	change  chan struct{}
	wake    chan struct{}
	settled chan journal.Lease
	calls   chan func(context.Context)
	stopped chan struct{} // closed when Run has returned

	earliest atomic.Int64 // when the next task is due, in Unix time; 0 if none is

	mu    sync.Mutex
	ended []journal.Turn

	// What follows belongs to Run.
	take     sensor.Take
	tasks    []*watched
	byID     map[string]*watched
	sources  *sources
	renamed  map[string]string // the present names of tasks that were renamed while they were at work
	open     []*journal.Lease  // not settled, in the order in which they began
	settling bool
	again    map[int64]time.Time // when to try again to write an outcome
	looked   time.Time           // when what is due began last
	stale    bool                // the tasks are to be planned anew, whatever was read
	loaded   bool
}

// watched is a task, and when it is due.
type watched struct {
	task.Task
	file    string
	arming  Arming
	since   time.Time
	last    journal.Lease // zero if there is none
	refused time.Time     // a planned time that the journal did not lease again
	next    time.Time     // zero if there is none
	waited  bool          // next came while the task was at work
}

// New returns the sensor.
func New(c Config) *Sensor {
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Zone == nil {
		c.Zone = time.Local
	}
	s := &Sensor{
		config: c, change: make(chan struct{}, 1), wake: make(chan struct{}, 1), settled: make(chan journal.Lease),
		calls: make(chan func(context.Context)), stopped: make(chan struct{}),
		byID: map[string]*watched{}, renamed: map[string]string{}, again: map[int64]time.Time{},
		sources: newSources(c),
	}
	s.earliest.Store(1)
	return s
}

// Name implements [sensor.Sensor].
func (*Sensor) Name() string { return "tasks" }

// TurnEnded tells that a turn has ended.
func (s *Sensor) TurnEnded(turn journal.Turn) {
	if !strings.HasPrefix(turn.Event, "task-") {
		return
	}
	s.mu.Lock()
	s.ended = append(s.ended, turn)
	s.mu.Unlock()
	signal(s.wake)
}

func signal(to chan struct{}) {
	select {
	case to <- struct{}{}:
	default:
	}
}

// Follow tells the sensor when one of its files changes, until ctx ends. An error means that changes are no longer seen.
func (s *Sensor) Follow(ctx context.Context, watcher *watch.Watcher) error {
	path := s.config.File.Path
	w := watch.Watch{
		Of: "the tasks", Above: filepath.Dir(path), Quiet: 50 * time.Millisecond, MaxDelay: 500 * time.Millisecond, Logger: s.config.Logger, Watcher: watcher,
		Directories: s.sources.directories, Again: s.sources.renewed,
		Concerns: s.sources.concerns,
		CatchUp:  func(context.Context) time.Duration { s.Reload(); return 0 },
	}
	return w.Follow(ctx)
}

// DueWithin reports whether a task is due within a time from now, or its outcome is to be written. It may be called from
// any goroutine. Before the tasks are read, one is.
func (s *Sensor) DueWithin(within time.Duration) bool {
	earliest := s.earliest.Load()
	return earliest != 0 && !time.Unix(earliest, 0).After(s.config.Now().Add(within))
}

// Reload has the file read again. It never blocks.
func (s *Sensor) Reload() { signal(s.change) }

// Run implements [sensor.Sensor].
func (s *Sensor) Run(ctx context.Context, take sensor.Take) error {
	s.take = take
	defer close(s.stopped)
	defer s.earliest.Store(0)
	var goroutines sync.WaitGroup
	defer goroutines.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	open, err := s.config.Leases.OpenLeases(ctx)
	if err != nil {
		return err
	}
	for _, lease := range open {
		s.open = append(s.open, &lease)
	}
	s.load(ctx)
	if err := s.recoverLeases(ctx); err != nil {
		return err
	}
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.change:
			s.load(ctx)
		case <-s.wake:
			s.takeEnded(ctx)
		case call := <-s.calls:
			call(ctx)
		case lease := <-s.settled:
			s.finishSettling(ctx, lease)
		case <-timer.C:
			if s.stale {
				s.load(ctx)
			}
		}
		s.begin(ctx)
		s.settle(ctx, &goroutines)
		s.note()
		if wait, waits := s.wait(); waits {
			timer.Reset(wait)
		} else {
			timer.Stop()
		}
	}
}

// note notes when the next task is due, for [Sensor.DueWithin]. A turn that goes on or waits for a person is that of its
// conversation.
func (s *Sensor) note() {
	var earliest time.Time
	consider := func(at time.Time) {
		if !at.IsZero() && (earliest.IsZero() || at.Before(earliest)) {
			earliest = at
		}
	}
	for _, w := range s.tasks {
		consider(w.next)
	}
	for _, l := range s.open {
		if l.State != journal.LeaseRunning {
			consider(l.At)
		}
	}
	if earliest.IsZero() {
		s.earliest.Store(0)
		return
	}
	s.earliest.Store(max(earliest.Unix(), 1))
}

// wait returns how long nothing is to be done. waits is false if nothing is planned at all. What is due already waits for
// something else, and is looked at again with everything that happens.
func (s *Sensor) wait() (wait time.Duration, waits bool) {
	wait = lookAgain
	now := s.config.Now()
	consider := func(at time.Time) {
		if at.IsZero() {
			return
		}
		waits = true
		if at.After(s.looked) {
			wait = min(wait, max(at.Sub(now), time.Millisecond))
		}
	}
	if s.stale {
		consider(now.Add(unsettled))
	}
	for _, w := range s.tasks {
		consider(w.next)
	}
	for _, l := range s.open {
		if l.State == journal.LeaseRetry {
			consider(l.At)
		}
		consider(s.again[l.Seq])
	}
	return wait, waits || len(s.open) > 0
}

// load reads the files and plans their tasks anew.
func (s *Sensor) load(ctx context.Context) {
	consents, err := s.config.Leases.Consents(ctx)
	if err != nil {
		s.notPlanned(err)
		return
	}
	changed := s.sources.look(consents)
	s.sources.hold(ctx)
	if s.loaded && !changed && !s.stale {
		return
	}
	tasks := s.sources.all[0]
	if tasks.file == nil || tasks.fault != "" {
		s.sources.report()
		return
	}
	wanted := make([]journal.Armed, len(tasks.file.Tasks))
	for i, t := range tasks.file.Tasks {
		wanted[i] = journal.Armed{Task: t.ID, Rule: t.When}
	}
	armed, err := s.config.Leases.Arm(ctx, wanted, s.config.Now())
	if err != nil {
		s.notPlanned(err)
		return
	}
	s.loaded, s.stale = true, false
	s.findRenamed(tasks.file.Tasks, armed)
	all := make([]*watched, 0, len(tasks.file.Tasks))
	for _, t := range tasks.file.Tasks {
		all = append(all, &watched{Task: t, file: tasks.path, since: armed[t.ID].Since, last: armed[t.ID].Last})
	}
	s.replace(append(all, s.others(ctx, consents)...))
	s.sources.report()
}

// notPlanned tells that the journal does not answer.
func (s *Sensor) notPlanned(err error) {
	s.config.Logger.Error("the tasks are not planned", "err", err)
	s.config.Report(filepath.Base(s.config.File.Path), []string{"the tasks are not planned: " + err.Error()})
	s.sources.reported[s.config.File.Path] = true
}

// replace puts tasks into the place of those that there were, and plans them. Of two that are the same the first one is
// taken.
func (s *Sensor) replace(all []*watched) {
	before := s.byID
	s.tasks, s.byID = make([]*watched, 0, len(all)), make(map[string]*watched, len(all))
	now := s.config.Now()
	for _, w := range all {
		if other := s.byID[w.ID]; other != nil {
			s.sources.of(w.file).twice(w, other)
			continue
		}
		former := before[w.ID]
		if former != nil {
			w.refused = former.refused
		}
		w.plan(now)
		w.waited = former != nil && former.waited && former.next.Equal(w.next)
		s.tasks, s.byID[w.ID] = append(s.tasks, w), w
	}
}

// recoverLeases goes on with what the last kernel left.
func (s *Sensor) recoverLeases(ctx context.Context) error {
	for _, l := range s.open {
		if l.State.Final() {
			continue
		}
		turn, err := s.config.Turns.TurnOfEvent(ctx, l.Event())
		switch {
		case err == nil && !turn.State.Final():
			l.State = journal.LeaseRunning
		case err == nil && (l.State != journal.LeaseRetry || turn.State == protocol.TurnAnswered):
			s.concluded(ctx, l, turn)
		case err != nil && protocol.ErrorCode(err) != protocol.CodeNotFound:
			return err
		case l.State != journal.LeaseRetry:
			s.start(ctx, l)
		}
	}
	return nil
}

// atWork returns the leases of a task that have not come to their end.
func (s *Sensor) atWork(id string) (count int) {
	for _, l := range s.open {
		if s.heading(l) == id && !l.State.Final() {
			count++
		}
	}
	return count
}

// room returns how many tasks can begin now.
func (s *Sensor) room(ctx context.Context) int {
	var busy []*journal.Lease
	for _, l := range s.open {
		if l.State == journal.LeaseTaken || l.State == journal.LeaseRunning {
			busy = append(busy, l)
		}
	}
	if len(busy) < atOnce {
		return atOnce - len(busy)
	}
	busy = slices.DeleteFunc(busy, func(l *journal.Lease) bool {
		turn, err := s.config.Turns.TurnOfEvent(ctx, l.Event())
		return err == nil && turn.State == protocol.TurnWaiting
	})
	return max(atOnce-len(busy), 0)
}

// due returns the tasks and the attempts that are due, the longest due first.
func (s *Sensor) due(now time.Time) (tasks []*watched, retries []*journal.Lease) {
	for _, w := range s.tasks {
		if !w.next.IsZero() && !w.next.After(now) {
			tasks = append(tasks, w)
		}
	}
	for _, l := range s.open {
		if l.State == journal.LeaseRetry && !l.At.After(now) {
			retries = append(retries, l)
		}
	}
	slices.SortStableFunc(tasks, func(a, b *watched) int { return a.next.Compare(b.next) })
	slices.SortStableFunc(retries, func(a, b *journal.Lease) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Seq, b.Seq)) })
	return tasks, retries
}
