package letter_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"org-agent/kernel/channel"
	"org-agent/kernel/channel/access"
	"org-agent/kernel/channel/channeltest"
	"org-agent/kernel/channel/letter"
	"org-agent/kernel/journal"
	"org-agent/kernel/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a kernel as letters see it.
type world struct {
	t       *testing.T
	chat    *channeltest.Memory
	letters *letter.Letters

	mu      sync.Mutex
	asks    []protocol.Ask
	routes  map[string]protocol.Route // of turns
	rows    []access.Deciding
	chats   []journal.Chat
	kept    map[string]string
	decided []protocol.AskDecideParams
	told    []string
	inbox   []protocol.InboxItem
	failing error // of the next decision
	former  bool  // ada is no owner any more
}

// home is the private chat of the owner ada, who decides everything there that was said there.
var (
	home = protocol.Route{Kind: protocol.RouteChannel, Channel: "memory", Chat: "room"}
	row  = access.Deciding{Channel: "memory", Chat: "room", Owner: "ada", What: access.Both, From: access.FromChat}
)

// begin returns a world with a row, in which nothing runs.
func begin(t *testing.T) *world {
	w := &world{
		t: t, chat: &channeltest.Memory{}, routes: map[string]protocol.Route{"t": home}, rows: []access.Deciding{row},
		chats: []journal.Chat{{Channel: "memory", Chat: "room"}}, kept: map[string]string{},
	}
	w.open()
	return w
}

// open makes the letters anew, as a kernel does that begins.
func (w *world) open() {
	w.letters = letter.New(letter.Config{
		Asks: w, Turns: w, Chats: w, Drivers: func() channel.Drivers { return channel.Drivers{w.chat} },
		Rows:  func() []access.Deciding { w.mu.Lock(); defer w.mu.Unlock(); return slices.Clone(w.rows) },
		State: func(name string) channel.State { return keptOf{w, name} }, Decide: w.decide,
		Tell: func(_ context.Context, route protocol.Route, id, text string) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.told = append(w.told, route.Chat+": "+text)
			return nil
		},
		Inbox: func(_ context.Context, item protocol.InboxItem) error {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.inbox = append(w.inbox, item)
			return nil
		},
		Now: time.Now, Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
}

type keptOf struct {
	*world
	channel string
}

func (k keptOf) Load(_ context.Context, key string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.kept[k.channel+key], nil
}

func (k keptOf) Store(_ context.Context, key, value string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.kept[k.channel+key] = value
	return nil
}

func (w *world) OpenAsks(context.Context) (open []protocol.Ask, _ error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.asks {
		if a.Waits() {
			open = append(open, a)
		}
	}
	return open, nil
}

func (w *world) Ask(_ context.Context, id string) (protocol.Ask, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, a := range w.asks {
		if a.ID == id {
			return a, nil
		}
	}
	return protocol.Ask{}, protocol.Errorf(protocol.CodeNotFound, "no ask %s", id)
}

func (w *world) Turn(_ context.Context, id string) (journal.Turn, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return journal.Turn{ID: id, Question: protocol.Event{Route: w.routes[id]}}, nil
}

func (w *world) Chats(context.Context) ([]journal.Chat, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.chats), nil
}

func (w *world) decide(_ context.Context, p protocol.AskDecideParams, client string) (protocol.AskDecideResult, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.failing; err != nil {
		w.failing = nil
		return protocol.AskDecideResult{}, err
	}
	for i, a := range w.asks {
		if a.ID != p.ID {
			continue
		}
		if err := errors.Join(a.CheckWaits(), a.CheckOutcome(p.Outcome(client))); err != nil {
			return protocol.AskDecideResult{}, err
		}
		w.decided = append(w.decided, p)
		w.close(i, p.Outcome(client))
		return protocol.AskDecideResult{ID: p.ID, Decision: p.Decision}, nil
	}
	return protocol.AskDecideResult{}, protocol.Errorf(protocol.CodeNotFound, "no ask")
}

func (w *world) close(i int, outcome protocol.AskOutcome) {
	w.asks[i].Closed, w.asks[i].AskOutcome = time.Now().UTC().Format(time.RFC3339), outcome
	w.letters.Wake()
}

// waits has an ask begin to wait.
func (w *world) waits(a protocol.Ask) {
	w.mu.Lock()
	w.asks = append(w.asks, a)
	w.mu.Unlock()
	w.letters.Wake()
}

// change changes the world.
func (w *world) change(change func()) {
	w.mu.Lock()
	change()
	w.mu.Unlock()
	w.letters.Wake()
}

// run runs the letters until the end of the bubble or until what it returns is called.
func (w *world) run() (stop func()) {
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		w.letters.Run(ctx)
	}()
	synctest.Wait()
	return sync.OnceFunc(func() { cancel(); <-ended })
}

// shown returns the messages of the room when everything has come to rest.
func (w *world) shown() []channeltest.Sent {
	synctest.Wait()
	return w.chat.Sent("room")
}

// letter returns the one letter that the room has.
func (w *world) letter() channeltest.Sent {
	w.t.Helper()
	all := w.shown()
	if len(all) != 1 {
		w.t.Fatalf("the room has %d letters: %+v; it was told %v", len(all), all, w.told)
	}
	return all[0]
}

// press presses a button, and returns when everything has come to rest.
func (w *world) press(data string, changes ...func(*channel.Message)) {
	w.t.Helper()
	w.deliver(data, changes...)
	synctest.Wait()
}

// deliver presses a button as the owner does, with changes.
func (w *world) deliver(data string, changes ...func(*channel.Message)) {
	w.t.Helper()
	m := channel.Message{ID: "p", Kind: channel.Pressed, Chat: channel.Chat{ID: "room"}, Sender: channel.Person{ID: "ada"}, Text: data}
	for _, change := range changes {
		change(&m)
	}
	if err := w.letters.Pressed(w.t.Context(), "memory", m, m.Sender.ID == "ada" && !w.former || m.Sender.ID == "second owner"); err != nil {
		w.t.Error(err)
	}
}

func install() protocol.Ask {
	return protocol.Ask{ID: "a", Sort: protocol.AskApproval, Session: "memory-room", Turn: "t", PendingAction: protocol.PendingAction{
		Action: "(:type :run)", Hash: "h", Reason: "no rule allows it.", Summary: "Run make install", Text: "make install\n", Language: "text", Effects: []string{"it writes to ~/bin"},
	}}
}

func which(options ...string) protocol.Ask {
	return protocol.Ask{ID: "q", Sort: protocol.AskQuestion, Session: "memory-room", Turn: "t", Form: &protocol.QuestionForm{
		Title: "Which one?", Fields: []protocol.FormField{{Name: "one", Kind: protocol.FieldChoice, Question: "Choose", Options: options}},
	}}
}

// data returns the data of the button with a label.
func data(t *testing.T, s channeltest.Sent, label string) string {
	t.Helper()
	for _, row := range s.Buttons {
		for _, b := range row {
			if b.Label == label {
				return b.Data
			}
		}
	}
	t.Fatalf("no button %s below\n%s\n%+v", label, s.Text.Plain, s.Buttons)
	return ""
}
