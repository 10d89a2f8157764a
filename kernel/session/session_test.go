package session_test

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
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"org-agent/kernel/act"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
	"org-agent/kernel/session"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m)
}

// client is a front end that remembers what it was told.
type client struct {
	id    string
	emacs bool
	saved bool   // its receipts say so
	late  func() // what happens between the end of its connection and its receipts

	mu   sync.Mutex
	told []note
	acts []protocol.Act
}

type note struct {
	method string
	params any
}

func (c *client) ID() string { return c.id }

func (c *client) Capabilities() protocol.Capabilities {
	return protocol.Capabilities{KeepsFile: c.emacs, Streams: true}
}

func (c *client) Notify(method string, params any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = append(c.told, note{method, params})
}

func (c *client) Deliver(act protocol.Act) func(context.Context) (protocol.Receipt, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.acts = append(c.acts, act)
	c.told = append(c.told, note{protocol.MethodAct, act})
	return func(ctx context.Context) (protocol.Receipt, error) {
		if c.late != nil {
			<-ctx.Done()
			c.late()
		}
		return protocol.Receipt{Done: true, Saved: c.saved}, nil
	}
}

// each calls visit for every notification of the type so far.
func each[P any](c *client, visit func(P)) {
	c.mu.Lock()
	told := slices.Clone(c.told)
	c.mu.Unlock()
	for _, n := range told {
		if p, ok := n.params.(P); ok {
			visit(p)
		}
	}
}

func count[P any](c *client) (n int) {
	each(c, func(P) { n++ })
	return n
}

func (c *client) actTexts() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	var texts []string
	for _, a := range c.acts {
		texts = append(texts, a.Payload.Text("text"))
	}
	return texts
}

// runner answers by a function.
type runner func(ctx context.Context, t *session.Turn) session.Outcome

func (r runner) Run(ctx context.Context, t *session.Turn) session.Outcome { return r(ctx, t) }

// echo answers every message with its own text.
func echo(ctx context.Context, t *session.Turn) session.Outcome {
	t.Describe("echo@1", "none")
	if err := t.Insert(ctx, "(:type :response)", "Answer to "+t.Record.Question.Text); err != nil {
		return session.Outcome{State: protocol.TurnFailed, Notice: err.Error()}
	}
	return session.Outcome{State: protocol.TurnAnswered}
}

// fixture is sessions over a real journal in a directory of its own.
type fixture struct {
	*session.Sessions
	journal   *journal.Journal
	directory string
	ids       atomic.Int64
}

func open(t *testing.T, directory string, run runner) *fixture {
	t.Helper()
	j, err := journal.Open(t.Context(), filepath.Join(directory, "journal.db"))
	if err != nil {
		t.Fatal(err)
	}
	h := &fixture{journal: j, directory: directory}
	start := time.Now().UnixNano()
	h.Sessions = session.New(session.Config{
		Journal: session.Journal{Turns: j.Turns, Acts: j.Acts, Sessions: j.Sessions, Asks: j.Asks, Usage: j.Usage, Search: j.Search},
		Runner:  run, Directory: filepath.Join(directory, "sessions"),
		NewID:  func() string { return fmt.Sprintf("id-%d-%d", start, h.ids.Add(1)) },
		Logger: slog.New(slog.DiscardHandler), InsertionAct: act.Insertion,
	})
	return h
}

func (h *fixture) close(t *testing.T) {
	t.Helper()
	h.Sessions.Close()
	if err := h.journal.Close(); err != nil {
		t.Error(err)
	}
}

func (h *fixture) file(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(h.directory, "sessions", name+".org"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return string(text)
}

func message(id, text string) protocol.Event {
	return protocol.Event{ID: id, Session: "main", Sensor: protocol.SensorChatMessage, Route: protocol.LocalRoute(protocol.ChannelEmacs), Text: text, Level: 1}
}

func until(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited 20 s for %s", what)
		}
	}
}

func (h *fixture) attach(t *testing.T, c *client, p protocol.SessionLoadParams) protocol.SessionLoadResult {
	t.Helper()
	p.Session = "main"
	result, err := h.Attach(t.Context(), c, p)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestManyMessagesAtOnceAreAnsweredInOrder(t *testing.T) {
	h := open(t, t.TempDir(), echo)
	defer h.close(t)
	c := &client{id: "c1", emacs: true, saved: true}
	h.attach(t, c, protocol.SessionLoadParams{})
	const n = 200
	turns := map[string]string{}
	for i := range n {
		ack, err := h.Submit(t.Context(), message(fmt.Sprintf("q%d", i), fmt.Sprintf("message %d", i)))
		if err != nil {
			t.Fatal(err)
		}
		turns[ack.Event] = ack.Turn
	}
	until(t, "200 turns", func() bool { return count[protocol.TurnFinished](c) == n })
	if len(turns) != n {
		t.Errorf("%d turns for %d messages", len(turns), n)
	}
	i := 0
	each(c, func(p protocol.TurnFinished) {
		if want := fmt.Sprintf("q%d", i); p.Event != want || p.State != protocol.TurnAnswered {
			t.Errorf("turn %d is %s (%s), want %s", i, p.Event, p.State, want)
		}
		i++
	})
	until(t, "200 acts", func() bool { return len(c.actTexts()) == n })
}

func TestTheActComesBeforeTheTurnsEnd(t *testing.T) {
	h := open(t, t.TempDir(), echo)
	defer h.close(t)
	c := &client{id: "c1", emacs: true}
	h.attach(t, c, protocol.SessionLoadParams{})
	const n = 50
	for i := range n {
		if _, err := h.Submit(t.Context(), message(fmt.Sprintf("q%d", i), "hello")); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "the answers", func() bool { return count[protocol.TurnFinished](c) == n })
	var methods []string
	for _, n := range c.told {
		methods = append(methods, n.method)
	}
	for i := 0; i < len(methods); i += 3 {
		if got := strings.Join(methods[i:i+3], " "); got != "turn/started act turn/finished" {
			t.Fatalf("message %d came as %s", i/3, got)
		}
	}
}

func TestTheSameMessageTwiceIsAnsweredOnce(t *testing.T) {
	h := open(t, t.TempDir(), echo)
	defer h.close(t)
	c := &client{id: "c1"}
	h.attach(t, c, protocol.SessionLoadParams{})
	first, err := h.Submit(t.Context(), message("q", "hello"))
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the answer", func() bool { return count[protocol.TurnFinished](c) == 1 })
	second, err := h.Submit(t.Context(), message("q", "hello"))
	if err != nil || second.Turn != first.Turn {
		t.Errorf("sent again: %+v, %v; want the turn %s", second, err, first.Turn)
	}
	if _, err := h.Submit(t.Context(), message("q", "something else")); protocol.ErrorCode(err) != protocol.CodeConflict {
		t.Errorf("the same id with another text: %v, want a conflict", err)
	}
	h.Sessions.Close() // waits for the receipts
	if n := len(c.actTexts()); n != 1 {
		t.Errorf("%d answers", n)
	}
}

// withTwoTurns are sessions in which "hello q1" and "hello q2" were answered before a client
// that keeps no file.
func withTwoTurns(t *testing.T) (*fixture, *client) {
	t.Helper()
	h := open(t, t.TempDir(), echo)
	c := &client{id: "cli"}
	h.attach(t, c, protocol.SessionLoadParams{})
	for _, id := range []string{"q1", "q2"} {
		if _, err := h.Submit(t.Context(), message(id, "hello "+id)); err != nil {
			t.Fatal(err)
		}
	}
	until(t, "the answers", func() bool { return count[protocol.TurnFinished](c) == 2 })
	return h, c
}

func TestWithoutKeeperTheFileHoldsWhatClientsShow(t *testing.T) {
	h, c := withTwoTurns(t)
	defer h.close(t)
	until(t, "the acts", func() bool { return len(c.actTexts()) == 2 })
	var want strings.Builder
	i := 0
	each(c, func(p protocol.TurnStarted) {
		want.WriteString(p.Question)
		want.WriteString(c.actTexts()[i])
		i++
	})
	if got := h.file(t, "main"); got != want.String() {
		t.Errorf("the file is\n%s\nwant\n%s", got, want.String())
	}
	if !strings.Contains(want.String(), ":agent:") || !strings.Contains(want.String(), ":SKILL:    echo@1") {
		t.Errorf("no drawer in\n%s", want.String())
	}
}

func TestThePersonsTextInTheFileStays(t *testing.T) {
	h := open(t, t.TempDir(), echo)
	defer h.close(t)
	c := &client{id: "cli"}
	h.attach(t, c, protocol.SessionLoadParams{})
	if _, err := h.Submit(t.Context(), message("q1", "one")); err != nil {
		t.Fatal(err)
	}
	until(t, "the answer", func() bool { return count[protocol.TurnFinished](c) == 1 })
	path := filepath.Join(h.directory, "sessions", "main.org")
	edited := "#+TITLE: Mine\n\nA word before.\n" + h.file(t, "main") + "* my draft\nunfinished"
	if err := os.WriteFile(path, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Submit(t.Context(), message("q2", "two")); err != nil {
		t.Fatal(err)
	}
	until(t, "the second answer", func() bool { return count[protocol.TurnFinished](c) == 2 })
	got := h.file(t, "main")
	before, after, found := strings.Cut(edited, "* my draft")
	if !found || !strings.HasPrefix(got, before) || !strings.HasSuffix(got, "* my draft"+after) {
		t.Errorf("the person's text changed:\n%s", got)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v, %v; want 0640 as before", info.Mode(), err)
	}
}

func TestWhatAPersonTookOutStaysOut(t *testing.T) {
	h, _ := withTwoTurns(t)
	defer h.close(t)
	whole := h.file(t, "main")
	second := whole[strings.Index(whole, "* hello q2"):]
	if err := os.WriteFile(filepath.Join(h.directory, "sessions", "main.org"), []byte(second), 0o644); err != nil {
		t.Fatal(err)
	}
	emacs := &client{id: "e", emacs: true}
	result := h.attach(t, emacs, protocol.SessionLoadParams{IDs: []string{"q2", "mine"}})
	if !result.Keeper || len(result.NeverReceived) != 1 || result.NeverReceived[0] != "mine" {
		t.Errorf("load: %+v", result)
	}
	each(emacs, func(p protocol.StoredTurn) {
		if p.Event != "q2" || p.Question != "" || p.Answer == "" {
			t.Errorf("sent %+v; want only the answer of q2, which is in the file and not in the buffer", p)
		}
	})
	if n := count[protocol.StoredTurn](emacs); n != 1 {
		t.Errorf("%d turns sent, want 1", n)
	}
	fresh := &client{id: "f", emacs: true}
	if err := os.Remove(filepath.Join(h.directory, "sessions", "main.org")); err != nil {
		t.Fatal(err)
	}
	h.attach(t, fresh, protocol.SessionLoadParams{})
	if n := count[protocol.StoredTurn](fresh); n != 2 {
		t.Errorf("%d turns sent for a lost file, want 2", n)
	}
}

// A receipt that came counts, also if it is recorded only when its client is gone, and another turn ends
// meanwhile.
func TestReceiptsCountWhenTheKeeperGoes(t *testing.T) {
	h := open(t, t.TempDir(), echo)
	defer h.close(t)
	emacs, other := &client{id: "e", emacs: true, saved: true}, &client{id: "o"}
	h.attach(t, emacs, protocol.SessionLoadParams{})
	h.attach(t, other, protocol.SessionLoadParams{View: protocol.ViewPlain, Watch: true})
	emacs.late = sync.OnceFunc(func() {
		if _, err := h.Submit(t.Context(), message("q2", "two")); err != nil {
			t.Error(err)
		}
		until(t, "the other end", func() bool { return count[protocol.TurnFinished](other) == 2 })
	})
	if _, err := h.Submit(t.Context(), message("q1", "one")); err != nil {
		t.Fatal(err)
	}
	until(t, "the end", func() bool { return count[protocol.TurnFinished](other) == 1 })
	if err := errors.Join(os.MkdirAll(filepath.Join(h.directory, "sessions"), 0o700), os.WriteFile(filepath.Join(h.directory, "sessions", "main.org"), []byte("* mine\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	h.Detach(emacs)
	if got := h.file(t, "main"); !strings.Contains(got, "* mine\n") || strings.Contains(got, "q1") || strings.Count(got, "Answer to two") != 1 {
		t.Errorf("want what is there and the answer that nobody kept:\n%s", got)
	}
}

func TestTheKeeperHandsOn(t *testing.T) {
	h := open(t, t.TempDir(), echo)
	defer h.close(t)
	first, second := &client{id: "1", emacs: true}, &client{id: "2", emacs: true}
	if r := h.attach(t, first, protocol.SessionLoadParams{}); !r.Keeper {
		t.Error("the first Emacs is not the keeper")
	}
	if r := h.attach(t, first, protocol.SessionLoadParams{}); !r.Keeper {
		t.Error("the keeper that loads again is no keeper any more")
	}
	if r := h.attach(t, second, protocol.SessionLoadParams{}); r.Keeper {
		t.Error("there are two keepers")
	}
	if _, err := h.Submit(t.Context(), message("q1", "one")); err != nil {
		t.Fatal(err)
	}
	until(t, "both answers", func() bool { return len(first.actTexts()) == 1 && len(second.actTexts()) == 1 })
	if text := h.file(t, "main"); text != "" {
		t.Errorf("the kernel wrote a file that a client keeps:\n%s", text)
	}
	h.Detach(first)
	if n := count[protocol.SessionKeeper](second); n != 1 {
		t.Errorf("the heir was told %d times", n)
	}
	if text := h.file(t, "main"); !strings.Contains(text, "Answer to one") {
		t.Errorf("what the first keeper had not saved is not in the file:\n%s", text)
	}
}

func TestCancel(t *testing.T) {
	began := make(chan struct{}, 1)
	h := open(t, t.TempDir(), func(ctx context.Context, turn *session.Turn) session.Outcome {
		began <- struct{}{}
		<-ctx.Done()
		return session.Outcome{State: protocol.TurnCancelled}
	})
	defer h.close(t)
	c := &client{id: "c", emacs: true}
	h.attach(t, c, protocol.SessionLoadParams{})
	running, err := h.Submit(t.Context(), message("q1", "one"))
	if err != nil {
		t.Fatal(err)
	}
	queued, err := h.Submit(t.Context(), message("q2", "two"))
	if err != nil {
		t.Fatal(err)
	}
	<-began
	for _, turn := range []string{queued.Turn, running.Turn} {
		if r, err := h.Cancel(t.Context(), protocol.TurnParams{Turn: turn}); err != nil || !r.Cancelled {
			t.Errorf("cancel: %+v %v", r, err)
		}
	}
	until(t, "both ends", func() bool { return count[protocol.TurnFinished](c) == 2 })
	each(c, func(p protocol.TurnFinished) {
		if p.State != protocol.TurnCancelled {
			t.Errorf("%s is %s", p.Event, p.State)
		}
	})
	until(t, "both notices", func() bool { return len(c.actTexts()) == 2 })
	if text := c.actTexts()[1]; !strings.Contains(text, ":STATE:    cancelled") {
		t.Errorf("the notice is\n%s", text)
	}
	if r, err := h.Cancel(t.Context(), protocol.TurnParams{Session: "main"}); err != nil || r.Cancelled {
		t.Errorf("nothing runs, and cancel says %+v %v", r, err)
	}
}

func TestRetryAnswersAgain(t *testing.T) {
	var calls atomic.Int64
	h := open(t, t.TempDir(), func(ctx context.Context, turn *session.Turn) session.Outcome {
		if calls.Add(1) == 1 {
			return session.Outcome{State: protocol.TurnFailed, Notice: "no model answers"}
		}
		return echo(ctx, turn)
	})
	defer h.close(t)
	c := &client{id: "c", emacs: true}
	h.attach(t, c, protocol.SessionLoadParams{})
	ack, err := h.Submit(t.Context(), message("q1", "one"))
	if err != nil {
		t.Fatal(err)
	}
	until(t, "the failure", func() bool { return count[protocol.TurnFinished](c) == 1 })
	if _, err := h.Retry(t.Context(), protocol.TurnRetryParams{Turn: ack.Turn}, nil); err != nil {
		t.Fatal(err)
	}
	until(t, "the answer", func() bool { return count[protocol.TurnFinished](c) == 2 })
	until(t, "the acts", func() bool { return len(c.actTexts()) == 2 })
	if texts := c.actTexts(); !strings.Contains(texts[0], "No model answers.") || !strings.Contains(texts[1], "Answer to one") {
		t.Errorf("acts: %q", texts)
	}
}

func TestPreviewsAreThePrefixOfTheAnswer(t *testing.T) {
	text := "* A heading\n\nSome text with *bold* and é 世界.\n\n| a | b |\n| 1 | 2 |\n\n- x\n- y\n"
	h := open(t, t.TempDir(), func(ctx context.Context, turn *session.Turn) session.Outcome {
		for i := range text {
			turn.Preview(text[:i])
		}
		turn.Retract()
		turn.Preview(text[:20])
		if err := turn.Insert(ctx, "", text); err != nil {
			return session.Outcome{State: protocol.TurnFailed, Notice: err.Error()}
		}
		return session.Outcome{State: protocol.TurnAnswered}
	})
	defer h.close(t)
	subtree, plain := &client{id: "e", emacs: true}, &client{id: "p"}
	h.attach(t, subtree, protocol.SessionLoadParams{})
	h.attach(t, plain, protocol.SessionLoadParams{View: protocol.ViewPlain, Watch: true})
	if _, err := h.Submit(t.Context(), message("q1", "one")); err != nil {
		t.Fatal(err)
	}
	for _, c := range []*client{subtree, plain} {
		until(t, "the answer", func() bool { return len(c.actTexts()) == 1 })
		var shown []rune
		longest := 0
		each(c, func(d protocol.TurnDelta) {
			if d.Offset == 0 {
				shown = nil
			}
			if d.Offset != len(shown) {
				t.Errorf("%s: a delta at %d, %d are shown", c.id, d.Offset, len(shown))
			}
			shown = append(shown, []rune(d.Text)...)
			if longest = max(longest, len(shown)); !strings.HasPrefix(c.actTexts()[0], string(shown)) {
				t.Errorf("%s: %q was shown, the answer is %q", c.id, string(shown), c.actTexts()[0])
			}
		})
		if longest < len([]rune(c.actTexts()[0]))/2 {
			t.Errorf("%s: only %d code points were previewed", c.id, longest)
		}
	}
}

// A view that somebody comes to look at in the middle of an answer is shown from its beginning.
func TestPreviewOfALaterView(t *testing.T) {
	text := "* A heading\n\nSome text with *bold* and more.\n"
	begun, looked := make(chan struct{}), make(chan struct{})
	h := open(t, t.TempDir(), func(ctx context.Context, turn *session.Turn) session.Outcome {
		turn.Preview(text[:20])
		close(begun)
		<-looked
		turn.Preview(text)
		if err := turn.Insert(ctx, "", text); err != nil {
			return session.Outcome{State: protocol.TurnFailed, Notice: err.Error()}
		}
		return session.Outcome{State: protocol.TurnAnswered}
	})
	defer h.close(t)
	h.attach(t, &client{id: "e", emacs: true}, protocol.SessionLoadParams{})
	if _, err := h.Submit(t.Context(), message("q1", "one")); err != nil {
		t.Fatal(err)
	}
	<-begun
	later := &client{id: "p"}
	h.attach(t, later, protocol.SessionLoadParams{View: protocol.ViewPlain, Watch: true})
	close(looked)
	until(t, "the answer", func() bool { return len(later.actTexts()) == 1 })
	shown := ""
	each(later, func(d protocol.TurnDelta) {
		if d.Offset != len([]rune(shown)) {
			t.Errorf("a delta at %d behind %q", d.Offset, shown)
		}
		shown += d.Text
	})
	if len(shown) < 20 || !strings.HasPrefix(later.actTexts()[0], shown) {
		t.Errorf("%q was shown of %q", shown, later.actTexts()[0])
	}
}

func TestAfterACrash(t *testing.T) {
	directory := t.TempDir()
	began := make(chan struct{}, 1)
	h := open(t, directory, func(ctx context.Context, turn *session.Turn) session.Outcome {
		began <- struct{}{}
		<-ctx.Done()
		return session.Outcome{}
	})
	for _, id := range []string{"q1", "q2", "q3"} {
		if _, err := h.Submit(t.Context(), message(id, "hello "+id)); err != nil {
			t.Fatal(err)
		}
	}
	<-began
	h.close(t) // q1 was running, q2 and q3 wait

	h = open(t, directory, echo)
	defer h.close(t)
	c := &client{id: "c", emacs: true}
	if err := h.Resume(t.Context()); err != nil {
		t.Fatal(err)
	}
	until(t, "the queue", func() bool { _, running, queued := h.Counts(); return running+queued == 0 })
	h.attach(t, c, protocol.SessionLoadParams{})
	var got []string
	each(c, func(p protocol.StoredTurn) { got = append(got, p.Event+" "+string(p.State)) })
	if want := "q1 interrupted,q2 answered,q3 answered"; strings.Join(got, ",") != want {
		t.Errorf("after the restart: %v, want %s", got, want)
	}
	text := h.file(t, "main")
	if strings.Count(text, ":STATE:    interrupted") != 1 || strings.Count(text, ":agent:") != 3 {
		t.Errorf("the file:\n%s", text)
	}
}
