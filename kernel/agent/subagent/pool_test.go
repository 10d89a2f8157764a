package subagent_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"org-agent/kernel/act"
	"org-agent/kernel/action"
	"org-agent/kernel/agent/subagent"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// kernel is a pool over real conversations in a real journal. Only the answers are simulated: a turn of
// a person's message runs until the test ends it, a function answers a subagent's task, and reports are
// recorded.
type kernel struct {
	*session.Sessions
	t          *testing.T
	journal    *journal.Journal
	pool       *subagent.Pool
	work       func(ctx context.Context, task string) (answer string)
	turns      chan journal.Turn // messages that are being answered
	answered   chan struct{}     // closed when they are to end
	ids        atomic.Int64
	stopAll    func()
	mu         sync.Mutex
	reports    []protocol.Event
	begun      []string
	atWork     int
	mostAtOnce int
}

func start(t *testing.T, directory string, limit int, work func(ctx context.Context, task string) string) *kernel {
	t.Helper()
	j, err := journal.Open(t.Context(), filepath.Join(directory, "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	k := &kernel{t: t, journal: j, work: work, turns: make(chan journal.Turn, 1), answered: make(chan struct{})}
	began := time.Now().UnixNano()
	newID := func() string { return fmt.Sprintf("id-%d-%d", began, k.ids.Add(1)) }
	log := slog.New(slog.DiscardHandler)
	k.Sessions = session.New(session.Config{
		Journal: session.Journal{Turns: j.Turns, Acts: j.Acts, Sessions: j.Sessions, Asks: j.Asks, Usage: j.Usage, Search: j.Search},
		Runner:  k, Directory: filepath.Join(directory, "sessions"), NewID: newID, Logger: log, InsertionAct: act.Insertion,
		OnTurnEnd: func(turn journal.Turn) { k.pool.TurnEnded(context.Background(), turn) },
	})
	k.pool = subagent.New(subagent.Config{
		Journal:  subagent.Journal{Subagents: j.Subagents, Acts: j.Acts, Turns: j.Turns},
		Sessions: k.Sessions, Limit: limit, Reads: func(action.Action) bool { return true }, Logger: log, NewID: newID,
	})
	return k
}

// run runs the pool until the kernel is closed.
func (k *kernel) run() {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); k.pool.Run(ctx) }()
	k.stopAll = func() { stop(); <-done }
}

// close ends the kernel in order.
func (k *kernel) close() {
	k.t.Helper()
	if k.stopAll != nil {
		k.stopAll()
	}
	k.Sessions.Close()
	if err := k.journal.Close(); err != nil {
		k.t.Error(err)
	}
}

// Run implements [session.Runner].
func (k *kernel) Run(ctx context.Context, t *session.Turn) session.Outcome {
	question := t.Record.Question
	answer := "told"
	switch question.Sensor {
	case protocol.SensorReport:
		k.mu.Lock()
		k.reports = append(k.reports, question)
		k.mu.Unlock()
	case protocol.SensorSubagent:
		k.mu.Lock()
		k.begun = append(k.begun, question.Text)
		k.atWork++
		k.mostAtOnce = max(k.mostAtOnce, k.atWork)
		k.mu.Unlock()
		answer = k.work(ctx, question.Text)
		k.mu.Lock()
		k.atWork--
		k.mu.Unlock()
	default:
		k.turns <- t.Record
		select {
		case <-k.answered:
		case <-ctx.Done():
		}
	}
	switch context.Cause(ctx) {
	case nil:
	case session.ErrCancelled:
		return session.Outcome{State: protocol.TurnCancelled}
	default:
		return session.Outcome{State: protocol.TurnInterrupted}
	}
	if err := t.Insert(ctx, "(:type :response)", answer); err != nil {
		return session.Outcome{State: protocol.TurnFailed, Notice: err.Error()}
	}
	return session.Outcome{State: protocol.TurnAnswered}
}

// ask begins the turn of a person's message. It runs until answered is closed.
func (k *kernel) ask(id string) journal.Turn {
	k.t.Helper()
	if _, err := k.Submit(k.t.Context(), protocol.Event{ID: id, Session: "main", Sensor: protocol.SensorChatMessage, Route: protocol.LocalRoute(protocol.ChannelEmacs), Text: "do it", Level: 1}); err != nil {
		k.t.Fatal(err)
	}
	return <-k.turns
}

// spawn starts a subagent for the turn.
func (k *kernel) spawn(turn journal.Turn, task string, wait bool) string {
	k.t.Helper()
	s := journal.Subagent{ID: "s-" + task, Session: turn.Session, Turn: turn.ID, Event: turn.Event, Conversation: "main." + task, Label: task, Task: task, Skill: "chat", Wait: wait, Route: turn.Question.Route}
	if err := k.pool.Start(k.t.Context(), s); err != nil {
		k.t.Fatal(err)
	}
	return s.ID
}

// spawnSix starts six subagents, whose tasks are task-0 to task-5.
func (k *kernel) spawnSix(turn journal.Turn) (ids []string) {
	k.t.Helper()
	for i := range 6 {
		ids = append(ids, k.spawn(turn, fmt.Sprint("task-", i), false))
	}
	return ids
}

func (k *kernel) state(id string) protocol.SubagentState {
	k.t.Helper()
	o, err := k.pool.Outcome(k.t.Context(), id)
	if err != nil {
		k.t.Fatal(err)
	}
	return o.State
}

func (k *kernel) reported() []protocol.Event {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Clone(k.reports)
}

func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited a minute for %s", what)
		}
	}
}

func echo(_ context.Context, task string) string { return "done: " + task }

// TestOtherLimit: a higher limit starts those that wait, and with 0 no turn starts one, while those that
// were accepted are done.
func TestOtherLimit(t *testing.T) {
	release := make(chan struct{})
	k := start(t, t.TempDir(), 1, func(_ context.Context, task string) string { <-release; return task })
	defer k.close()
	k.run()
	turn := k.ask("q")
	ids := k.spawnSix(turn)
	atWork := func() int { k.mu.Lock(); defer k.mu.Unlock(); return k.atWork }
	until(t, "one to be at work", func() bool { return atWork() == 1 })
	k.pool.SetLimit(3)
	until(t, "three to be at work", func() bool { return atWork() == 3 })
	k.pool.SetLimit(0)
	if err := k.pool.Start(t.Context(), journal.Subagent{ID: "refused", Session: turn.Session, Turn: turn.ID}); err == nil || !strings.Contains(err.Error(), "SUBAGENTS off") {
		t.Errorf("with 0 one more: %v", err)
	}
	close(release)
	for _, id := range ids {
		until(t, "all to be done", func() bool { return k.state(id) == protocol.SubagentDone })
	}
	if k.mostAtOnce != 3 {
		t.Errorf("%d were at work at once", k.mostAtOnce)
	}
	close(k.answered)
}

// TestLimit: no more subagents run at once than the limit, they start in the order of the calls, and
// each ends.
func TestLimit(t *testing.T) {
	release := make(chan struct{})
	k := start(t, t.TempDir(), 2, func(_ context.Context, task string) string { <-release; return task })
	defer k.close()
	k.run()
	turn := k.ask("q")
	ids := k.spawnSix(turn)
	until(t, "two to be at work", func() bool { k.mu.Lock(); defer k.mu.Unlock(); return k.atWork == 2 })
	if got := k.state(ids[5]); got != protocol.SubagentQueued {
		t.Errorf("the last is %s while two are at work", got)
	}
	close(release)
	for _, id := range ids {
		until(t, "all to be done", func() bool { return k.state(id) == protocol.SubagentDone })
	}
	if k.mostAtOnce != 2 {
		t.Errorf("%d were at work at once", k.mostAtOnce)
	}
	rows, err := k.journal.Records.Entries(t.Context(), journal.Query{Kinds: []journal.Kind{journal.KindEvent}})
	if err != nil {
		t.Fatal(err)
	}
	var began []string
	for _, row := range rows {
		if slices.Contains(ids, row.ID) {
			began = append(began, row.ID)
		}
	}
	if !slices.Equal(began, ids) {
		t.Errorf("they began as %v", began)
	}
	close(k.answered)
}

// TestAwait: a call that waits gets the findings, and no event reports them again.
func TestAwait(t *testing.T) {
	k := start(t, t.TempDir(), 1, echo)
	defer k.close()
	k.run()
	outcome, err := k.pool.Await(t.Context(), k.spawn(k.ask("q"), "look", true))
	if err != nil || outcome.State != protocol.SubagentDone || outcome.Findings != "done: look" {
		t.Fatalf("it ended as %+v, %v", outcome, err)
	}
	close(k.answered)
	list, err := k.pool.List(t.Context(), "main")
	if err != nil || len(list) != 1 || list[0].State != protocol.SubagentDone {
		t.Errorf("listed are %+v, %v", list, err)
	}
	if unreported, err := k.journal.Subagents.Unreported(t.Context()); err != nil || len(unreported) > 0 || len(k.reported()) > 0 {
		t.Errorf("untold are %v, %v, and told %v", unreported, err, k.reported())
	}
}

// TestReport: one event reports the subagents that end together, once, with their findings.
func TestReport(t *testing.T) {
	release := make(chan struct{})
	k := start(t, t.TempDir(), 4, func(_ context.Context, task string) string { <-release; return "done: " + task })
	defer k.close()
	k.run()
	turn := k.ask("q")
	ids := []string{k.spawn(turn, "one", false), k.spawn(turn, "two", false)}
	close(k.answered)
	until(t, "both to be at work", func() bool { k.mu.Lock(); defer k.mu.Unlock(); return k.atWork == 2 })
	close(release)
	until(t, "a report", func() bool { return len(k.reported()) > 0 })
	var found strings.Builder
	for _, report := range k.reported() {
		items, err := k.journal.Turns.Context(t.Context(), report.ID)
		if err != nil {
			t.Fatal(err)
		}
		for _, item := range items {
			found.WriteString(item.Text + "\n")
		}
	}
	if got := found.String(); strings.Count(got, "done: one") != 1 || strings.Count(got, "done: two") != 1 || len(k.reported()) > 1 {
		t.Errorf("told of were %+v", k.reported())
	}
	for _, id := range ids {
		if s, err := k.journal.Subagents.Subagent(t.Context(), id); err != nil || s.Reported != k.reported()[0].ID {
			t.Errorf("the journal has of %s: %+v, %v", id, s, err)
		}
	}
}

// TestCancel: a queued subagent never starts, a running one is stopped, and no event reports either.
func TestCancel(t *testing.T) {
	k := start(t, t.TempDir(), 1, func(ctx context.Context, task string) string { <-ctx.Done(); return task })
	defer k.close()
	k.run()
	turn := k.ask("q")
	working, waiting := k.spawn(turn, "working", false), k.spawn(turn, "waiting", false)
	until(t, "one to be at work", func() bool { k.mu.Lock(); defer k.mu.Unlock(); return k.atWork == 1 })
	if stopped, err := k.pool.Cancel(t.Context(), "other", ""); stopped != 0 || err != nil {
		t.Errorf("another conversation stops %d, %v", stopped, err)
	}
	if stopped, err := k.pool.Cancel(t.Context(), "main", turn.ID); stopped != 2 || err != nil {
		t.Errorf("stopped are %d, %v", stopped, err)
	}
	for _, id := range []string{working, waiting} {
		until(t, "both to be stopped", func() bool { return k.state(id) == protocol.SubagentCancelled })
	}
	if stopped, err := k.pool.Cancel(t.Context(), "main", ""); stopped != 0 || err != nil {
		t.Errorf("a second time stops %d, %v", stopped, err)
	}
	close(k.answered)
	if slices.Contains(k.begun, "waiting") || len(k.reported()) > 0 {
		t.Errorf("begun are %v, told of %v", k.begun, k.reported())
	}
}

// TestRecover: the next kernel starts the queued subagents, repeats those that only read, and reports
// those that have ended.
func TestRecover(t *testing.T) {
	directory := t.TempDir()
	first := start(t, directory, 1, func(ctx context.Context, task string) string { <-ctx.Done(); return task })
	first.run()
	turn := first.ask("q")
	working, waiting := first.spawn(turn, "working", false), first.spawn(turn, "waiting", true)
	until(t, "one to be at work", func() bool { first.mu.Lock(); defer first.mu.Unlock(); return first.atWork == 1 })
	first.close()

	second := start(t, directory, 1, echo)
	defer second.close()
	close(second.answered) // the turn that handed it on is answered again
	if err := second.pool.Recover(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := second.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	second.run()
	for _, id := range []string{waiting, working} {
		until(t, "it to be told of", func() bool {
			s, err := second.journal.Subagents.Subagent(t.Context(), id)
			return err == nil && s.Reported != "" && second.state(id).Final()
		})
	}
	until(t, "the reports", func() bool {
		var labels []string
		for _, report := range second.reported() {
			for line := range strings.Lines(report.Text) {
				if label, _, is := strings.Cut(strings.TrimPrefix(line, "- "), ":"); is {
					labels = append(labels, label)
				}
			}
		}
		slices.Sort(labels)
		return slices.Equal(labels, []string{"waiting", "working"})
	})
	if got := second.state(waiting); got != protocol.SubagentDone {
		t.Errorf("what had no place is %s", got)
	}
}

// TestTooMany: the number of unfinished subagents is bounded, and the error says what to do.
func TestTooMany(t *testing.T) {
	k := start(t, t.TempDir(), 1, echo)
	defer k.close()
	turn := k.ask("q")
	defer close(k.answered)
	for i := range 200 {
		k.spawn(turn, fmt.Sprint("t", i), false)
	}
	err := k.pool.Start(t.Context(), journal.Subagent{ID: "more", Session: "main", Turn: turn.ID, Conversation: "main.more"})
	if protocol.ToolErrorOf(err).Code != protocol.ToolFailed || !strings.Contains(err.Error(), "wait until some have") {
		t.Errorf("the error is %v", err)
	}
}

// TestFindingsInParts: long findings are returned in parts, and no character is cut.
func TestFindingsInParts(t *testing.T) {
	o := subagent.Outcome{Subagent: protocol.Subagent{ID: "s1"}, Findings: "x" + strings.Repeat("é", subagent.FindingsLimit/2)}
	first := o.FindingsFrom(0)
	if !strings.Contains(first, `list_subagents (:id "s1" :from 24576)`) || strings.ContainsRune(first, '\uFFFD') {
		t.Errorf("the first part ends %q", first[len(first)-80:])
	}
	if got := o.FindingsFrom(subagent.FindingsLimit - 1); got != "é" {
		t.Errorf("the last part is %q", got)
	}
	if got := o.FindingsFrom(1 << 20); got != "" {
		t.Errorf("behind the end is %q", got)
	}
}
