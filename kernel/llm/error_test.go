package llm_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
)

var classes = []llm.Class{
	llm.ClassAuth, llm.ClassQuota, llm.ClassRateLimit, llm.ClassServer, llm.ClassBadRequest, llm.ClassTooLong, llm.ClassModel,
	llm.ClassProtocol, llm.ClassUnreachable, llm.ClassTruncated, llm.ClassIdle, llm.ClassTimeout, llm.ClassPaused, llm.ClassCanceled,
}

// TestEveryClassSaysWhatToDo checks that every class has words of its own, on one line.
func TestEveryClassSaysWhatToDo(t *testing.T) {
	seen := map[string]llm.Class{}
	for _, class := range classes {
		err := error(&llm.Error{Class: class, Provider: "p"})
		text := err.Error()
		if other, ok := seen[text]; ok {
			t.Errorf("%q and %q say the same: %s", class, other, text)
		}
		seen[text] = class
		for _, line := range []string{text, llm.HintOf(err)} {
			if strings.ContainsAny(line, "\n") || len(line) < 10 || strings.Contains(line, "unexpected") {
				t.Errorf("%q says %q", class, line)
			}
		}
		if got := llm.ClassOf(fmt.Errorf("answer the turn: %w", err)); got != class {
			t.Errorf("wrapped, %q is %q", class, got)
		}
	}
	if llm.ClassOf(errors.New("x")) != "" || llm.HintOf(errors.New("x")) == "" {
		t.Error("an error of no class has one, or has no hint")
	}
}

func TestErrorText(t *testing.T) {
	for _, c := range []struct {
		err        llm.Error
		text, hint string
	}{
		{llm.Error{Class: llm.ClassRateLimit, Provider: "p", Status: 429, Message: "slow down", RetryAfter: 1600 * time.Millisecond},
			"p: too many requests (HTTP 429): slow down", "wait a moment and send the message again (in 2s)"},
		{llm.Error{Class: llm.ClassUnreachable, Err: errors.New("connection refused"), Advice: "start it"},
			"the server cannot be reached: connection refused", "start it"},
		{llm.Error{Class: llm.ClassCanceled, Err: context.Canceled}, "stopped", "send the message again when you want an answer"},
		{llm.Error{Class: llm.ClassTruncated, Err: llm.ErrTruncated}, "the reply was cut off before its end",
			"ask again; if it happens often, look at the server's log or use another model"},
	} {
		if c.err.Error() != c.text || c.err.Hint() != c.hint {
			t.Errorf("got %q, %q", c.err.Error(), c.err.Hint())
		}
	}
}

func TestRedactURL(t *testing.T) {
	for address, want := range map[string]string{
		"http://user:pass@host:1/v1?key=x#frag": "http://host:1/v1",
		"https://host/v1":                       "https://host/v1",
		"http://host/%zz?key=x":                 "REDACTED",
	} {
		if got := llm.RedactURL(address); got != want {
			t.Errorf("%s: %s", address, got)
		}
	}
}

func TestCollect(t *testing.T) {
	cost := 0.5
	model := script(
		llmtest.Turn{llmtest.Reasoning("hm"), llmtest.Text("a"), llmtest.Text("b"), llmtest.FinishWith(llm.FinishLength, &llm.Usage{Input: 1, Cost: &cost})},
		llmtest.Turn{llmtest.Text("part"), llmtest.FailAs(llm.ClassServer)},
		llmtest.Turn{llmtest.Text(strings.Repeat("x", llm.ReplyLimit)), llmtest.Text("x")},
	)
	reply, err := llm.Collect(model.Stream(t.Context(), hello))
	if err != nil || reply.Text != "ab" || reply.Reasoning != "hm" || reply.Finish != llm.FinishLength || reply.Usage.Input != 1 || reply.Provider != "script" {
		t.Errorf("got %+v, %v", reply, err)
	}
	if reply, err := llm.Collect(model.Stream(t.Context(), hello)); reply.Text != "part" || llm.ClassOf(err) != llm.ClassServer {
		t.Errorf("got %+v, %v", reply, err)
	}
	if reply, err := llm.Collect(model.Stream(t.Context(), hello)); len(reply.Text) != llm.ReplyLimit || llm.ClassOf(err) != llm.ClassEndless {
		t.Errorf("got %d bytes, %v", len(reply.Text), err)
	}
}

func TestUsageAdd(t *testing.T) {
	cost := 0.25
	a, b := llm.Usage{Input: 1, Output: 2, Cached: 3, Reasoning: 4}, llm.Usage{Input: 10, Output: 20, Cached: 30, Reasoning: 40, Cost: &cost}
	sum := a.Add(b).Add(b)
	if sum.Input != 21 || sum.Output != 42 || sum.Cached != 63 || sum.Reasoning != 84 || *sum.Cost != 0.5 || a.Add(a).Cost != nil {
		t.Errorf("the sum is %+v", sum)
	}
}
