package anthropic_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"go.uber.org/goleak"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/anthropic"
	"org-agent/kernel/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// provider returns a provider for a test server.
func provider(t *testing.T, server *llmtest.Server, config llm.ServerConfig) *anthropic.Provider {
	t.Helper()
	if config.BaseURL == "" {
		config.BaseURL = server.URL()
	}
	if config.Name == "" {
		config.Name = "test"
	}
	made, err := anthropic.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(made.Close)
	return made
}

// start starts a server that does as a script says.
func start(t *testing.T, script llmtest.ServerScript) *llmtest.Server {
	t.Helper()
	server, err := llmtest.Listen("127.0.0.1:0", script, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

// ask asks a provider and returns the whole reply.
func ask(t *testing.T, provider llm.Provider, request llm.Request) (llm.Reply, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	return llm.Collect(provider.Stream(ctx, request))
}

// hello returns a request for a reply.
func hello() llm.Request {
	return llm.Request{Model: "test-model", Sections: llm.System("Answer."), Messages: []llm.Message{{Role: llm.RoleUser, Text: "Hello"}}}
}

// sent returns the body of the request that a provider makes.
func sent(t *testing.T, config llm.ServerConfig, request llm.Request) map[string]any {
	t.Helper()
	server := llmtest.Start(t, llmtest.Exchange{Reply: "x"})
	if _, err := ask(t, provider(t, server, config), request); err != nil {
		t.Fatal(err)
	}
	return body(t, server, 0)
}

// body returns the body of a request that a server got.
func body(t *testing.T, server *llmtest.Server, number int) (fields map[string]any) {
	t.Helper()
	if err := json.Unmarshal(server.Requests()[number].Body, &fields); err != nil {
		t.Fatal(err)
	}
	return fields
}
