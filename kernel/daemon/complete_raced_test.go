//go:build race

package daemon_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/journal"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/protocol"
	"org-agent/kernel/rpc/rpctest"
)

// A completion is text alone: whatever the model says, nothing is performed, journalled or
// told to a later turn; what it took is counted.
func TestCompletionIsTextAndLeavesNothing(t *testing.T) {
	in, model := newInstanceAndModel(t,
		llmtest.Exchange{Match: "place is", Reply: `(:type :request :target :shell :payload (:cmd "touch /tmp/x"))`, Ending: llmtest.Ending{Usage: []byte(`{"prompt_tokens":70,"completion_tokens":9}`)}},
		llmtest.Exchange{Reply: insertion("* An answer"), Times: -1})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	ask(t, e, "q1", "Earlier?")
	rows := func() (n int) { // but for the receipts of the turn, which may come late
		for _, row := range in.rows(t, journal.Query{}) {
			if row.Kind != journal.KindReceipt {
				n++
			}
		}
		return n
	}
	before := rows()
	var got protocol.CompleteResult
	params := protocol.CompleteParams{Before: "(defun a ()\n  ", After: "\n", Name: "a.el", Mode: "emacs-lisp-mode"}
	if err := e.Call(within(t), protocol.MethodComplete, params, &got); err != nil {
		t.Fatal(err)
	}
	if got.Text != `(:type :request :target :shell :payload (:cmd "touch /tmp/x"))` || got.Model != "test-model" {
		t.Errorf("the completion is %+v", got)
	}
	if after := rows(); after != before {
		t.Errorf("the journal has %d rows more", after-before)
	}
	sent := model.Requests()[1].Messages()
	if len(sent) != 2 || strings.Contains(sent[1].Content, "Earlier?") || !strings.Contains(sent[1].Content, "(defun a ()\n  ") || !strings.Contains(string(model.Requests()[1].Body), `"max_tokens":256`) {
		t.Errorf("the model was sent %s", model.Requests()[1].Body)
	}
	ask(t, e, "q2", "Later?")
	for _, message := range model.Requests()[2].Messages() {
		if strings.Contains(message.Content, "(defun a ()") || strings.Contains(message.Content, "touch /tmp/x") {
			t.Errorf("a later turn is told of the completion: %s", message.Content)
		}
	}
	var used protocol.UsageGetResult
	if err := e.Call(within(t), protocol.MethodUsageGet, protocol.UsageGetParams{By: protocol.UsageBySession}, &used); err != nil {
		t.Fatal(err)
	}
	if len(used.Rows) != 2 || used.Rows[1].What != "completions" && used.Rows[0].What != "completions" || used.Rows[0].Input+used.Rows[1].Input < 70 {
		t.Errorf("usage %+v", used.Rows)
	}
}

// Who types on does not wait, and neither does anybody pay: the request to the model ends
// when it is cancelled, when the next one comes, and when the client goes.
func TestCompletionIsGivenUp(t *testing.T) {
	in, model := newInstanceAndModel(t,
		llmtest.Exchange{Match: "slowly", Reply: "never", Fault: llmtest.Fault{HangAfter: -1}, Times: 3},
		llmtest.Exchange{Reply: "quick", Times: -1})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	given := func(n int) {
		t.Helper()
		for deadline := time.Now().Add(timeout); model.Abandoned() < n; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d requests were given up, not %d", model.Abandoned(), n)
			}
		}
	}
	asked := func(n int) {
		t.Helper()
		for deadline := time.Now().Add(timeout); len(model.Requests()) < n; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("the model was not asked %d times", n)
			}
		}
	}
	slow := protocol.CompleteParams{Before: "slowly "}
	ctx, cancel := context.WithCancel(within(t))
	ended := make(chan error, 1)
	go func() { ended <- e.Call(ctx, protocol.MethodComplete, slow, nil) }()
	asked(1)
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled completion ends with %v", err)
	}
	given(1)
	go func() { ended <- e.Call(within(t), protocol.MethodComplete, slow, nil) }()
	asked(2)
	var status protocol.StatusResult
	if err := e.Call(within(t), protocol.MethodStatus, protocol.Empty{}, &status); err != nil { // does not wait for it
		t.Fatal(err)
	}
	var got protocol.CompleteResult
	if err := e.Call(within(t), protocol.MethodComplete, protocol.CompleteParams{Before: "at once "}, &got); err != nil || got.Text != "quick" {
		t.Errorf("the next completion is %+v, %v", got, err)
	}
	if err := <-ended; protocol.ErrorCode(err) != protocol.CodeCancelled {
		t.Errorf("the former ends with %v", err)
	}
	given(2)
	go func() { ended <- e.Call(within(t), protocol.MethodComplete, slow, nil) }()
	asked(4)
	e.Close()
	<-ended
	given(3)
}

func TestCompletionIsRefused(t *testing.T) {
	in, model := newInstanceAndModel(t, llmtest.Exchange{Status: 401, Body: `{"error":{"message":"no such key"}}`, Times: 1},
		llmtest.Exchange{Reasoning: "on and on", Ending: llmtest.Ending{Finish: "length"}, Times: -1})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	for _, test := range []struct {
		params protocol.CompleteParams
		code   protocol.Code
		says   string
	}{
		{protocol.CompleteParams{Before: strings.Repeat("x", protocol.CompleteBeforeLimit+1)}, protocol.CodeInvalidParams, "32768 bytes"},
		{protocol.CompleteParams{Before: "x"}, protocol.CodeModel, "no such key"},
		{protocol.CompleteParams{Before: "x"}, protocol.CodeModel, "think"},
		{protocol.CompleteParams{Before: " \n", After: "\n"}, 0, ""}, // there is nothing to go on with
	} {
		err := e.Call(within(t), protocol.MethodComplete, test.params, nil)
		if protocol.ErrorCode(err) != test.code || err != nil && !strings.Contains(err.Error(), test.says) {
			t.Errorf("%.20q: %v", test.params.Before, err)
		}
	}
	if n := len(model.Requests()); n != 2 {
		t.Errorf("the model was asked %d times", n)
	}
}

// The built-in guide talks about itself: that is no text of the person's.
func TestBuiltInGuideCompletesNothing(t *testing.T) {
	in := newInstance(t)
	in.variables["ORG_AGENT_LLM"] = "builtin"
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	err := e.Call(within(t), protocol.MethodComplete, protocol.CompleteParams{Before: "Hello "}, nil)
	if protocol.ErrorCode(err) != protocol.CodeModel || !strings.Contains(err.Error(), "config.org") {
		t.Errorf("it says %v", err)
	}
}

func TestAskedOverTheWire(t *testing.T) {
	in := newInstance(t, llmtest.Exchange{Reply: insertion("* An answer"), Times: -1})
	in.start(t)
	e := in.editor(t, rpctest.Config{})
	ask(t, e, "q1", "Which notes\nmention Samarkand?")
	ask(t, e, "q2", "And since when?")
	var got protocol.InputHistoryResult
	if err := e.Call(within(t), protocol.MethodSessionAsked, protocol.InputHistoryParams{}, &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Questions) != 2 || got.Questions[0].Text != "And since when?" || got.Questions[1].ID != "q1" || got.Questions[1].Text != "Which notes\nmention Samarkand?" {
		t.Errorf("asked %+v", got)
	}
	got = protocol.InputHistoryResult{}
	if err := e.Call(within(t), protocol.MethodSessionAsked, protocol.InputHistoryParams{Query: "samar*", Limit: 5}, &got); err != nil || len(got.Questions) != 1 {
		t.Errorf("with a word: %+v, %v", got, err)
	}
}
