package complete_test

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"org-agent/kernel/act"
	"org-agent/kernel/agent/complete"
	"org-agent/kernel/kind"
	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/policy"
	"org-agent/kernel/protocol"
)

// A model that is too slow for a completion does not count as failed, because turns may wait longer.
func TestSlowCompletionIsNoFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		script := &llmtest.Script{Turns: []llmtest.Turn{{llmtest.Hang()}, llmtest.Say("there")}}
		breaker := &llm.Breaker{Next: script, Name: "slow", Failures: 1, Cooldown: time.Hour}
		c := &complete.Completer{Provider: breaker, Policy: &policy.Policy{Kinds: kind.New(act.Kinds(act.Deps{})...)},
			Hide: func(text string) string { return text }, Logger: slog.New(slog.DiscardHandler)}
		begun := time.Now()
		_, err := c.Complete(t.Context(), protocol.CompleteParams{Before: "hello "})
		if took := time.Since(begun); took != 20*time.Second || protocol.ErrorCode(err) != protocol.CodeModel || !strings.Contains(err.Error(), "within 20s") {
			t.Errorf("after %v: %v", took, err)
		}
		result, err := c.Complete(t.Context(), protocol.CompleteParams{Before: "hello "})
		if err != nil || result.Text != "there" {
			t.Errorf("the next is %+v, %v", result, err)
		}
	})
}
