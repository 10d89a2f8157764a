package anthropic_test

import (
	"encoding/json"
	"testing"

	"go.uber.org/goleak"

	"org-agent/kernel/llm"
	"org-agent/kernel/llm/anthropic"
	"org-agent/kernel/llm/llmtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// provider returns a provider for a test server.
func provider(t *testing.T, server *llmtest.Server, config llm.ServerConfig) *anthropic.Provider {
	t.Helper()
	return llmtest.Open(t, server, anthropic.New, config)
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

// sent returns the body of the request that a provider makes.
func sent(t *testing.T, config llm.ServerConfig, request llm.Request) map[string]any {
	t.Helper()
	server := llmtest.Start(t, llmtest.Exchange{Reply: "x"})
	if _, err := llmtest.Ask(t, provider(t, server, config), request); err != nil {
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
