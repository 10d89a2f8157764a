// Package tasks wakes the agent when a task of the person's is due. The tasks are in an Org file, see package task.
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
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/org"
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
}

// Turns finds the turn of an event. The error for an unknown event has the code [protocol.CodeNotFound].
type Turns interface {
	TurnOfEvent(ctx context.Context, event string) (journal.Turn, error)
}

// Config is what a sensor needs. Logger, Report and Deliver are required, too.
type Config struct {
	File   File
	Leases Leases
	Turns  Turns
	// Zone is where times are read that name none. nil: the machine's.
	Zone *time.Location
	Now  func() time.Time // nil: time.Now
	// Retry has a turn that has ended answered again.
	Retry func(ctx context.Context, turn journal.Turn) error
	// Report tells people what is wrong with the file; no lines when nothing is.
	Report func(name string, faults []string)
	// Deliver tells the owner what came of a task, as far as it is not silent. The same lease is told once, however often it is called.
	Deliver func(ctx context.Context, lease journal.Lease, turn journal.Turn) error
	Logger  *slog.Logger
}

// Sensor is the sensor of one file. Make one with [New].
type Sensor struct {
	config  Config
	change  chan struct{}
	wake    chan struct{}
	settled chan journal.Lease
	calls   chan func(context.Context)
	stopped chan struct{} // closed when Run has returned

	mu    sync.Mutex
	ended []journal.Turn

	// What follows belongs to Run.
	take     sensor.Take
	tasks    []*watched
	byID     map[string]*watched
	faults   []org.Diagnostic  // of the file
	renamed  map[string]string // the present names of tasks that were renamed while they were at work
	open     []*journal.Lease  // not settled, in the order in which they began
	settling bool
	again    map[int64]time.Time // when to try again to write an outcome
	looked   time.Time           // when what is due began last
	read     string              // the text of the file that was read last
	loaded   bool
}

// watched is a task, and when it is due.
type watched struct {
	task.Task
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
	return &Sensor{
		config: c, change: make(chan struct{}, 1), wake: make(chan struct{}, 1), settled: make(chan journal.Lease),
		calls: make(chan func(context.Context)), stopped: make(chan struct{}),
		byID: map[string]*watched{}, renamed: map[string]string{}, again: map[int64]time.Time{},
	}
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

// Follow tells the sensor when the file changes, until ctx ends. An error means that changes are no longer seen.
func (s *Sensor) Follow(ctx context.Context, watcher *watch.Watcher) error {
	path := s.config.File.Path
	w := watch.Watch{
		Of: "the tasks", Above: filepath.Dir(path), Quiet: 50 * time.Millisecond, MaxDelay: 500 * time.Millisecond, Logger: s.config.Logger, Watcher: watcher,
		Directories: func() []string { return nil },
		Concerns:    func(changed string) bool { return changed == path },
		CatchUp:     func(context.Context) time.Duration { s.Reload(); return 0 },
	}
	return w.Follow(ctx)
}

// Reload has the file read again. It never blocks.
func (s *Sensor) Reload() { signal(s.change) }

// Run implements [sensor.Sensor].
func (s *Sensor) Run(ctx context.Context, take sensor.Take) error {
	s.take = take
	defer close(s.stopped)
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
		}
		s.begin(ctx)
		s.settle(ctx, &goroutines)
		if wait, waits := s.wait(); waits {
			timer.Reset(wait)
		} else {
			timer.Stop()
		}
	}
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

// load reads the file and plans its tasks anew.
func (s *Sensor) load(ctx context.Context) {
	text, err := s.config.File.read()
	if err != nil {
		s.config.Logger.Warn("the tasks cannot be read", "err", err)
		s.config.Report(filepath.Base(s.config.File.Path), []string{err.Error()})
		return
	}
	if s.loaded && text == s.read {
		return
	}
	f := task.Read(task.Source{Path: s.config.File.Path, Text: text, Zone: s.config.Zone})
	wanted := make([]journal.Armed, len(f.Tasks))
	for i, t := range f.Tasks {
		wanted[i] = journal.Armed{Task: t.ID, Rule: t.When}
	}
	armed, err := s.config.Leases.Arm(ctx, wanted, s.config.Now())
	if err != nil {
		s.config.Logger.Error("the tasks are not planned", "err", err)
		s.config.Report(filepath.Base(s.config.File.Path), []string{"the tasks are not planned: " + err.Error()})
		return
	}
	s.loaded, s.read = true, text
	s.findRenamed(f.Tasks, armed)
	before := s.byID
	s.tasks, s.byID = make([]*watched, len(f.Tasks)), make(map[string]*watched, len(f.Tasks))
	now := s.config.Now()
	for i, t := range f.Tasks {
		w := &watched{Task: t, since: armed[t.ID].Since, last: armed[t.ID].Last}
		if former := before[t.ID]; former != nil {
			w.refused = former.refused
			w.plan(now)
			w.waited = former.waited && former.next.Equal(w.next)
		} else {
			w.plan(now)
		}
		s.tasks[i], s.byID[t.ID] = w, w
	}
	s.faults = f.Faults
	s.report(f.Faults)
}

// report tells what is wrong with the file.
func (s *Sensor) report(found []org.Diagnostic) {
	lines := make([]string, len(found))
	for i, d := range found {
		lines[i] = s.config.File.Path + ":" + d.String()
	}
	s.config.Report(filepath.Base(s.config.File.Path), lines)
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
