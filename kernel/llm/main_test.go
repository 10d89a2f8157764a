package llm_test

import (
	"testing"

	"go.uber.org/goleak"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// hello is a request for a reply.
var hello = llm.Request{Messages: []llm.Message{{Role: llm.RoleUser, Text: "Hello"}}}

// script returns a provider that plays these turns.
func script(turns ...llmtest.Turn) *llmtest.Script {
	return &llmtest.Script{Name: "script", Turns: turns}
}

// fails returns a turn that fails before its first delta.
func fails(class llm.Class) llmtest.Turn { return llmtest.Turn{llmtest.FailAs(class)} }
