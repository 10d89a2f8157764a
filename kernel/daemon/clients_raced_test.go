//go:build race

package daemon_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"org-agent/kernel/daemon"
	"org-agent/kernel/journal"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc"
	"org-agent/kernel/rpc/rpctest"
)

// Two clients see the same conversation; one keeps its file, and hands it on.
func TestTwoClientsOnOneSession(t *testing.T) {
	in := newInstance(t, llmtest.Exchange{Reply: insertion("Hello"), Chunk: 1, Times: -1})
	in.start(t)
	first, second := in.editor(t, rpctest.Config{}), in.editor(t, rpctest.Config{})
	_, keeps := first.Loaded()
	if _, also := second.Loaded(); !keeps || also {
		t.Fatalf("the first keeps: %v, the second: %v", keeps, also)
	}
	ask(t, first, "q1", "one")
	ask(t, second, "q2", "two")
	const want = "* one\n** Hello\n* two\n** Hello\n* "
	for _, e := range []*rpctest.Editor{first, second} {
		see(t, e, "both answers", func() bool { return strings.Count(e.Text(), "** Hello") == 2 && !e.Previewing() })
		wantBare(t, e, want)
	}
	converged(t, in, first)
	first.Kill()
	see(t, second, "the keeping", func() bool { _, keeper := second.Loaded(); return keeper })
	ask(t, second, "q3", "three")
	wantBare(t, second, want[:len(want)-2]+"* three\n** Hello\n* ")
	converged(t, in, second)
}

// What a person removes from the conversation while an Emacs keeps it does not
// come back when that Emacs goes.
func TestWhatAPersonRemovesStaysAwayWhenTheKeeperGoes(t *testing.T) {
	in := newInstance(t, llmtest.Exchange{Reply: insertion("Hello"), Times: -1})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	ask(t, e, "q1", "one")
	ask(t, e, "q2", "two")
	idle(t, e)
	e.Edit(func(text string) string { return text[strings.Index(text, "* two"):] })
	ask(t, e, "q3", "three")
	converged(t, in, e)
	before := in.conversation(t, "main")
	e.Close()
	again := in.editor(t, rpctest.Config{File: in.mainFile()})
	if got := again.Text(); got != before {
		t.Errorf("the buffer was\n%s\nand is\n%s", before, got)
	}
}

// An Emacs that dies while an answer streams finds it whole when it comes back.
func TestEditorKilledWhileStreaming(t *testing.T) {
	var exchanges []llmtest.Exchange
	var isKilled [5]func()
	for i := range isKilled {
		killed, is := held(t)
		isKilled[i] = is
		exchanges = append(exchanges, llmtest.Exchange{Reply: insertion(`* One\ntwo three four five six seven eight`), Chunk: 2, Fault: llmtest.Fault{HangAfter: 50, Until: killed}})
	}
	in := newInstance(t, exchanges...)
	in.start(t)
	for i := range isKilled {
		file := in.mainFile()
		e := in.editor(t, rpctest.Config{File: file})
		id := fmt.Sprintf("q%d", i)
		if _, err := e.Send(within(t), id, "hi"); err != nil {
			t.Fatal(err)
		}
		if i > 0 {
			see(t, e, "the preview", e.Previewing)
		}
		e.Kill()
		again := in.editor(t, rpctest.Config{File: file})
		isKilled[i]()
		idle(t, again)
		see(t, again, "the answer", func() bool {
			return strings.Count(bare(again.Text()), "** One\ntwo three four five six seven eight") == i+1 && !again.Previewing()
		})
		wantBare(t, again, strings.Repeat("* hi\n** One\ntwo three four five six seven eight\n", i+1)+"* ")
		converged(t, in, again)
		again.Close()
	}
}

// Many messages at once are answered in the order of their acknowledgement,
// each once.
func TestManyMessagesAtOnce(t *testing.T) {
	const messages = 100
	in := newInstance(t, llmtest.Exchange{Echo: true, Times: -1})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	var senders []*rpc.Conn // several: the messages of one come in order anyway
	for range 8 {
		conn, err := rpc.Dial(within(t), rpc.DialConfig{Socket: in.paths.Socket, Token: in.token(t), Codec: rpc.Plist})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		senders = append(senders, conn)
	}
	var sending sync.WaitGroup
	for i := range messages {
		sending.Go(func() {
			err := senders[i%len(senders)].Call(within(t), protocol.MethodEvent, protocol.Object{
				{Key: "sensor", Value: protocol.Keyword("chat-message")},
				{Key: "id", Value: fmt.Sprintf("q%03d", i)}, {Key: "text", Value: fmt.Sprintf("message %03d", i)}}, nil)
			if err != nil {
				t.Error(err)
			}
		})
	}
	sending.Wait()
	see(t, e, "all answers", func() bool { return len(e.Acts()) == messages })
	idle(t, e)
	var accepted, answered []string
	for _, row := range in.rows(t, journal.Query{Kinds: []journal.Kind{journal.KindEvent}}) {
		accepted = append(accepted, row.ID)
	}
	for _, act := range e.Acts() {
		answered = append(answered, act.Event)
	}
	if !slices.Equal(accepted, answered) {
		t.Errorf("accepted %v\nanswered %v", accepted, answered)
	}
	text := bare(e.Text()) // once: it takes long under the race detector
	for i := range messages {
		if want := fmt.Sprintf("* message %03d\n** message %03d\n", i, i); strings.Count(text, want) != 1 {
			t.Errorf("%q is not there once", want)
		}
	}
	converged(t, in, e)
}

// Without the token only status answers.
func TestClientWithoutToken(t *testing.T) {
	in := newInstance(t)
	in.start(t)
	dial := func(token rpc.Token) (*rpc.Conn, error) {
		return rpc.Dial(within(t), rpc.DialConfig{Socket: in.paths.Socket, Token: token, Codec: rpc.Plist, Client: protocol.ClientInfo{Name: "emacs", Capabilities: protocol.Capabilities{KeepsFile: true, Streams: true}}})
	}
	if conn, err := dial("wrong"); err == nil {
		conn.Close()
		t.Error("a wrong token was taken")
	}
	conn, err := dial("")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var status protocol.StatusResult
	if err := conn.Call(within(t), protocol.MethodStatus, protocol.Empty{}, &status); err != nil || status.Home != in.paths.Home || status.PID != os.Getpid() {
		t.Errorf("status: %+v, %v", status, err)
	}
	for method, params := range map[string]any{
		protocol.MethodEvent:       protocol.Object{{Key: "sensor", Value: protocol.Keyword("chat-message")}, {Key: "text", Value: "hi"}},
		protocol.MethodAskDecide:   protocol.AskDecideParams{ID: "x", Decision: protocol.AllowOnce},
		protocol.MethodAskList:     protocol.Empty{},
		protocol.MethodSessionList: protocol.Empty{},
		protocol.MethodSessionLoad: protocol.SessionLoadParams{Session: "main"},
		protocol.MethodTurnCancel:  protocol.TurnParams{Session: "main"},
		protocol.MethodTurnRetry:   protocol.TurnRetryParams{Turn: "x"},
		protocol.MethodTurnFind:    protocol.TurnFindParams{ID: "x"},
		protocol.MethodShutdown:    protocol.Empty{},
	} {
		if err := conn.Call(within(t), method, params, nil); err == nil {
			t.Errorf("%s was answered", method)
		}
	}
}

// A client sends events, never actions, and none of the kernel's own.
func TestClientCannotAct(t *testing.T) {
	in, model := newInstanceAndModel(t)
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	for _, fields := range []protocol.Object{
		{{Key: "type", Value: protocol.Keyword("request")}, {Key: "target", Value: protocol.Keyword("shell")}, {Key: "cmd", Value: "true"}},
		{{Key: "type", Value: protocol.Keyword("response")}},
		{{Key: "sensor", Value: protocol.Keyword("post")}},
		{{Key: "sensor", Value: protocol.Keyword("probe")}},
		{{Key: "approved", Value: true}},
		{{Key: "channel", Value: protocol.Keyword("telegram")}},
		{{Key: "session", Value: "../x"}},
	} {
		params := fields
		for _, f := range []protocol.Field{{Key: "sensor", Value: protocol.Keyword("chat-message")}, {Key: "text", Value: "hi"}} {
			if fields[0].Key != f.Key {
				params = append(params, f)
			}
		}
		if err := e.Call(within(t), protocol.MethodEvent, params, nil); err == nil {
			t.Errorf("%v was taken", params)
		}
	}
	if n := len(model.Requests()); n > 0 {
		t.Errorf("the model was asked %d times", n)
	}
}

// A second kernel on the same home says which one runs, and the first goes on.
func TestSecondKernelOnOneHome(t *testing.T) {
	in := newInstance(t, llmtest.Exchange{Reply: insertion("Hello")})
	in.start(t)
	if k, err := in.tryStart(daemon.Config{}); err == nil {
		_ = k.end()
		t.Fatal("a second kernel runs")
	} else if !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
		t.Errorf("the second kernel says %v", err)
	}
	e := in.editor(t, rpctest.Config{})
	if got := ask(t, e, "q1", "hi"); got.state != "answered" {
		t.Errorf("the turn ended %+v", got)
	}
}

// Two homes side by side share nothing.
func TestTwoHomes(t *testing.T) {
	one, two := newInstance(t, llmtest.Exchange{Reply: insertion("One")}), newInstance(t, llmtest.Exchange{Reply: insertion("Two")})
	one.start(t)
	two.start(t)
	a, b := one.editor(t, rpctest.Config{}), two.editor(t, rpctest.Config{})
	ask(t, a, "q1", "hi")
	ask(t, b, "q1", "hi")
	wantBare(t, a, "* hi\n** One\n* ")
	wantBare(t, b, "* hi\n** Two\n* ")
	if one.token(t) == two.token(t) {
		t.Error("two homes have one token")
	}
}

// A client that does not read holds nobody up, and loses nothing.
func TestSlowClient(t *testing.T) {
	in := newInstance(t, llmtest.Exchange{Reply: insertion(`* Long\n` + strings.Repeat(`word `, 40_000)), Chunk: 1000, Times: -1})
	in.start(t)
	slow := in.editor(t, rpctest.Config{Name: "slow"})
	slow.Wire().Stall()
	e := in.editor(t, rpctest.Config{})
	for i := range 3 {
		if got := ask(t, e, fmt.Sprintf("q%d", i), "hi"); got.state != "answered" {
			t.Fatalf("the turn ended %+v", got)
		}
	}
	slow.Kill()
	back := in.editor(t, rpctest.Config{Name: "slow"})
	if bare(back.Text()) != bare(e.Text()) {
		t.Errorf("the buffers have %d and %d bytes", len(back.Text()), len(e.Text()))
	}
}

// What a terminal asks stands in the Emacs buffer, and what Emacs asks comes to
// a terminal that watches.
func TestTerminalAndEmacs(t *testing.T) {
	in := newInstance(t, llmtest.Exchange{Echo: true, Times: -1})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	terminal := in.editor(t, rpctest.Config{Name: "org-agent chat", View: protocol.ViewPlain, Watch: true})
	var ack protocol.EventResult
	err := terminal.Call(within(t), protocol.MethodEvent, protocol.Object{
		{Key: "sensor", Value: protocol.Keyword("chat-message")}, {Key: "text", Value: "from the terminal"}}, &ack)
	if err != nil {
		t.Fatal(err)
	}
	see(t, e, "the answer", func() bool { return len(e.Acts()) == 1 })
	ask(t, e, "q2", "from Emacs")
	wantBare(t, e, "* from the terminal\n** from the terminal\n* from Emacs\n** from Emacs\n* ")
	see(t, terminal, "both answers", func() bool { return len(terminal.Acts()) == 2 })
	for i, want := range []string{"from the terminal", "from Emacs"} {
		if got := strings.TrimSpace(terminal.Acts()[i].Payload.Text("text")); got != want {
			t.Errorf("the terminal got %q", got)
		}
	}
	idle(t, e)
	converged(t, in, e)
}
