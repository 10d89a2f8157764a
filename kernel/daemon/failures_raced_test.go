//go:build race

package daemon_test

import (
	"net"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// A stream that is cut leaves what had come, marked, and the turn says so.
func TestCutStreamKeepsWhatCame(t *testing.T) {
	for name, reply := range map[string]string{"plist": insertion(`* Story\nThe beginning of a long story that goes on`), "prose": "* Story\nThe beginning of a long story that goes on and on, for ever and ever, until it ends, and then some more, and more."} {
		in := newInstance(t, llmtest.Exchange{Reply: reply, Chunk: 4, Fault: llmtest.Fault{CutAfter: 30}, Times: -1})
		in.start(t)
		e := in.editor(t, rpctest.Config{})
		got := ask(t, e, "q1", "hi")
		if got.state != "answered" || !strings.Contains(got.notice, "incomplete") {
			t.Errorf("%s: the turn ended %+v", name, got)
		}
		if text := bare(e.Text()); !strings.HasPrefix(text, "* hi\n** Story\nThe begi") || !strings.HasSuffix(text, "…\n* ") || e.Previewing() {
			t.Errorf("%s: the buffer is\n%s", name, text)
		}
		converged(t, in, e)
	}
}

// A reply that ran into the model's limit is an answer, and said to be incomplete.
func TestReplyAtTheModelsLimitIsSaidToBeIncomplete(t *testing.T) {
	for _, reply := range []string{"The beginning of a long", `(:type :response :text "The beginning of a long`} {
		in := newInstance(t, llmtest.Exchange{Reply: reply, Ending: llmtest.Ending{Finish: "length"}})
		in.start(t)
		e := in.editor(t, rpctest.Config{})
		got := ask(t, e, "q1", "hi")
		if got.state != "answered" || !strings.Contains(got.notice, "incomplete") {
			t.Errorf("%q: the turn ended %+v", reply, got)
		}
		if text := bare(e.Text()); !strings.HasPrefix(text, "* hi\n** The beginning of a long") {
			t.Errorf("%q: the buffer is\n%s", reply, text)
		}
	}
}

func TestServerThatIsBusyIsAskedAgain(t *testing.T) {
	in := newInstance(t,
		llmtest.Exchange{Status: 429, Headers: map[string]string{"Retry-After": "0"}, Body: `{"error":{"message":"slow down"}}`},
		llmtest.Exchange{Reply: insertion("Hello")})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	if got := ask(t, e, "q1", "hi"); got.state != "answered" {
		t.Errorf("the turn ended %+v", got)
	}
	wantBare(t, e, "* hi\n** Hello\n* ")
}

// A server that fails says so in the conversation, with what to do, and the
// question can be asked again.
func TestServerThatFailsThenRetry(t *testing.T) {
	in := newInstance(t,
		llmtest.Exchange{Status: 500, Times: 2, Headers: map[string]string{"Retry-After": "600"}, Body: `{"error":{"message":"out of order"}}`},
		llmtest.Exchange{Reply: insertion("Hello")})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	got := ask(t, e, "q1", "hi")
	if got.state != "failed" || !strings.Contains(got.notice, "500") {
		t.Fatalf("the turn ended %+v", got)
	}
	text := bare(e.Text())
	if !strings.Contains(text, "** No answer\n") || !strings.Contains(text, "C-c C-c") || strings.Contains(e.Text(), canary) {
		t.Errorf("the buffer is\n%s", text)
	}
	retryUntil(t, e, got.turn, "Hello")
	converged(t, in, e)
}

// retryUntil answers a turn again, as often as a failing server makes needed.
func retryUntil(t *testing.T, e *rpctest.Editor, turn, want string) {
	t.Helper()
	for range 5 {
		before := len(e.Acts())
		if err := e.Call(within(t), protocol.MethodTurnRetry, protocol.TurnRetryParams{Turn: turn}, nil); err != nil {
			t.Fatal(err)
		}
		see(t, e, "an act of the retry", func() bool { return len(e.Acts()) > before })
		idle(t, e)
		if strings.Contains(e.Text(), want) {
			return
		}
	}
	t.Errorf("never answered; the buffer is\n%s", e.Text())
}

func TestNoServer(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		t.Fatal(err)
	}
	in := newInstance(t)
	in.variables["ORG_AGENT_LLM_BASE_URL"] = "http://" + address
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	got := ask(t, e, "q1", "hi")
	if got.state != "failed" || !strings.Contains(got.notice, address) {
		t.Errorf("the turn ended %+v", got)
	}
	if text := bare(e.Text()); !strings.Contains(text, "** No answer\n") || !strings.Contains(text, "C-c C-c") {
		t.Errorf("the buffer is\n%s", text)
	}
}

// endless is a reply that never ends: a beginning, and then silence.
func endless() llmtest.Exchange {
	return llmtest.Exchange{Match: "^endless", Reply: insertion(`* Story\nThe beginning of it and what comes behind it`), Chunk: 4, Fault: llmtest.Fault{HangAfter: 28}}
}

// Stopping a turn closes the request to the model, keeps what had come, and lets
// the next message be answered.
func TestCancelWhileStreaming(t *testing.T) {
	in, model := newInstanceAndModel(t, endless(), llmtest.Exchange{Reply: insertion("Next")})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	sent, err := e.Send(within(t), "q1", "endless")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := e.Send(within(t), "q2", "and then"); err != nil {
		t.Fatal(err)
	}
	see(t, e, "the preview", func() bool { return strings.Contains(e.Text(), "The begin") })
	var cancelled protocol.TurnCancelResult
	if err := e.Call(within(t), protocol.MethodTurnCancel, protocol.TurnParams{Turn: sent.Turn}, &cancelled); err != nil || !cancelled.Cancelled {
		t.Fatalf("cancel: %+v, %v", cancelled, err)
	}
	finished, err := e.WaitTurn(within(t), sent.Turn)
	if err != nil || finished.State != protocol.TurnCancelled {
		t.Errorf("the turn ended %+v, %v", finished, err)
	}
	see(t, e, "the next answer", func() bool { return strings.Contains(e.Text(), "** Next") })
	if text := bare(e.Text()); !strings.HasPrefix(text, "* endless\n** Story\nThe begin") || !strings.Contains(text, "…\n* and then\n** Next\n* ") || e.Previewing() {
		t.Errorf("the buffer is\n%s", text)
	}
	until(t, "the request's end", func() bool { return model.Abandoned() == 1 })
	idle(t, e)
	converged(t, in, e)
}

// A message that still waits is taken back before it begins; its question says so.
func TestCancelOfWhatWaits(t *testing.T) {
	for _, keeper := range []bool{true, false} {
		in := newInstance(t, endless(), llmtest.Exchange{Reply: insertion("Third")})
		in.start(t)
		config := rpctest.Config{}
		if !keeper {
			config.Name = "other"
		}
		e := in.editor(t, config)
		watcher := in.editor(t, rpctest.Config{Name: "watcher"})
		first, err := e.Send(within(t), "q1", "endless")
		if err != nil {
			t.Fatal(err)
		}
		second, err := e.Send(within(t), "q2", "second")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Send(within(t), "q3", "third"); err != nil {
			t.Fatal(err)
		}
		see(t, e, "the preview", func() bool { return e.Previewing() })
		cancel(t, e, second.Turn)
		see(t, e, "the notice", func() bool { return strings.Contains(e.Text(), "** Stopped") })
		cancel(t, e, first.Turn)
		see(t, e, "the third answer", func() bool { return strings.Contains(e.Text(), "** Third") })
		idle(t, e)
		see(t, watcher, "the third answer", func() bool { return strings.Contains(watcher.Text(), "** Third") })
		for _, text := range []string{bare(e.Text()), bare(watcher.Text())} {
			if !strings.Contains(text, "* second\n** Stopped\n") || !strings.Contains(text, "* third\n** Third\n") || strings.Contains(text, "Re:") {
				t.Errorf("the buffer is\n%s", text)
			}
		}
		if !keeper {
			if text := bare(in.conversation(t, "main")); !strings.Contains(text, "* second\n** Stopped\n") || strings.Contains(text, "Re:") {
				t.Errorf("the file is\n%s", text)
			}
			continue
		}
		converged(t, in, e)
	}
}

// The kernel's end while a reply streams leaves the turn to be answered again.
func TestKernelEndsWhileStreaming(t *testing.T) {
	in := newInstance(t, endless(), llmtest.Exchange{Reply: insertion("Again")})
	k := in.start(t)
	e := in.editor(t, rpctest.Config{})
	sent, err := e.Send(within(t), "q1", "endless")
	if err != nil {
		t.Fatal(err)
	}
	see(t, e, "the preview", func() bool { return e.Previewing() })
	began := time.Now()
	if err := k.end(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > timeout/2 {
		t.Errorf("the kernel took %v to end", took)
	}
	in.start(t)
	e = in.editor(t, rpctest.Config{File: in.mainFile()})
	if text := e.Text(); !strings.Contains(text, "* endless") || !strings.Contains(text, ":agent:") {
		t.Errorf("the buffer is\n%s", text)
	}
	var list protocol.SessionListResult
	if err := e.Call(within(t), protocol.MethodSessionList, protocol.Empty{}, &list); err != nil || list.Sessions[0].State != protocol.TurnInterrupted {
		t.Errorf("the sessions are %+v, %v", list, err)
	}
	retryUntil(t, e, sent.Turn, "** Again")
	converged(t, in, e)
}
