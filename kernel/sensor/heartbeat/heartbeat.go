// Package heartbeat looks from time to time whether there is anything to do for the person, without being asked.
//
// A [Sensor] beats at planned times within the active hours. Each time it looks at what can be known without a model: the
// checklist in HEARTBEAT.org, the events that wait, and the checks of notes. If there is anything, it reports an event with
// the reasons, which the skill that ships for it hands to a model. If there is nothing, the event is for the skills alone that
// match every heartbeat, and where there is none it is not reported at all. What a turn answers is told to the person, unless it
// is the token alone.
//
// A beat that is reported is leased in the journal before. A kernel that starts again goes on between lease and turn, turn and
// telling. The events that a beat was shown wait until its turns have answered. One beat is at work at a time. Those that come
// while it waits for the person are counted, and one stands for all of them when it has ended.
//
// Ownership: all state belongs to the goroutine of [Sensor.Run]. [Sensor.TurnEnded], [Sensor.Reload], [Sensor.Takes] and [Sensor.Enqueue] may be
// called from any goroutine; the last waits for the disk.
package heartbeat

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/plist"
	"org-agent/kernel/protocol"
	"org-agent/kernel/sensor"

	"github.com/chewxy/sexp"
)

const (
	// Title is the title of the heartbeat among the tasks.
	Title = "Heartbeat"
	// Session is the conversation of all beats.
	Session = "Heartbeat"

	lookAgain   = time.Minute            // the longest time without a look at the clock
	grace       = time.Minute            // how much later than planned a beat is outside the active hours
	coalescing  = 250 * time.Millisecond // how long an urgent event waits for others
	urgentPause = time.Minute            // between beats for urgent events, which notes may report in answer to one
	tellAgain   = time.Minute            // how long a telling waits that failed
)

// Leases are those of the journal.
type Leases interface {
	Lease(ctx context.Context, lease journal.Lease) (journal.Lease, error)
	SetLease(ctx context.Context, lease journal.Lease) error
	OpenBeats(ctx context.Context) ([]journal.Lease, error)
	LeasesOf(ctx context.Context, task string, limit int) ([]journal.Lease, error)
}

// Queue are the events that wait.
type Queue interface {
	Put(ctx context.Context, event journal.QueuedEvent) error
	Waiting(ctx context.Context) ([]journal.QueuedEvent, error)
	Take(ctx context.Context, through int64, at time.Time) error
}

// Turns finds the turn of an event. The error for an unknown event has the code [protocol.CodeNotFound].
type Turns interface {
	TurnOfEvent(ctx context.Context, event string) (journal.Turn, error)
}

// News is something that the person is told, once for its id.
type News struct {
	ID      string
	Session string
	Text    string
	Failed  bool
}

// Config is what a sensor needs. Only Now may be nil.
type Config struct {
	Settings func() config.Heartbeat
	// Checklist returns the path and the text of HEARTBEAT.org. The path is "" if there is no text.
	Checklist func() (path, text string)
	// Checks returns the reasons of the checks of notes for an event; HasChecks reports whether there are checks.
	Checks    func(ctx context.Context, event sexp.List) []string
	HasChecks func() bool
	// HasModel reports whether there is a model to ask, to which the person has agreed.
	HasModel func() bool
	// Matches reports whether a skill is for an event.
	Matches func(ctx context.Context, event protocol.Event) bool
	Leases  Leases
	Queue   Queue
	Turns   Turns
	// Answer returns the answer of a turn, and Tell tells the person something.
	Answer func(ctx context.Context, turn journal.Turn) (string, error)
	Tell   func(ctx context.Context, news News) error
	Now    func() time.Time // nil: time.Now
	Logger *slog.Logger
}

// Sensor is the heartbeat. Make one with [New].
type Sensor struct {
	config  Config
	wake    chan struct{}
	told    chan journal.Lease
	calls   chan func(context.Context)
	stopped chan struct{} // closed when Run has returned
	prefix  string        // of the ids of events

	// What follows belongs to Run.
	take     sensor.Take
	settings config.Heartbeat // for which planned was found
	planned  time.Time        // the next time; zero if there is none
	looked   time.Time        // planned times up to this are over
	open     *journal.Lease   // the beat that is at work, or whose answers are not told; nil if there is none
	telling  bool
	again    time.Time // when telling is tried again
	urgentAt time.Time // when to beat for urgent events; zero if there are none
	urgent   int64     // the last urgent event for which it beats
	lastTime time.Time // of the last beat for urgent events
	leftOut  int       // beats since the open one waits for a person, for all of which one stands when it has ended
	remind   bool      // the person is to be told that it waits
	last     string    // what became of the last beat, for people
}

// New returns the sensor.
func New(c Config) *Sensor {
	if c.Now == nil {
		c.Now = time.Now
	}
	event := journal.Lease{Task: journal.HeartbeatTask, Planned: time.Unix(0, 0)}.Event()
	return &Sensor{
		config: c, wake: make(chan struct{}, 1), told: make(chan journal.Lease), calls: make(chan func(context.Context)), stopped: make(chan struct{}),
		prefix: event[:strings.LastIndex(event, "-")+1], last: "it has not beaten since the kernel started",
	}
}

// Name implements [sensor.Sensor].
func (*Sensor) Name() string { return "heartbeat" }

// TurnEnded tells that a turn has ended.
func (s *Sensor) TurnEnded(turn journal.Turn) {
	if strings.HasPrefix(turn.Event, s.prefix) {
		s.Reload()
	}
}

// Reload has the settings and the events that wait looked at again. It never blocks.
func (s *Sensor) Reload() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// on reports whether the person wants heartbeats: there is a checklist, or a note has a check.
func (s *Sensor) on() bool {
	if s.config.Settings().Off {
		return false
	}
	path, _ := s.config.Checklist()
	return path != "" || s.config.HasChecks()
}

// Takes reports whether an event that no skill is for waits for a heartbeat. None does if nobody wants heartbeats, and what an
// editor reports by itself is not for them either.
func (s *Sensor) Takes(event protocol.Event) bool {
	return event.Sensor != protocol.SensorHeartbeat && event.Route.Kind != protocol.RouteEmacs && s.on()
}

// Enqueue has an event wait for a heartbeat, if it is one that [Sensor.Takes].
func (s *Sensor) Enqueue(ctx context.Context, event protocol.Event) error {
	if !s.Takes(event) {
		return nil
	}
	fields, urgent := "", false
	var rest protocol.Object
	for _, f := range event.Payload {
		if f.Key == "urgent" {
			urgent = f.Value != nil && f.Value != false && f.Value != "" && f.Value != "nil" // a shell has only text
		} else {
			rest = append(rest, f)
		}
	}
	if len(rest) > 0 {
		list, err := plist.Marshal(rest)
		if err != nil {
			return fmt.Errorf("keep the fields of the event: %w", err)
		}
		fields = plist.Print(list)
	}
	err := s.config.Queue.Put(ctx, journal.QueuedEvent{ID: event.ID, Sensor: event.Sensor, Text: event.Text, Fields: fields, Urgent: urgent, Time: s.config.Now()})
	s.Reload()
	return err
}

// Run implements [sensor.Sensor].
func (s *Sensor) Run(ctx context.Context, take sensor.Take) error {
	s.take = take
	defer close(s.stopped)
	var goroutines sync.WaitGroup
	defer goroutines.Wait()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if err := s.recover(ctx); err != nil {
		return err
	}
	s.looked = s.config.Now()
	s.plan(s.looked)
	s.lookForUrgent(ctx)
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.wake:
			s.lookForUrgent(ctx)
		case call := <-s.calls:
			call(ctx)
		case lease := <-s.told:
			s.finishTelling(ctx, lease)
		case <-timer.C:
		}
		s.conclude(ctx)
		s.look(ctx)
		s.tell(ctx, &goroutines)
		s.tellWaiting(ctx, &goroutines)
		timer.Reset(s.wait())
	}
}

// wait returns how long nothing is to be done.
func (s *Sensor) wait() time.Duration {
	wait, now := lookAgain, s.config.Now()
	for _, at := range []time.Time{s.planned, s.urgentAt, s.again} {
		if !at.IsZero() && at.After(now) {
			wait = min(wait, at.Sub(now))
		}
	}
	return max(wait, time.Millisecond)
}

// plan finds the next time anew if the settings or the clock were changed.
func (s *Sensor) plan(now time.Time) {
	settings := s.config.Settings()
	back := now.Before(s.looked)
	if back {
		s.looked = now
	}
	if back || s.planned.IsZero() || settings != s.settings || !s.planned.After(s.looked) {
		s.settings, s.planned = settings, next(settings, s.looked)
	}
}

// look beats if a planned time has come, or for urgent events.
func (s *Sensor) look(ctx context.Context) {
	now := s.config.Now()
	s.plan(now)
	if due := s.planned; !due.IsZero() && !due.After(now) {
		for later := due; !later.IsZero() && !later.After(now) && now.Sub(due) < 24*time.Hour; later = next(s.settings, later) {
			due = later
		}
		s.looked = now
		s.plan(now)
		if now.Sub(due) > grace && !active(s.settings, now) {
			s.note(now, "the time had passed: the machine slept")
		} else {
			s.beat(ctx, due)
		}
	}
	if s.open == nil && !s.urgentAt.IsZero() && !s.urgentAt.After(now) {
		s.urgentAt, s.lastTime = time.Time{}, now
		if !s.beat(ctx, s.moment(ctx)) {
			s.urgentAt = now.Add(urgentPause)
		}
	}
}

// moment returns now as the planned time of a beat that is not planned: the first second from now that no beat had, which a
// kernel before may have had.
func (s *Sensor) moment(ctx context.Context) time.Time {
	const lookedAt = 20
	at := s.config.Now().Truncate(time.Second)
	beats, err := s.config.Leases.LeasesOf(ctx, journal.HeartbeatTask, lookedAt)
	if err != nil {
		s.warn(ctx, "the last beats are not read", err)
	}
	for slices.ContainsFunc(beats, func(l journal.Lease) bool { return l.Planned.Equal(at) }) {
		at = at.Add(time.Second)
	}
	return at
}

// lookForUrgent plans a beat for urgent events that came since the last one, also outside the active hours.
func (s *Sensor) lookForUrgent(ctx context.Context) {
	waiting, err := s.config.Queue.Waiting(ctx)
	if err != nil {
		s.warn(ctx, "the events that wait are not read", err)
		return
	}
	for _, e := range waiting {
		if !e.Urgent || e.Seq <= s.urgent {
			continue
		}
		s.urgent = e.Seq
		if s.urgentAt.IsZero() && !s.config.Settings().Off {
			s.urgentAt = s.config.Now().Add(coalescing)
			if pause := s.lastTime.Add(urgentPause); !s.lastTime.IsZero() && pause.After(s.urgentAt) {
				s.urgentAt = pause
			}
		}
	}
}

func (s *Sensor) warn(ctx context.Context, message string, err error) {
	if ctx.Err() == nil {
		s.config.Logger.Warn(message, "err", err)
	}
}

// note keeps for people what became of a beat.
func (s *Sensor) note(at time.Time, what string) {
	s.last = at.In(s.config.Settings().Zone).Format("15:04") + " " + what
	s.config.Logger.Debug("heartbeat", "result", what)
}

// State is what people are told of the heartbeat.
type State struct {
	On     bool
	Path   string // of the checklist, "" if there is none
	Every  string
	Times  []time.Time    // the next times
	AtWork *journal.Lease // nil if no beat is at work
	Last   string         // what became of the last beat
}

// errStopped is the error of a call when the sensor does not run.
var errStopped = errors.New("the heartbeat has stopped: the log says why")

// do has a function called by the goroutine that owns the state.
func (s *Sensor) do(ctx context.Context, call func(ctx context.Context)) error {
	done := make(chan struct{})
	select {
	case s.calls <- func(ctx context.Context) { call(ctx); close(done) }:
	case <-s.stopped:
		return errStopped
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	<-done
	return nil
}

// State returns the state, with so many of the next times.
func (s *Sensor) State(ctx context.Context, times int) (state State, err error) {
	err = s.do(ctx, func(context.Context) {
		s.plan(s.config.Now())
		state = State{On: s.on(), Every: inWords(s.settings), Last: s.last}
		state.Path, _ = s.config.Checklist()
		for at := s.planned; !at.IsZero() && len(state.Times) < times; at = next(s.settings, at) {
			state.Times = append(state.Times, at)
		}
		if s.open != nil && !s.open.State.Final() {
			lease := *s.open
			state.AtWork = &lease
		}
	})
	return state, err
}

// inWords returns when it beats.
func inWords(b config.Heartbeat) string {
	if b.Off {
		return "off"
	}
	clock := func(d time.Duration) string { return fmt.Sprintf("%02d:%02d", int(d.Hours())%24, int(d.Minutes())%60) }
	every := b.Every.String() // 30m0s, 1h0m0s
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(every, zero) {
			every = every[:len(every)-2]
		}
	}
	if b.To-b.From == 24*time.Hour {
		return "every " + every
	}
	return fmt.Sprintf("every %s %s-%s", every, clock(b.From), clock(b.To))
}

// Begin beats now, also outside the active hours. CodeConflict if there is nothing to do, or if a beat is at work.
func (s *Sensor) Begin(ctx context.Context) (lease journal.Lease, err error) {
	ended := s.do(ctx, func(ctx context.Context) {
		if s.open == nil {
			s.beat(ctx, s.moment(ctx))
		}
		if s.open == nil || s.open.State.Final() {
			err = protocol.Errorf(protocol.CodeConflict, "the heartbeat asked no model: %s", s.last)
			return
		}
		lease = *s.open
	})
	return lease, errors.Join(ended, err)
}
