package llm_test

import (
	"testing"
	"time"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
)

// TestSuite tests the whole stack against the contract, and the script too.
func TestSuite(t *testing.T) {
	answers := func() llm.Provider {
		return &llmtest.Script{Name: "script", Reply: func(llm.Request) llmtest.Turn {
			return llmtest.Turn{llmtest.Runes("one two three four", 4, time.Millisecond), llmtest.Finish(llm.FinishStop)}
		}}
	}
	refused := func() llm.Provider {
		return &llmtest.Script{Reply: func(llm.Request) llmtest.Turn { return fails(llm.ClassAuth) }}
	}
	for name, provider := range map[string]llm.Provider{
		"script":   answers(),
		"timeouts": llm.Timeouts{Next: answers()},
		"retry":    llm.Retry{Next: answers()},
		"breaker":  &llm.Breaker{Next: answers()},
		"cascade":  llm.Cascade{Steps: []llm.Step{{Name: "a", Provider: script()}, {Name: "b", Provider: answers()}}},
		"rotation": &llm.Rotation{Keys: []llm.Key{{Name: "a", Provider: refused()}, {Name: "b", Provider: answers()}}},
		"all": llm.Cascade{Steps: []llm.Step{{Name: "a",
			Provider: &llm.Breaker{Next: llm.Retry{Next: llm.Timeouts{Next: answers()}}}}}},
	} {
		t.Run(name, func(t *testing.T) { llmtest.Suite(t, provider, hello) })
	}
}
