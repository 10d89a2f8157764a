package rpctest

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const token rpc.Token = "an editor's token"

// answer sends the messages with which the kernel of these tests answers an event.
type answer func(ctx context.Context, client *rpc.Client, event, turn string) error

type kernel struct {
	answer answer
	file   string
	stored []protocol.StoredTurn
	whole  string // what turn/get returns
}

func (k *kernel) Handle(ctx context.Context, r *rpc.Request) (any, error) {
	client := r.Client
	switch p := r.Params.(type) {
	case *protocol.SessionLoadParams:
		for _, turn := range k.stored {
			client.Notify(protocol.MethodTurnKept, turn)
		}
		return protocol.SessionLoadResult{Session: p.Session, File: k.file, Keeper: k.file != ""}, nil
	case *protocol.TurnGetParams:
		return protocol.TurnGetResult{ID: "a1", Text: k.whole, State: protocol.TurnRunning}, nil
	case *protocol.Object:
		event := p.Text("id")
		r.Release()
		client.Notify(protocol.MethodTurnStarted, protocol.TurnStarted{Session: "main", Turn: "t-" + event, Event: event})
		if err := k.answer(ctx, client, event, "t-"+event); err != nil {
			return nil, err
		}
		client.Notify(protocol.MethodTurnFinished, protocol.TurnFinished{Session: "main", Turn: "t-" + event, Event: event, State: protocol.TurnAnswered})
		return protocol.EventResult{Event: event, Turn: "t-" + event}, nil
	}
	return nil, protocol.Errorf(protocol.CodeNotFound, "nothing")
}

// open serves k and opens an editor on it.
func open(t *testing.T, k *kernel, config Config) *Editor {
	t.Helper()
	listener, err := rpc.ListenUnix(filepath.Join(t.TempDir(), "kernel.sock"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	server := &rpc.Server{Handler: k, Token: token}
	go func() { ended <- server.Serve(ctx, listener) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	config.Socket, config.Token = listener.Addr().String(), token
	e, err := Open(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

func delta(client *rpc.Client, event, turn string, offset int, text string) {
	client.Notify(protocol.MethodTurnDelta, protocol.TurnDelta{Session: "main", Turn: turn, Event: event, ID: "a1", Offset: offset, Text: text})
}

func insert(ctx context.Context, client *rpc.Client, event, text string) (protocol.Receipt, error) {
	return client.Act(ctx, protocol.Act{
		ID: "a1", Session: "main", Event: event, Type: protocol.TypeRequest, Target: "emacs",
		Payload: protocol.Object{{Key: "action", Value: protocol.Keyword("insert-at-end")}, {Key: "text", Value: text}},
	})
}

const reply = "** Grüße 😀\n:PROPERTIES:\n:ID:       a1\n:END:\nHello\n"

const question = "* hi :user:\n:PROPERTIES:\n:ID:       q1\n:END:\n"

func TestAnswers(t *testing.T) {
	tests := []struct {
		name   string
		answer answer
		faults Faults
		want   string // the buffer at the end
	}{
		{"previewed and confirmed", func(ctx context.Context, client *rpc.Client, event, turn string) error {
			delta(client, event, turn, 0, "** Grüße")
			delta(client, event, turn, 8, " 😀\n")
			delta(client, event, turn, 11, reply[strings.Index(reply, ":PROP"):])
			_, err := insert(ctx, client, event, reply)
			return err
		}, Faults{}, question + reply + "* "},
		{"confirmed otherwise than previewed", func(ctx context.Context, client *rpc.Client, event, turn string) error {
			delta(client, event, turn, 0, "** Other text\nwith lines")
			_, err := insert(ctx, client, event, reply)
			return err
		}, Faults{}, question + reply + "* "},
		{"never confirmed", func(_ context.Context, client *rpc.Client, event, turn string) error {
			delta(client, event, turn, 0, "** Other text\nwith lines")
			return nil
		}, Faults{}, question + "* "},
		{"not previewed, inserted once", func(ctx context.Context, client *rpc.Client, event, _ string) error {
			first, err := insert(ctx, client, event, reply)
			if err != nil {
				return err
			}
			second, err := insert(ctx, client, event, reply)
			if !reflect.DeepEqual(first, second) || first.Chars != 50 || first.Start != 46 || first.End != 96 {
				return protocol.Errorf(protocol.CodeConflict, "receipts %+v and %+v", first, second)
			}
			return err
		}, Faults{}, question + reply + "* "},
		{"sent by turn/kept before it is inserted", func(ctx context.Context, client *rpc.Client, event, turn string) error {
			client.Notify(protocol.MethodTurnKept, protocol.StoredTurn{Session: "main", Turn: turn, Event: event, ID: "a1", Answer: reply})
			_, err := insert(ctx, client, event, reply)
			return err
		}, Faults{}, question + reply + "* "},
		{"a delta lost", func(ctx context.Context, client *rpc.Client, event, turn string) error {
			delta(client, event, turn, 0, "** Gr")
			delta(client, event, turn, 4, "rü")
			delta(client, event, turn, 6, "ße 😀")
			return nil
		}, Faults{LoseDelta: func(n int) bool { return n == 2 }}, question + "* "},
		{"byte by byte", func(ctx context.Context, client *rpc.Client, event, _ string) error {
			_, err := insert(ctx, client, event, reply)
			return err
		}, Faults{ReadSize: 1, WriteSize: 1}, question + reply + "* "},
	}
	for _, test := range tests {
		for _, codec := range []rpc.Codec{rpc.JSON, rpc.Plist} {
			e := open(t, &kernel{answer: test.answer, whole: reply}, Config{Codec: codec, Faults: test.faults})
			if _, err := e.Ask(t.Context(), "q1", "hi"); err != nil {
				t.Fatalf("%s: %v", test.name, err)
			}
			if got := e.Text(); got != test.want || e.Previewing() || len(e.Problems()) > 0 {
				t.Errorf("%s: the buffer is\n%s\nproblems %q", test.name, got, e.Problems())
			}
		}
	}
}

func TestPreviewIsSeenAndGapsAreFilled(t *testing.T) {
	more := make(chan struct{})
	e := open(t, &kernel{whole: "** Grüße", answer: func(_ context.Context, client *rpc.Client, event, turn string) error {
		delta(client, event, turn, 5, "üße") // the beginning was lost
		<-more
		delta(client, event, turn, 6, "ße 😀\n") // this repeats a part of it
		<-more
		return nil
	}}, Config{Text: "* hi :user:\n:PROPERTIES:\n:ID: q1\n:END:\n* old\n:PROPERTIES:\n:ID: q0\n:END:\n* dra"})
	sent := make(chan error, 1)
	go func() {
		_, err := e.Send(context.Background(), "q1", "hi")
		sent <- err
	}()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	see := func(want string) {
		t.Helper()
		if err := e.Wait(ctx, func() bool { return strings.Contains(e.Text(), want) }); err != nil {
			t.Fatalf("%v; the buffer is\n%s", err, e.Text())
		}
	}
	see(":END:\n** Grüße\n* old\n")
	e.Edit(func(text string) string { return text + "ft" })
	more <- struct{}{}
	see(":END:\n** Grüße 😀\n* old\n:PROPERTIES:\n:ID: q0\n:END:\n* draft")
	more <- struct{}{}
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	see(":ID: q1\n:END:\n* old\n")
}

func TestKeeperSavesStoredTurns(t *testing.T) {
	file := filepath.Join(t.TempDir(), "main.org")
	e := open(t, &kernel{file: file, stored: []protocol.StoredTurn{
		{Session: "main", Turn: "t", Event: "q1", Question: question, ID: "a1", Answer: reply, State: protocol.TurnAnswered},
		{Session: "main", Turn: "t", Event: "q1", Question: question, ID: "a1", Answer: reply, State: protocol.TurnAnswered},
		{Session: "other", Turn: "u", Event: "q2", Question: question, State: protocol.TurnAnswered},
	}}, Config{File: file})
	saved, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if want := question + reply + "* "; string(saved) != want || e.Text() != want {
		t.Errorf("the file is\n%s\nthe buffer\n%s", saved, e.Text())
	}
}

// A killed editor saves neither messages that arrived before nor those that its test sends afterwards,
// because another editor keeps the file by then.
func TestKilledEditorSavesNothing(t *testing.T) {
	file := filepath.Join(t.TempDir(), "main.org")
	e := open(t, &kernel{file: file}, Config{File: file})
	e.Kill()
	const later = "* written by the next editor\n"
	if err := os.WriteFile(file, []byte(later), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, arrived := range []any{
		&protocol.StoredTurn{Session: "main", Turn: "t", Event: "q1", Question: question, ID: "a1", Answer: reply, State: protocol.TurnAnswered},
		&protocol.SessionKeeper{Session: "main", Keeper: true},
		&protocol.TurnFinished{Session: "main", Turn: "t", Event: "q1", State: protocol.TurnAnswered},
	} {
		if _, err := e.handle(t.Context(), &rpc.Request{Params: arrived}); err != nil {
			t.Error(err)
		}
	}
	if _, err := e.Send(t.Context(), "q2", "hi"); err == nil {
		t.Error("a killed editor sent a message")
	}
	if saved, err := os.ReadFile(file); err != nil || string(saved) != later {
		t.Errorf("the file is\n%s (%v), want\n%s", saved, err, later)
	}
}

func TestKilledWhileAnActWaits(t *testing.T) {
	lost := make(chan error, 1)
	e := open(t, &kernel{answer: func(ctx context.Context, client *rpc.Client, event, _ string) error {
		_, err := insert(context.WithoutCancel(ctx), client, event, reply)
		lost <- err
		return err
	}}, Config{Faults: Faults{NoReceipts: true}})
	go e.Send(context.Background(), "q1", "hi")
	if err := e.Wait(t.Context(), func() bool { return strings.Contains(e.Text(), "q1") }); err != nil {
		t.Fatal(err)
	}
	time.Sleep(20 * time.Millisecond)
	e.Kill()
	if err := <-lost; err != rpc.ErrConnectionLost && err != rpc.ErrNotConnected {
		t.Errorf("the act ended with %v", err)
	}
}
