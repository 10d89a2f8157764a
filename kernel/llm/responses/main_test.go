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
	if config.BaseURL == "" {
		config.BaseURL = server.URL()
	}
	if config.Name == "" {
		config.Name = "test"
	}
	made, err := responses.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(made.Close)
	return made
}

// ask asks a provider for a reply to a request.
func ask(t *testing.T, p llm.Provider, request llm.Request) (llm.Reply, error) {
	t.Helper()
	return llm.Collect(p.Stream(t.Context(), request))
}

// hello returns a request for a reply.
func hello() llm.Request {
	return llm.Request{Model: "test-model", Sections: llm.System("Answer."), Messages: []llm.Message{{Role: llm.RoleUser, Text: "Hello"}}}
}

// offered returns a request with two functions.
func offered() llm.Request {
	request := hello()
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
