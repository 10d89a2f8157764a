package llm_test

import (
	"math"
	"strings"
	"testing"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
)

// TestBounds checks that a reply ends before it is longer than the bound, whatever it consists of.
func TestBounds(t *testing.T) {
	text, thought := llmtest.Text(strings.Repeat("x", 60)), llmtest.Reasoning(strings.Repeat("y", 40))
	for _, c := range []struct {
		name        string
		turn        llmtest.Turn
		class       llm.Class
		text, think int
	}{
		{"as long as allowed", llmtest.Turn{text, thought, llmtest.Finish(llm.FinishStop)}, "", 60, 40},
		{"too much text", llmtest.Turn{text, text, llmtest.Finish(llm.FinishStop)}, llm.ClassEndless, 60, 0},
		{"too much thought", llmtest.Turn{thought, thought, thought}, llm.ClassEndless, 0, 80},
		{"too much of both", llmtest.Turn{thought, text, llmtest.Text("z")}, llm.ClassEndless, 60, 40},
		{"its own error", llmtest.Turn{text, llmtest.FailAs(llm.ClassServer)}, llm.ClassServer, 60, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			reply, err := llm.Collect(llm.Bounds{Next: script(c.turn), Name: "long", Bytes: 100}.Stream(t.Context(), hello))
			if llm.ClassOf(err) != c.class || len(reply.Text) != c.text || len(reply.Reasoning) != c.think {
				t.Errorf("%d bytes of text, %d of thoughts, %v", len(reply.Text), len(reply.Reasoning), err)
			}
		})
	}
	long := script(llmtest.Turn{llmtest.Text(strings.Repeat("x", llm.ReplyLimit)), llmtest.Text("x")})
	if _, err := llm.Collect(llm.Bounds{Next: long}.Stream(t.Context(), hello)); llm.ClassOf(err) != llm.ClassEndless || !strings.Contains(err.Error(), "1500 kB") {
		t.Errorf("without a number the bound is not the default: %v", err)
	}
}

// TestImplausibleUsage checks that counts which no reply can have are not believed.
func TestImplausibleUsage(t *testing.T) {
	cost := func(dollars float64) *float64 { return &dollars }
	for _, c := range []struct {
		usage    llm.Usage
		believed bool
	}{
		{llm.Usage{}, true},
		{llm.Usage{Input: 2_000_000, Output: 100_000, Cached: 1_900_000, Reasoning: 99_000, Cost: cost(31.5)}, true},
		{llm.Usage{Input: 1, Cost: cost(0)}, true},
		{llm.Usage{Input: math.MaxInt64}, false},
		{llm.Usage{Output: math.MaxInt64}, false},
		{llm.Usage{Input: 1, Cached: math.MaxInt64}, false},
		{llm.Usage{Output: 1, Reasoning: 100_000_001}, false},
		{llm.Usage{Input: -1}, false},
		{llm.Usage{Output: -7}, false},
		{llm.Usage{Input: 5, Cost: cost(-99.5)}, false},
		{llm.Usage{Input: 5, Cost: cost(math.NaN())}, false},
		{llm.Usage{Input: 5, Cost: cost(math.Inf(1))}, false},
		{llm.Usage{Input: 5, Cost: cost(1e300)}, false},
	} {
		turn := llmtest.Turn{llmtest.Text("yes"), llmtest.FinishWith(llm.FinishStop, &c.usage)}
		reply, err := llm.Collect(llm.Bounds{Next: script(turn)}.Stream(t.Context(), hello))
		if err != nil || reply.Text != "yes" || reply.Finish != llm.FinishStop || (reply.Usage != nil) != c.believed {
			t.Errorf("%+v: %+v, %v", c.usage, reply, err)
		}
	}
}
