package responses_test

import (
	"testing"

	"go.uber.org/goleak"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/llm/responses"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// provider returns a provider for a test server.
func provider(t *testing.T, server *llmtest.Server, config llm.ServerConfig) *responses.Provider {
	t.Helper()
	return llmtest.Open(t, server, responses.New, config)
}

// offered returns a request with two functions.
func offered() llm.Request {
	request := llmtest.Hello()
	request.Tools = []llm.Tool{{Name: "read", Description: "reads"}, {Name: "grep it!", Schema: func() any { return map[string]any{"type": "object"} }}}
	return request
}

// answered returns the messages of calls and their results.
func answered(reply llm.Reply, texts ...string) []llm.Message {
	said, outcome := llm.Message{Role: llm.RoleAssistant, Text: reply.Text, Original: reply.Original}, &llm.Outcome{}
	for i, c := range reply.Calls {
		call := llm.Call{Function: &c}
		said.Calls = append(said.Calls, call)
		outcome.Results = append(outcome.Results, llm.Result{Call: call, Verdict: "performed", Text: texts[min(i, len(texts)-1)]})
	}
	return []llm.Message{said, {Role: llm.RoleKernel, Outcome: outcome}}
}
