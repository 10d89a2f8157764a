package tasks_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/sensor/tasks"
)

// errKilled is what everything answers when the kernel is gone.
var errKilled = errors.New("killed")

// home is a home with a file of tasks and a journal, and a clock. One kernel after the other runs in it.
type home struct {
	t    *testing.T
	path string
	j    *journal.Journal
	zone *time.Location
	skew time.Duration // of the clock from that of the bubble
	// work says how long a turn takes and how it ends, the first time that an event is taken.
	work func(event protocol.Event, at time.Time) (time.Duration, protocol.TurnState)

	mu        sync.Mutex
	began     []string // each event that was accepted
	delivered map[string]int
	told      []string // what the owner was told, each id once
	others    []string // the files that the settings name
	tag       string   // and their tag
	// unwritable: no tag can be recorded.
	unwritable bool
	reported   []string
	buffer     string // that Emacs has not saved, "" for none
	looked     int    // how often the clock was asked
}

// newHome returns a home whose clock shows a time.
func newHome(t *testing.T, zone, at, text string) *home {
	t.Helper()
	where, err := time.LoadLocation(zone)
	if err != nil {
		t.Fatal(err)
	}
	h := &home{t: t, path: filepath.Join(t.TempDir(), "tasks.org"), zone: where, delivered: map[string]int{}}
	if h.j, err = journal.Open(t.Context(), filepath.Join(filepath.Dir(h.path), "journal.db")); err != nil {
		t.Fatal(err)
	}
	h.set(at)
	h.write(text)
	return h
}

func (h *home) close() {
	if err := h.j.Close(); err != nil {
		h.t.Error(err)
	}
}

// set sets the clock.
func (h *home) set(at string) {
	h.t.Helper()
	shown, err := time.ParseInLocation("2006-01-02 15:04", at, h.zone)
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
	h.looked++
	return time.Now().Add(h.skew).In(h.zone)
}

func (h *home) write(text string) {
	h.t.Helper()
	if err := os.WriteFile(h.path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}

func (h *home) text() string {
	h.t.Helper()
	content, err := os.ReadFile(h.path)
	if err != nil {
		h.t.Fatal(err)
	}
	return string(content)
}

// events returns what began, as "TITLE at DAY CLOCK", a line each.
func (h *home) events() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return strings.Join(h.began, "\n")
}

// kernel is one run of the sensor. It can be killed between any two steps.
type kernel struct {
	*home
	sensor *tasks.Sensor
	stop   context.CancelFunc
	ended  sync.WaitGroup

	life  sync.Mutex
	steps int // that it takes until it is killed; negative: it is not
	dead  bool
}

// start starts a kernel that dies before a step; 0: it does not.
func (h *home) start(dies int) *kernel {
	h.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	k := &kernel{home: h, stop: stop, steps: dies}
	k.sensor = tasks.New(tasks.Config{
		File: tasks.File{Path: h.path, Editor: k, Changed: func(string) { _ = k.step() }}, Leases: k, Turns: k, Zone: h.zone, Now: h.now,
		Retry: k.retry,
		Report: func(_ string, faults []string) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.reported = append(h.reported, faults...)
		},
		Deliver: func(_ context.Context, l journal.Lease, _ journal.Turn) error {
			if err := k.step(); err != nil {
				return err
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			h.delivered[fmt.Sprint(l.Event(), " ", l.State)] = 1
			return nil
		},
		Tell: func(_ context.Context, id, title, text string) error {
			h.mu.Lock()
			defer h.mu.Unlock()
			if line := id + " " + title + "\n" + text; !slices.Contains(h.told, line) {
				h.told = append(h.told, line)
			}
			return nil
		},
		Others:   func() ([]string, string) { return h.others, h.tag },
		Hold:     h.hold,
		Excluded: func(path string) bool { return strings.Contains(path, "/sessions/") },
		Logger:   slog.New(slog.DiscardHandler),
	})
	k.interrupt()
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

// interrupt ends the turns that the last kernel left, as a kernel that starts does.
func (k *kernel) interrupt() {
	open, err := k.j.Turns.Unfinished(context.Background())
	if err != nil {
		k.t.Fatal(err)
	}
	for _, turn := range open {
		if _, err := k.j.Turns.SetTurn(context.Background(), journal.TurnChange{ID: turn.ID, State: protocol.TurnInterrupted}); err != nil {
			k.t.Fatal(err)
		}
	}
}

// retry has a turn answered again.
func (k *kernel) retry(ctx context.Context, turn journal.Turn) error {
	if err := k.step(); err != nil {
		return err
	}
	again, err := k.j.Turns.Retry(context.Background(), turn.ID, "", nil)
	if err != nil {
		return err
	}
	k.note(again, "again ")
	k.answer(ctx, again)
	return k.step()
}

// note records that a turn begins.
func (k *kernel) note(turn journal.Turn, again string) {
	title, _, _ := strings.Cut(turn.Question.Text, "\n")
	k.mu.Lock()
	defer k.mu.Unlock()
	k.began = append(k.began, fmt.Sprintf("%s %sat %s", title, again, time.Now().Add(k.skew).In(k.zone).Format("Mon 01-02 15:04 -0700")))
}

func (k *kernel) take(ctx context.Context, event protocol.Event) (protocol.EventResult, error) {
	if err := k.step(); err != nil {
		return protocol.EventResult{}, err
	}
	turn, fresh, err := k.j.Turns.Accept(context.Background(), event, "turn-"+event.ID)
	if err != nil {
		return protocol.EventResult{}, err
	}
	if fresh {
		k.note(turn, "")
		k.answer(ctx, turn)
	}
	if err := k.step(); err != nil {
		return protocol.EventResult{}, err
	}
	return protocol.EventResult{Event: turn.Event, Turn: turn.ID, State: turn.State}, nil
}

// answer answers a turn, after some time.
func (k *kernel) answer(ctx context.Context, turn journal.Turn) {
	takes, state := time.Second, protocol.TurnAnswered
	if k.work != nil {
		takes, state = k.work(turn.Question, k.now())
	}
	k.ended.Go(func() {
		select {
		case <-time.After(takes):
		case <-ctx.Done():
			return
		}
		notice := ""
		if state != protocol.TurnAnswered {
			notice = "no model"
		}
		ended, err := k.j.Turns.SetTurn(context.Background(), journal.TurnChange{ID: turn.ID, State: state, Notice: &notice})
		if err != nil {
			k.t.Error(err)
		}
		k.sensor.TurnEnded(ended)
	})
}

// Arm, Lease, SetLease and OpenLeases are the journal's, as long as the kernel lives.
func (k *kernel) Arm(ctx context.Context, all []journal.Armed, at time.Time) (map[string]journal.Armed, error) {
	return k.j.Leases.Arm(context.WithoutCancel(ctx), all, at)
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

func (k *kernel) OpenLeases(ctx context.Context) ([]journal.Lease, error) {
	return k.j.Leases.OpenLeases(context.WithoutCancel(ctx))
}

func (k *kernel) Consents(ctx context.Context) (map[string]journal.Consent, error) {
	return k.j.Leases.Consents(context.WithoutCancel(ctx))
}

func (k *kernel) SetConsent(ctx context.Context, c journal.Consent) error {
	return k.j.Leases.SetConsent(context.WithoutCancel(ctx), c)
}

func (k *kernel) Forget(ctx context.Context, c journal.Consent) error {
	return k.j.Leases.Forget(context.WithoutCancel(ctx), c)
}

func (k *kernel) TurnOfEvent(ctx context.Context, event string) (journal.Turn, error) {
	return k.j.Turns.TurnOfEvent(context.WithoutCancel(ctx), event)
}

// Unsaved and Edit are those of Emacs.
func (k *kernel) Unsaved(context.Context, string) (string, bool, error) {
	return k.buffer, k.buffer != "", k.step()
}

func (k *kernel) Edit(_ context.Context, _, old, new string) error {
	if strings.Count(k.buffer, old) != 1 {
		return errKilled
	}
	k.buffer = strings.Replace(k.buffer, old, new, 1)
	return nil
}

// expect waits until the clock shows a time and compares what began until then.
func (k *kernel) expect(until, want string) {
	k.t.Helper()
	shown, err := time.ParseInLocation("2006-01-02 15:04", until, k.zone)
	if err != nil {
		k.t.Fatal(err)
	}
	time.Sleep(shown.Sub(k.now()))
	synctest.Wait()
	want = strings.Join(strings.Split(want, ", "), "\n")
	if got := k.events(); got != want {
		k.t.Errorf("until %s began\n%s\nnot\n%s", until, got, want)
	}
}
