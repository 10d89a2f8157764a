package heartbeat_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chewxy/sexp"

	"org-agent/kernel/config"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/sensor/heartbeat"
)

// errKilled is what everything answers when the kernel is gone.
var errKilled = errors.New("killed")

// home is a journal with a checklist and a clock. One kernel after the other runs in it.
type home struct {
	t         *testing.T
	j         *journal.Journal
	settings  config.Heartbeat
	list      string             // the checklist, "" for none
	reasons   []string           // of checks
	modelless bool               // there is no model
	every     bool               // a skill is for every heartbeat
	answer    string             // of a model
	state     protocol.TurnState // in which a turn ends
	takes     time.Duration      // that a turn takes
	waits     bool               // meanwhile it waits for a person

	mu     sync.Mutex
	skew   time.Duration // of the clock from that of the bubble
	beats  []string      // each event that was accepted: when, and why
	events []protocol.Event
	told   map[string]string
}

func newHome(t *testing.T, zone, at string) *home {
	t.Helper()
	where, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	beats := config.Settings{}.Beats()
	beats.Zone = where
	h := &home{t: t, settings: beats, answer: "HEARTBEAT_OK", state: protocol.TurnAnswered, takes: time.Second, told: map[string]string{}}
	if h.j, err = journal.Open(t.Context(), filepath.Join(t.TempDir(), "journal.db")); err != nil {
		t.Fatal(err)
	}
	h.set(at)
	return h
}

// bubble runs a test with a clock of its own.
func bubble(t *testing.T, zone, at string, test func(h *home)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := newHome(t, zone, at)
		defer func() { _ = h.j.Close() }()
		test(h)
	})
}

// set sets the clock.
func (h *home) set(at string) {
	h.t.Helper()
	shown, err := time.ParseInLocation("2006-01-02 15:04", at, h.settings.Zone)
	if err != nil {
		h.t.Fatal(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.skew = time.Until(shown)
}

func (h *home) now() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	return time.Now().Add(h.skew).In(h.settings.Zone)
}

// kernel is one run of the sensor. It can be killed between any two steps.
type kernel struct {
	*home
	sensor *heartbeat.Sensor
	stop   context.CancelFunc
	ended  sync.WaitGroup

	life  sync.Mutex
	steps int // that it takes until it is killed; 0: it is not
	dead  bool
}

// start starts a kernel that dies before a step; 0: it does not. The turns that the last one left are interrupted.
func (h *home) start(dies int) *kernel {
	h.t.Helper()
	open, err := h.j.Turns.Unfinished(context.Background())
	if err != nil {
		h.t.Fatal(err)
	}
	for _, turn := range open {
		if _, err := h.j.Turns.SetTurn(context.Background(), journal.TurnChange{ID: turn.ID, State: protocol.TurnInterrupted}); err != nil {
			h.t.Fatal(err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	k := &kernel{home: h, stop: stop, steps: dies}
	k.sensor = heartbeat.New(heartbeat.Config{
		Settings: func() config.Heartbeat { return h.settings },
		Checklist: func() (string, string) {
			if h.list == "" {
				return "", ""
			}
			return "/home/HEARTBEAT.org", h.list
		},
		HasChecks: func() bool { return len(h.reasons) > 0 },
		HasModel:  func() bool { return !h.modelless },
		Checks:    func(context.Context, sexp.List) []string { return h.reasons },
		Matches: func(_ context.Context, event protocol.Event) bool {
			return h.every || event.Payload.Text("reasons") != ""
		},
		Leases: k, Queue: k, Turns: k, Now: h.now, Logger: slog.New(slog.DiscardHandler),
		Answer: func(context.Context, journal.Turn) (string, error) { return h.answer, k.step() },
		Tell: func(_ context.Context, n heartbeat.News) error {
			if err := k.step(); err != nil {
				return err
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			h.told[n.ID] = fmt.Sprint(n.Text, n.Failed)
			return nil
		},
	})
	k.ended.Go(func() {
		if err := k.sensor.Run(ctx, func(_ context.Context, event protocol.Event) (protocol.EventResult, error) { return k.take(ctx, event) }); err != nil && !errors.Is(err, errKilled) {
			h.t.Error(err)
		}
	})
	synctest.Wait()
	return k
}

// end ends the kernel, as a kill does.
func (k *kernel) end() {
	k.life.Lock()
	k.dead = true
	k.life.Unlock()
	k.stop()
	k.ended.Wait()
}

// step counts a step, and fails when the kernel is dead.
func (k *kernel) step() error {
	k.life.Lock()
	defer k.life.Unlock()
	if k.steps > 0 && !k.dead {
		if k.steps--; k.steps == 0 {
			k.dead = true
			k.stop()
		}
	}
	if k.dead {
		return errKilled
	}
	return nil
}

// take accepts an event and answers it after some time.
func (k *kernel) take(ctx context.Context, event protocol.Event) (protocol.EventResult, error) {
	if err := k.step(); err != nil {
		return protocol.EventResult{}, err
	}
	turn, fresh, err := k.j.Turns.Accept(context.Background(), event, "turn-"+event.ID)
	if err != nil {
		return protocol.EventResult{}, err
	}
	if fresh {
		k.mu.Lock()
		k.events = append(k.events, event)
		k.beats = append(k.beats, time.Now().Add(k.skew).In(k.settings.Zone).Format("Mon 15:04 -0700 ")+event.Payload.Text("reasons"))
		k.mu.Unlock()
		if k.waits {
			if _, err := k.j.Turns.SetTurn(context.Background(), journal.TurnChange{ID: turn.ID, State: protocol.TurnWaiting}); err != nil {
				return protocol.EventResult{}, err
			}
		}
		k.ended.Go(func() {
			select {
			case <-time.After(k.takes):
			case <-ctx.Done():
				return
			}
			notice := ""
			if k.state != protocol.TurnAnswered {
				notice = "no model"
			}
			ended, err := k.j.Turns.SetTurn(context.Background(), journal.TurnChange{ID: turn.ID, State: k.state, Notice: &notice})
			if err != nil {
				k.t.Error(err)
			}
			k.sensor.TurnEnded(ended)
		})
	}
	if err := k.step(); err != nil {
		return protocol.EventResult{}, err
	}
	return protocol.EventResult{Event: turn.Event, Turn: turn.ID, State: turn.State}, nil
}

func (k *kernel) Lease(ctx context.Context, l journal.Lease) (journal.Lease, error) {
	if err := k.step(); err != nil {
		return l, err
	}
	l, err := k.j.Leases.Lease(context.WithoutCancel(ctx), l)
	return l, errors.Join(err, k.step())
}

func (k *kernel) SetLease(ctx context.Context, l journal.Lease) error {
	if err := k.step(); err != nil {
		return err
	}
	return errors.Join(k.j.Leases.SetLease(context.WithoutCancel(ctx), l), k.step())
}

func (k *kernel) OpenBeats(ctx context.Context) ([]journal.Lease, error) {
	return k.j.Leases.OpenBeats(context.WithoutCancel(ctx))
}

func (k *kernel) LeasesOf(ctx context.Context, task string, limit int) ([]journal.Lease, error) {
	return k.j.Leases.LeasesOf(context.WithoutCancel(ctx), task, limit)
}

func (k *kernel) Put(ctx context.Context, e journal.QueuedEvent) error {
	return k.j.Queue.Put(context.WithoutCancel(ctx), e)
}

func (k *kernel) Waiting(ctx context.Context) ([]journal.QueuedEvent, error) {
	return k.j.Queue.Waiting(context.WithoutCancel(ctx))
}

func (k *kernel) Take(ctx context.Context, through int64, at time.Time) error {
	if err := k.step(); err != nil {
		return err
	}
	return errors.Join(k.j.Queue.Take(context.WithoutCancel(ctx), through, at), k.step())
}

func (k *kernel) TurnOfEvent(ctx context.Context, event string) (journal.Turn, error) {
	return k.j.Turns.TurnOfEvent(context.WithoutCancel(ctx), event)
}

// until waits until the clock shows a time.
func (h *home) until(at string) {
	h.t.Helper()
	shown, err := time.ParseInLocation("2006-01-02 15:04", at, h.settings.Zone)
	if err != nil {
		h.t.Fatal(err)
	}
	time.Sleep(shown.Sub(h.now()))
	synctest.Wait()
}

// expect waits until the clock shows a time, and compares what began since the last time that it was called.
func (h *home) expect(until, want string) {
	h.t.Helper()
	h.until(until)
	h.mu.Lock()
	defer h.mu.Unlock()
	if got := strings.Join(h.beats, "; "); got != want {
		h.t.Errorf("until %s began\n%s\nnot\n%s", until, got, want)
	}
	h.beats = nil
}

// report has an event wait.
func (k *kernel) report(id, text string, fields ...protocol.Field) bool {
	k.t.Helper()
	event := protocol.Event{ID: id, Sensor: "rain", Text: text, Route: protocol.LocalRoute(protocol.ChannelCLI), Payload: fields}
	if err := k.sensor.Enqueue(context.Background(), event); err != nil {
		k.t.Error(err)
	}
	return k.sensor.Takes(event)
}

// waiting returns the ids of the events that wait.
func (h *home) waiting() (ids string) {
	h.t.Helper()
	all, err := h.j.Queue.Waiting(context.Background())
	if err != nil {
		h.t.Error(err)
	}
	for _, e := range all {
		ids += e.ID + " "
	}
	return ids
}
