package openai_test

import (
	"context"
	"testing"
	"time"

	"go.uber.org/goleak"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/llmtest"
	"org-agent/kernel/llm/openai"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// provider returns a provider for a test server.
func provider(t *testing.T, server *llmtest.Server, config llm.ServerConfig) *openai.Provider {
	t.Helper()
	if config.BaseURL == "" {
		config.BaseURL = server.URL()
	}
	if config.Name == "" {
		config.Name = "test"
	}
	made, err := openai.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(made.Close)
	return made
}

// ask asks a provider and returns the whole reply.
func ask(t *testing.T, provider llm.Provider) (llm.Reply, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	return llm.Collect(provider.Stream(ctx, hello()))
}

// hello returns a request for a reply.
func hello() llm.Request {
	return llm.Request{Model: "test-model", Sections: llm.System("Answer."), Messages: []llm.Message{{Role: llm.RoleUser, Text: "Hello"}}}
}
